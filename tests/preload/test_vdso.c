/*
 * Unit tests of verbs-shim/preload/vdso: after patching, a caller that finds the clock in the vDSO by itself, and libc's own
 * callers, get our time; the functions that were not named still tell the machine's.
 */
#include <CUnit/Basic.h>
#include <sys/time.h>
#include <time.h>

#include "verbs-shim/preload/vdso.h"

static int our_clock_gettime(clockid_t clock, struct timespec *time)
{
	time->tv_sec = 1234 + clock;
	time->tv_nsec = 5678;
	return 0;
}

static void test_patched_clock_is_ours(void)
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

int main(void)
{
	static CU_TestInfo tests[] = {{"a patched clock is ours", test_patched_clock_is_ours},
				      CU_TEST_INFO_NULL};
	static CU_SuiteInfo suites[] = {{"vdso", NULL, NULL, NULL, NULL, tests},
					CU_SUITE_INFO_NULL};

	CU_initialize_registry();
	CU_register_suites(suites);
	CU_basic_set_mode(CU_BRM_VERBOSE);
	CU_basic_run_tests();
	return CU_get_number_of_failures() != 0;
}
