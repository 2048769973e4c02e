/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests differences between two sets of values. Values that differ, or exist in one set only, are
 * found in any order. The size of each difference, with and without slack, and the order of the
 * results are right. Settings that differ in the same way in several places become one line.
 */
#include <math.h>
#include <string.h>

#include "analysis/differences.h"
#include "tests/support/suite.h"

#define TESTS(TEST) \
	TEST(finds) \
	TEST(sorts) \
	TEST(merges)
SUITE(TESTS)

static struct values one, other;
static struct difference *list;
static size_t count;

static void end(void)
{
	differences_free_values(&one);
	differences_free_values(&other);
	differences_free(list, count);
	list = NULL;
	count = 0;
}

static void both(const char *name, const char *before, const char *after)
{
	if (before != NULL)
		differences_add(&one, name, "ns", before);
	if (after != NULL)
		differences_add(&other, name, "ns", after);
}

static void test_finds(void)
{
	differences_add(&other, "same", "", "1");
	both("text", "8ns", "9ns");
	both("gone", "5", NULL);
	both("new", NULL, "x");
	differences_add(&one, "same", "", "1");
	count = differences_find(&one, &other, 0, &list);
	CU_ASSERT_EQUAL_FATAL(count, 3);
	CU_ASSERT_STRING_EQUAL(list[0].name, "text");
	CU_ASSERT_STRING_EQUAL(list[0].unit, "ns");
	CU_ASSERT_STRING_EQUAL(list[0].texts[0], "8ns");
	CU_ASSERT_STRING_EQUAL(list[0].texts[1], "9ns");
	CU_ASSERT(isnan(list[0].numbers[0]));
	CU_ASSERT_STRING_EQUAL(list[1].name, "gone");
	CU_ASSERT_PTR_NULL(list[1].texts[1]);
	CU_ASSERT_EQUAL(list[1].numbers[0], 5);
	CU_ASSERT_EQUAL(list[1].size, 1);
	CU_ASSERT_STRING_EQUAL(list[2].name, "new");
	CU_ASSERT_PTR_NULL(list[2].texts[0]);
	end();
}

/* The size is the change divided by the larger value. With a slack of 10, a change from 1 to 3 is
 * smaller than a change from 1000 to 2000. */
static void test_sorts(void)
{
	static const char *const plain[] = {"c", "a", "b"}, *const slack[] = {"b", "c", "a"},
				 *const amount[] = {"b", "c", "a"};
	const double slacks[] = {0, 10, (double)INFINITY};
	const char *const *orders[] = {plain, slack, amount};

	for (size_t i = 0; i < 3; i++) {
		both("a", "1", "3");
		both("b", "1000", "2000");
		both("c", "4", "0");
		count = differences_find(&one, &other, slacks[i], &list);
		CU_ASSERT_EQUAL_FATAL(count, 3);
		if (i == 0)
			CU_ASSERT_DOUBLE_EQUAL(list[0].size, 2.0 / 3, 1e-12);
		if (i == 1)
			CU_ASSERT_DOUBLE_EQUAL(list[0].size, 2.0 / 13, 1e-12);
		differences_sort(list, count);
		for (size_t at = 0; at < 3; at++)
			CU_ASSERT_STRING_EQUAL(list[at].name, orders[i][at]);
		end();
	}
}

static void test_merges(void)
{
	both("hosts.a.hca.pcie.lanes", "16", "8");
	both("hosts.a.hca.pcie.tags", "16", "8"); /* another key: the last part */
	both("hosts.b.hca.pcie.lanes", "16", "8");
	both("hosts.c.hca.pcie.lanes", "16", "4");
	both("hosts.d.hca.pcie.lanes", "16", "8");
	both("hosts.d.hca.pcie", "16", "8");
	count = differences_find(&one, &other, 0, &list);
	CU_ASSERT_EQUAL(count, 6);
	count = differences_merge(list, count);
	CU_ASSERT_EQUAL_FATAL(count, 4);
	CU_ASSERT_STRING_EQUAL(list[0].name, "hosts.*.hca.pcie.lanes");
	CU_ASSERT_EQUAL(list[0].alike, 3);
	CU_ASSERT_STRING_EQUAL(list[1].name, "hosts.a.hca.pcie.tags");
	CU_ASSERT_EQUAL(list[1].alike, 1);
	CU_ASSERT_STRING_EQUAL(list[2].name, "hosts.c.hca.pcie.lanes");
	CU_ASSERT_STRING_EQUAL(list[3].name, "hosts.d.hca.pcie");
	end();
}
