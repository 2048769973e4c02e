/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that a ring of bytes returns the bytes stored at each offset: while it grows, after its
 * start has moved, with gaps that are filled later, and where its range wraps around its memory.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tcp/byte_ring.h"
#include "tests/support/suite.h"

#define TESTS(TEST)        \
	TEST(random_parts) \
	TEST(filled_gap)   \
	TEST(freed)
SUITE(TESTS)

#define PART 3000

static uint8_t byte_at(uint64_t offset)
{
	return (uint8_t)(offset * 131 + (offset >> 8));
}

static void put(struct byte_ring *ring, uint64_t offset, uint32_t count)
{
	uint8_t bytes[PART];

	for (uint32_t i = 0; i < count; i++)
		bytes[i] = byte_at(offset + i);
	byte_ring_put(ring, offset, bytes, count);
}

static bool holds(const struct byte_ring *ring, uint64_t offset, uint32_t count)
{
	uint8_t bytes[PART];

	byte_ring_get(ring, offset, bytes, count);
	for (uint32_t i = 0; i < count; i++)
		if (bytes[i] != byte_at(offset + i))
			return false;
	return true;
}

static void test_random_parts(void)
{
	struct byte_ring ring = {0};
	unsigned seed = 1;

	for (int i = 0; i < 20000; i++) {
		uint32_t count = (uint32_t)rand_r(&seed) % PART;
		uint64_t held = ring.end - ring.first, front = held;

		put(&ring, ring.end, count);
		held += count;
		CU_ASSERT_EQUAL_FATAL(ring.end - ring.first, held);
		if (count && !holds(&ring, ring.end - count, count))
			CU_FAIL_FATAL("other bytes");
		if (front &&
		    byte_ring_front(&ring, &front)[front - 1] != byte_at(ring.first + front - 1))
			CU_FAIL_FATAL("another front");
		/* it holds more at times, and is empty at times */
		byte_ring_drop(&ring, ring.first + held * ((uint32_t)i % 5) / 4 % (held + 1));
	}
	CU_ASSERT(ring.capacity >= 4096 && (ring.capacity & (ring.capacity - 1)) == 0);
	byte_ring_free(&ring);
}

static void test_filled_gap(void)
{
	struct byte_ring ring = {0};

	put(&ring, 0, 100);
	byte_ring_drop(&ring, 50);
	put(&ring, 5000, 1000);
	CU_ASSERT_EQUAL(ring.end, 6000);
	for (uint64_t at = 100; at < 5000; at += 2450)
		put(&ring, at, 2450);
	for (uint64_t at = 50; at + 1000 <= 6000; at += 1000)
		CU_ASSERT(holds(&ring, at, 1000));
	byte_ring_free(&ring);
}

static void test_freed(void)
{
	struct byte_ring ring = {0};

	put(&ring, 0, 1000);
	byte_ring_free(&ring);
	CU_ASSERT_EQUAL(ring.first, 1000);
	put(&ring, 1000, 10);
	CU_ASSERT(holds(&ring, 1000, 10));
	byte_ring_free(&ring);
}
