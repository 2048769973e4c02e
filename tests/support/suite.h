/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suite: list of the tests of a test program. It follows the includes:
 *
 *     #define TESTS(TEST)            \
 *             TEST(just_enough)      \
 *             TEST(lost_credits)
 *     SUITE(TESTS)
 *
 *     static void test_just_enough(void)
 *
 * support/suite.c has the common main(). `fabric_test_credits` runs every test,
 * `fabric_test_credits lost_credits` runs the named tests. Exit code 0: all passed. 1: some failed.
 * 2: unknown name. The program's working folder is a new empty folder, which is removed at the end
 * with its contents.
 */
#ifndef TESTS_SUPPORT_SUITE_H
#define TESTS_SUPPORT_SUITE_H

#include <CUnit/CUnit.h>

#define SUITE_SKIP 77 /* ctest's SKIP_RETURN_CODE */

struct suite_test {
	const char *name;
	void (*run)(void);
};

struct suite {
	void (*set_up)(void);           /* or NULL */
	const struct suite_test *tests; /* up to one without a name */
};

extern const struct suite suite;

/* clang-format off */
#define SUITE(list) SUITE_OF(list, NULL)

/* The file's own set_up() goes first; it may exit(SUITE_SKIP). */
#define SUITE_AFTER(set_up, list) \
	static void set_up(void); \
	SUITE_OF(list, set_up)

#define SUITE_OF(list, set_up) \
	list(SUITE_DECLARE) \
	static const struct suite_test suite_tests[] = {list(SUITE_ROW){0}}; \
	const struct suite suite = {set_up, suite_tests};
#define SUITE_DECLARE(test) static void test_##test(void);
#define SUITE_ROW(test)     {#test, test_##test},
/* clang-format on */

#endif
