/* SPDX-License-Identifier: Apache-2.0 */
/* say: see say.h. */
#include "hcasim/command/say.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

static bool silent;

void say_silence(bool on)
{
	silent = on;
}

bool say_is_silent(void)
{
	return silent;
}

void say(const char *format, ...)
{
	bool color = isatty(STDERR_FILENO) != 0;
	va_list values;

	if (silent)
		return;
	va_start(values, format);
	fprintf(stderr, "%shcasim:%s ", color ? "\033[31m" : "", color ? "\033[0m" : "");
	vfprintf(stderr, format, values);
	fputc('\n', stderr);
	va_end(values);
}
