/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that the process limits of a run are checked to the byte and to the file, and that a
 * message names the missing limit.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/suite.h"
#include "verbs-shim/session/session.h"
#include "verbs-shim/session/state.h"

#define TESTS(TEST)         \
	TEST(size_of_files) \
	TEST(open_files)    \
	TEST(address_space)
SUITE(TESTS)

enum answer { ALLOWED, REFUSED, OTHER };

/* Runs in a child with that limit. Returns allowed, or refused with that reason. */
static enum answer under(int limit, uint64_t value, bool address_space, const char *reason)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		static struct session session = {.program_count = 3};
		const struct rlimit new = {value, value};
		char error[512] = "";
		bool good;

		if (setrlimit((__rlimit_resource_t)limit, &new) != 0)
			_exit(OTHER);
		good = address_space ? limits_have_room(&session, error, sizeof(error))
				     : session_is_permitted(error, sizeof(error));
		_exit(good ? ALLOWED : strstr(error, reason) ? REFUSED : OTHER);
	}
	CU_ASSERT_EQUAL_FATAL(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? (enum answer)WEXITSTATUS(status) : OTHER;
}

static void test_size_of_files(void)
{
	CU_ASSERT_EQUAL(under(RLIMIT_FSIZE, SHIM_QUEUE_BYTES, false, ""), ALLOWED);
	CU_ASSERT_EQUAL(under(RLIMIT_FSIZE, SHIM_QUEUE_BYTES - 1, false, "ulimit -f unlimited"),
			REFUSED);
}

static void test_open_files(void)
{
	CU_ASSERT_EQUAL(under(RLIMIT_NOFILE, 1024, false, ""), ALLOWED);
	CU_ASSERT_EQUAL(under(RLIMIT_NOFILE, 1023, false, "ulimit -Hn allows 1023 open files"),
			REFUSED);
}

static void test_address_space(void)
{
	const uint64_t needed = 3 * (uint64_t)SHIM_QUEUE_BYTES;

	CU_ASSERT_EQUAL(under(RLIMIT_AS, needed, true, ""), ALLOWED);
	CU_ASSERT_EQUAL(under(RLIMIT_AS, needed - 1, true, "shared with 3 programs"), REFUSED);
}
