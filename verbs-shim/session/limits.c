/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits: process limits (ulimit) that a session needs, and the limits of its programs.
 */
#include <sys/resource.h>

#include "verbs-shim/session/state.h"

/* Default of Linux for a program. Descriptors of the preload library begin at SHIM_FIRST_FD. */
#define OPEN_FILES 1024

#define STACK_BYTES (8 << 20) /* as Linux has it: the system puts libraries below it */

static struct rlimit of_programs;

bool session_is_permitted(char *error, size_t error_bytes)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < SHIM_QUEUE_BYTES) {
		snprintf(error, error_bytes,
			 "ulimit -f allows files of %llu bytes; expected %llu or more, for memory "
			 "shared with programs: ulimit -f unlimited",
			 (unsigned long long)limit.rlim_cur, (unsigned long long)SHIM_QUEUE_BYTES);
		return false;
	}
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max < OPEN_FILES) {
		snprintf(error, error_bytes,
			 "ulimit -Hn allows %llu open files; expected %d or more",
			 (unsigned long long)limit.rlim_max, OPEN_FILES);
		return false;
	}
	return true;
}

void limits_raise_open_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	of_programs = limit;
	if (of_programs.rlim_cur < OPEN_FILES)
		of_programs.rlim_cur = OPEN_FILES;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

void limits_become_program(void)
{
	struct rlimit stack;

	if (of_programs.rlim_cur != 0)
		(void)setrlimit(RLIMIT_NOFILE, &of_programs);
	if (getrlimit(RLIMIT_STACK, &stack) != 0)
		return;
	stack.rlim_cur = stack.rlim_max < STACK_BYTES ? stack.rlim_max : STACK_BYTES;
	(void)setrlimit(RLIMIT_STACK, &stack);
}

bool limits_have_room(const struct session *session, char *error, size_t error_bytes)
{
	uint64_t expected = session->program_count * SHIM_QUEUE_BYTES;
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur >= expected)
		return true;
	snprintf(error, error_bytes,
		 "ulimit -v allows %llu bytes of address space; expected %llu or more, for memory "
		 "shared with %u programs: ulimit -v unlimited",
		 (unsigned long long)limit.rlim_cur, (unsigned long long)expected,
		 session->program_count);
	return false;
}
