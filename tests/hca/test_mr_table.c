/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the table of memory regions. A key finds exactly its region. A key of a removed region
 * finds nothing until all other indices have been used. A full table reports this. MTT entries of
 * regions do not overlap.
 */
#include "hca/context/mr_table.h"
#include "tests/support/suite.h"

#define TESTS(TEST) \
	TEST(keys)  \
	TEST(reuse) \
	TEST(pages)
SUITE(TESTS)

enum { ENTRIES = 8 };

static const struct mr plain = {
	.key = 0x12, .host_address = 0x1800, .length = 0x1000, .page_shift = 12, .valid = true};

static void test_keys(void)
{
	struct mr_table *table = mr_table_create(ENTRIES);
	struct mr *first = mr_table_add(table, &plain);
	struct mr *second = mr_table_add(table, &plain);

	CU_ASSERT_EQUAL(first->key & 0xff, 0x12);
	CU_ASSERT_NOT_EQUAL(first->key >> 8, second->key >> 8);
	CU_ASSERT(first->key >> 8 > 1); /* 0 and 0x100 end lists */
	CU_ASSERT_PTR_EQUAL(mr_table_find(table, first->key), first);
	CU_ASSERT_PTR_EQUAL(mr_table_find(table, second->key), second);
	CU_ASSERT_PTR_NULL(mr_table_find(table, first->key ^ 1)); /* another's own bits */
	CU_ASSERT_PTR_NULL(mr_table_find(table, second->key + 0x100));
	CU_ASSERT_PTR_NULL(mr_table_find(table, 0));
	CU_ASSERT_PTR_NULL(mr_table_find(table, 0x100));
	CU_ASSERT_PTR_NULL(mr_table_find(table, UINT32_MAX));
	first->key ^= 0xff; /* a window that is bound anew */
	CU_ASSERT_PTR_EQUAL(mr_table_find(table, first->key), first);
	CU_ASSERT_PTR_NULL(mr_table_find(table, first->key ^ 0xff));
	mr_table_destroy(table);
}

static void test_reuse(void)
{
	struct mr_table *table = mr_table_create(ENTRIES);
	uint32_t old = mr_table_add(table, &plain)->key;
	struct mr *added[ENTRIES];

	mr_table_remove(table, mr_table_find(table, old));
	CU_ASSERT_PTR_NULL(mr_table_find(table, old));
	for (int i = 0; i < ENTRIES - 1; i++) {
		added[i] = mr_table_add(table, &plain);
		CU_ASSERT_NOT_EQUAL(added[i]->key, old);
	}
	added[ENTRIES - 1] = mr_table_add(table, &plain);
	CU_ASSERT_EQUAL(added[ENTRIES - 1]->key, old); /* all others are taken */
	CU_ASSERT_PTR_NULL(mr_table_add(table, &plain));
	mr_table_remove(table, added[3]);
	CU_ASSERT_PTR_EQUAL(mr_table_add(table, &plain), added[3]);
	CU_ASSERT_PTR_NULL(mr_table_add(table, &plain));
	mr_table_destroy(table);
}

static void test_pages(void)
{
	static const struct {
		uint64_t host_address, length;
		uint32_t page_shift;
		bool physical;
		uint64_t pages;
	} rows[] = {
		{0x1800, 0x1000, 12, false, 2},   {0x1000, 0x1000, 12, false, 1},
		{0x1fff, 1, 12, false, 1},        {0x1fff, 2, 12, false, 2},
		{0x1000, 0, 12, false, 0},        {0x1800, 0x100000, 12, true, 0},
		{0x1800, 0x400000, 21, false, 3},
	};
	struct mr_table *table = mr_table_create(ENTRIES);
	uint64_t next = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct mr mr = {.host_address = rows[i].host_address,
				      .length = rows[i].length,
				      .page_shift = rows[i].page_shift,
				      .physical = rows[i].physical};

		CU_ASSERT_EQUAL(mr_table_page_count(&mr), rows[i].pages);
		CU_ASSERT_EQUAL(mr_table_add(table, &mr)->mtt_index, next);
		next += rows[i].pages;
	}
	mr_table_destroy(table);
}
