/* SPDX-License-Identifier: Apache-2.0 */
/* say: see say.h. */
#include "hcasim/command/say.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

void say(const char *format, ...)
{
	bool color = isatty(STDERR_FILENO) != 0;
	va_list values;

	va_start(values, format);
	fprintf(stderr, "%shcasim:%s ", color ? "\033[31m" : "", color ? "\033[0m" : "");
	vfprintf(stderr, format, values);
	fputc('\n', stderr);
	va_end(values);
}
