/* SPDX-License-Identifier: Apache-2.0 */
/* line_error: see line_error.h. */
#include "fabric/line_error.h"

#include <stdarg.h>
#include <stdio.h>

bool line_error(char *error, size_t error_bytes, uint32_t line, const char *format, ...)
{
	int length = snprintf(error, error_bytes, "line %u: ", line);
	va_list arguments;

	va_start(arguments, format);
	if (length > 0 && (size_t)length < error_bytes)
		vsnprintf(error + length, error_bytes - (size_t)length, format, arguments);
	va_end(arguments);
	return false;
}
