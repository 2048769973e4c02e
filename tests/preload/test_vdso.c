/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests verbs-shim/preload/vdso. After patching, callers that find the clock in the vDSO
 * themselves, and libc's own callers, get virtual time. Functions that were not patched return the
 * machine's time.
 */
#include <sys/time.h>
#include <time.h>

#include "tests/support/suite.h"
#include "verbs-shim/preload/vdso.h"

#define TESTS(TEST) TEST(a_patched_clock_is_ours)
SUITE(TESTS)

static int our_clock_gettime(clockid_t clock, struct timespec *time)
{
	time->tv_sec = 1234 + clock;
	time->tv_nsec = 5678;
	return 0;
}

static void test_a_patched_clock_is_ours(void)
{
	static const struct vdso_function functions[] = {
		{"__vdso_clock_gettime", our_clock_gettime},
		{"__vdso_no_such_function", our_clock_gettime},
		{NULL, NULL}};
	struct timespec before, after;
	struct timeval other;

	timespec_get(&before, TIME_UTC);
	CU_ASSERT_TRUE(before.tv_sec > 1000000000);
	CU_ASSERT_TRUE_FATAL(vdso_patch(functions));
	timespec_get(&after, TIME_UTC); /* libc asks the vDSO from inside */
	CU_ASSERT_EQUAL(after.tv_sec, 1234 + CLOCK_REALTIME);
	CU_ASSERT_EQUAL(after.tv_nsec, 5678);
	clock_gettime(CLOCK_MONOTONIC, &after);
	CU_ASSERT_EQUAL(after.tv_sec, 1234 + CLOCK_MONOTONIC);
	gettimeofday(&other, NULL);
	CU_ASSERT_TRUE(other.tv_sec >= before.tv_sec);
}
