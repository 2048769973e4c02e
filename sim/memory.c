/* SPDX-License-Identifier: Apache-2.0 */
/* memory: see memory.h. */
#include "sim/memory.h"

#include <unistd.h>

enum { EXIT_CODE = 2 };

void (*memory_before_end)(void);

void memory_exhausted(void)
{
	static const char text[] = "hcasim: out of memory; expected enough memory for this run "
				   "(check the machine and ulimit -v, -d)\n";
	ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);

	(void)written;
	if (memory_before_end)
		memory_before_end();
	_exit(EXIT_CODE);
}
