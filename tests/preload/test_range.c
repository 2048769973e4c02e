/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests verbs-shim/preload/range with any sequence of ranges added, removed and armed. An access
 * traps exactly if one of its bytes lies in an armed range. Each address is found in the range of a
 * model with one entry per page.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/support/suite.h"
#include "verbs-shim/preload/range.h"
#include "verbs-shim/preload/shim.h"

#define TESTS(TEST)                                         \
	TEST(an_access_that_runs_into_an_armed_range_traps) \
	TEST(an_access_is_divided_at_borders)               \
	TEST(a_page_is_quiet_until_its_ranges_change)       \
	TEST(ranges_are_as_a_model_has_them)                \
	TEST(there_is_room_for_as_many_ranges_as_there_are)
SUITE(TESTS)

#define PAGES 64u

/* Replacements for functions of the library in other files. */
struct shim shim = {.queue_fd = -1};

void attach_give_up(const char *error)
{
	fprintf(stderr, "%s\n", error);
	abort();
}

/* Reads six arguments, however many there are, as a system call does. */
__attribute__((no_sanitize_address)) long system_call(long number, ...)
{
	va_list list;
	long a[6];

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	return syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static uint64_t block;

static uint64_t page_at(uint32_t page)
{
	return block + page * PAGE;
}

static void begin(void)
{
	uint32_t file;

	if (!block)
		block = (uint64_t)(uintptr_t)mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
						  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	range_release(true);
	(void)range_remove(block, PAGES * PAGE, &file);
	(void)mprotect((void *)block, PAGES * PAGE, PROT_READ | PROT_WRITE);
}

/* The first range is accessible, the second is not: a load of 32 bytes over the border would
 * fault. */
static void test_an_access_that_runs_into_an_armed_range_traps(void)
{
	begin();
	range_add_watched(page_at(1), PAGE);
	range_add_watched(page_at(2), PAGE);
	range_add_watched(page_at(3), PAGE);
	range_arm(range_find(page_at(2)));
	CU_ASSERT_FALSE(range_traps(page_at(1), 32, false));
	CU_ASSERT_TRUE(range_traps(page_at(2) - 1, 32, false));
	CU_ASSERT_FALSE(range_traps(page_at(2) - 32, 32, false));
	CU_ASSERT_TRUE(range_traps(page_at(3) - 1, 32, false));
	CU_ASSERT_FALSE(range_traps(page_at(3), 32, false));
	range_disarm(range_find(page_at(2)));
	CU_ASSERT_FALSE(range_traps(page_at(2) - 1, 32, false));
	range_arm(range_find(page_at(1)));
	CU_ASSERT_TRUE(range_traps(page_at(1) - 31, 32, false));
	CU_ASSERT_FALSE(range_traps(page_at(1) - 32, 32, false));
}

static void test_an_access_is_divided_at_borders(void)
{
	begin();
	range_add_watched(page_at(1), PAGE);
	range_add_watched(page_at(2), PAGE);
	CU_ASSERT_EQUAL(range_part(page_at(1) - 8, 32), 8);
	CU_ASSERT_EQUAL(range_part(page_at(1), 32), 32);
	CU_ASSERT_EQUAL(range_part(page_at(2) - 8, 32), 8);
	CU_ASSERT_EQUAL(range_part(page_at(3) - 8, 32), 8);
	CU_ASSERT_EQUAL(range_part(page_at(3), 32), 32);
}

/* Pages that count as quiet are accessed without a look at their ranges, until the number of
 * changes differs. */
static void test_a_page_is_quiet_until_its_ranges_change(void)
{
	uint64_t changes;

	begin();
	CU_ASSERT_TRUE(range_is_quiet(page_at(1)));
	changes = range_changes();
	range_add_watched(page_at(1) + 8, 64);
	CU_ASSERT_NOT_EQUAL(range_changes(), changes);
	range_add_ring(page_at(2), PAGE, 0, false); /* a send queue */
	range_add_ring(page_at(3), PAGE, PAGE, true);
	range_add_registers(page_at(4), PAGE, 1, 0);
	CU_ASSERT_TRUE(range_is_quiet(page_at(1)));
	CU_ASSERT_TRUE(range_is_quiet(page_at(2)));
	CU_ASSERT_FALSE(range_is_quiet(page_at(3)));
	CU_ASSERT_FALSE(range_is_quiet(page_at(4)));

	changes = range_changes();
	range_arm_watched(false);
	CU_ASSERT_NOT_EQUAL(range_changes(), changes);
	CU_ASSERT_FALSE(range_is_quiet(page_at(1)));
	range_release(true);
	CU_ASSERT_TRUE(range_is_quiet(page_at(1)));

	changes = range_changes();
	range_guard(true);
	CU_ASSERT_NOT_EQUAL(range_changes(), changes);
	CU_ASSERT_FALSE(range_is_quiet(page_at(2)));
	range_guard(false);
	CU_ASSERT_TRUE(range_is_quiet(page_at(2)));

	changes = range_changes();
	range_make_hot(page_at(1));
	CU_ASSERT_NOT_EQUAL(range_changes(), changes);
	CU_ASSERT_FALSE(range_is_quiet(page_at(1)));
}

/* For each page: the number of its range, or 0, and whether the range is armed. */
static struct {
	uint64_t first;
	bool armed;
} model[PAGES];

static void compare(void)
{
	for (uint32_t i = 0; i < PAGES; i++) {
		const struct range *range = range_find(page_at(i) + 100);

		CU_ASSERT_EQUAL(range != NULL, model[i].first != 0);
		if (range && model[i].first)
			CU_ASSERT_EQUAL(range->armed, model[i].armed);
		if (range && model[i].first)
			CU_ASSERT_EQUAL(range->offset + (page_at(i) - range->address),
					model[i].first);
		if (i + 1 < PAGES)
			CU_ASSERT_EQUAL(range_traps(page_at(i + 1) - 16, 32, false),
					model[i].armed || model[i + 1].armed);
	}
}

static void test_ranges_are_as_a_model_has_them(void)
{
	uint64_t random = 88172645463325252u;

	begin();
	memset(model, 0, sizeof(model));
	for (uint32_t turn = 1; turn <= 3000; turn++) {
		uint32_t first, count, file;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		first = (uint32_t)(random % PAGES);
		count = 1 + (uint32_t)(random >> 20) % 8;
		count = count < PAGES - first ? count : PAGES - first;
		switch (random >> 40 & 3) {
		case 0:
		case 1: /* offsets tell one from another */
			(void)range_remove(page_at(first), count * PAGE, &file);
			range_add_registers(page_at(first), count * PAGE, 0, turn * PAGES * PAGE);
			range_find(page_at(first))->kind = RANGE_WATCHED;
			for (uint32_t i = 0; i < count; i++) {
				model[first + i].first = turn * PAGES * PAGE + i * PAGE;
				model[first + i].armed = false;
			}
			break;
		case 2:
			(void)range_remove(page_at(first), count * PAGE, &file);
			(void)mprotect((void *)page_at(first), count * PAGE,
				       PROT_READ | PROT_WRITE);
			for (uint32_t i = first; i < first + count; i++) {
				model[i].first = 0;
				model[i].armed = false;
			}
			break;
		default:
			if (!range_find(page_at(first)))
				break;
			range_arm(range_find(page_at(first)));
			for (uint32_t i = 0; i < PAGES; i++)
				model[i].armed |=
					range_find(page_at(i)) == range_find(page_at(first));
		}
		if (turn % 10 == 0)
			compare();
	}
}

/* Ranges are added upwards and downwards, and every third range is removed again. Nothing is
 * touched: no memory is there. */
static void test_there_is_room_for_as_many_ranges_as_there_are(void)
{
	enum { MANY = 20000 };
	const uint64_t low = UINT64_C(1) << 40, high = UINT64_C(1) << 41;
	uint32_t file, found = 0;

	begin();
	for (uint64_t i = 0; i < MANY; i++) {
		range_add_registers(low + 2 * i * PAGE, PAGE, 1, i);
		range_add_registers(high - 2 * i * PAGE, PAGE, 2, i);
	}
	for (uint64_t i = 0; i < MANY; i += 3)
		CU_ASSERT_TRUE(range_remove(low + 2 * i * PAGE, PAGE, &file) && file == 1);
	for (uint64_t i = 0; i < MANY; i++) {
		const struct range *one = range_find(low + 2 * i * PAGE);
		const struct range *other = range_find(high - 2 * i * PAGE + PAGE - 1);

		found += i % 3 == 0 ? !one : one && one->offset == i && one->file == 1;
		found += other && other->offset == i && other->file == 2;
		found += !range_find(low + (2 * i + 1) * PAGE);
	}
	CU_ASSERT_EQUAL(found, 3 * MANY);
	(void)range_remove(low, high - low + PAGE, &file);
	CU_ASSERT_PTR_NULL(range_find(high));
}
