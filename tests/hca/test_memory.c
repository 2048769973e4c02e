/* SPDX-License-Identifier: Apache-2.0 */
/* Proves that a memory buffer holds exactly its range of addresses, and that the memory without
 * bytes has them all. */
#include <string.h>

#include "hca/host/memory.h"
#include "tests/support/suite.h"

#define TESTS(TEST)   \
	TEST(bytes)   \
	TEST(borders) \
	TEST(none)
SUITE(TESTS)

enum { BASE = 0x1000, BYTES = 256 };

static void test_bytes(void)
{
	struct memory *memory = memory_buffer_create(BASE, BYTES);
	uint8_t seen[BYTES], sent[BYTES];

	for (int i = 0; i < BYTES; i++)
		sent[i] = (uint8_t)(i + 1);
	CU_ASSERT(memory->has_bytes);
	memset(seen, 0xff, BYTES);
	CU_ASSERT(memory_read(memory, BASE, seen, BYTES));
	for (int i = 0; i < BYTES; i++)
		CU_ASSERT_EQUAL(seen[i], 0);
	CU_ASSERT(memory_write(memory, BASE + 10, sent, 100));
	CU_ASSERT(memory_read(memory, BASE, seen, BYTES));
	CU_ASSERT_EQUAL(seen[9], 0);
	CU_ASSERT_EQUAL(memcmp(seen + 10, sent, 100), 0);
	CU_ASSERT_EQUAL(seen[110], 0);
	memory_buffer_destroy(memory);
}

static void test_borders(void)
{
	static const struct {
		uint64_t address;
		uint32_t length;
		bool mapped;
	} rows[] = {
		{BASE, BYTES, true},
		{BASE, BYTES + 1, false},
		{BASE - 1, 1, false},
		{BASE - 1, 2, false},
		{BASE + BYTES - 1, 1, true},
		{BASE + BYTES - 1, 2, false},
		{BASE + BYTES, 0, true},
		{BASE + BYTES, 1, false},
		{BASE + BYTES + 1, 0, false},
		{UINT64_MAX, 1, false},
		{UINT64_MAX - 10, BYTES, false},
		{0, 1, false},
	};
	struct memory *memory = memory_buffer_create(BASE, BYTES);
	uint8_t bytes[BYTES + 1] = {0};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CU_ASSERT_EQUAL(memory_read(memory, rows[i].address, bytes, rows[i].length),
				rows[i].mapped);
		CU_ASSERT_EQUAL(memory_write(memory, rows[i].address, bytes, rows[i].length),
				rows[i].mapped);
	}
	memory_buffer_destroy(memory);
}

static void test_none(void)
{
	uint8_t byte = 42;

	CU_ASSERT_FALSE(memory_none()->has_bytes);
	CU_ASSERT_PTR_EQUAL(memory_none(), memory_none());
	CU_ASSERT(memory_write(memory_none(), UINT64_MAX - 1, NULL, UINT32_MAX));
	CU_ASSERT(memory_read(memory_none(), 0, &byte, 1));
	CU_ASSERT_EQUAL(byte, 42);
}
