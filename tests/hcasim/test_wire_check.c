/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that a window may carry the bytes of its rate and the byte at its edge, and no more. The
 * first window above is reported. Also tests the minimum header of each link layer.
 */
#include "hcasim/run/wire_check.h"
#include "tests/support/suite.h"

#define TESTS(TEST)            \
	TEST(room_of_a_window) \
	TEST(a_byte_more)      \
	TEST(least_headers)
SUITE(TESTS)

static void test_room_of_a_window(void)
{
	CU_ASSERT_DOUBLE_EQUAL(wire_check_room(UINT64_C(100000000000), US), 12500, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(wire_check_room(UINT64_C(25000000000), 320), 1, 1e-12);
}

static void test_a_byte_more(void)
{
	const uint64_t rate = UINT64_C(100000000000);
	struct wire_excess excess = {0};

	wire_check_window(&excess, rate, 3 * US, 4 * US, 12501);
	CU_ASSERT_EQUAL(excess.windows, 0);
	wire_check_window(&excess, rate, 4 * US, 5 * US, 12502);
	CU_ASSERT_EQUAL(excess.windows, 1);
	CU_ASSERT_EQUAL(excess.bytes, 12502);
	CU_ASSERT_EQUAL(excess.from, 4 * US);
	CU_ASSERT_EQUAL(excess.until, 5 * US);
	wire_check_window(&excess, rate, 5 * US, 6 * US, 20000);
	CU_ASSERT_EQUAL(excess.windows, 2);
	CU_ASSERT_EQUAL(excess.bytes, 12502);
}

static void test_least_headers(void)
{
	CU_ASSERT_EQUAL(wire_check_header_bytes(LINK_INFINIBAND), 26);
	CU_ASSERT_EQUAL(wire_check_header_bytes(LINK_ETHERNET), 58);
}
