/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the values derived from the opcode table against literal values of the standard. Lengths
 * are tested row by row, rules also with negative cases.
 */
#include "fabric/wire/opcode.h"
#include "sim/sim.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                               \
	TEST(lengths)                             \
	TEST(find)                                \
	TEST(every_row_is_found_by_what_it_means) \
	TEST(rules)
SUITE(TESTS)

static void test_lengths(void)
{
	/* clang-format off */
	static const struct { uint8_t opcode, bytes; } rows[] = {
		{0x00, 12}, {0x03, 16}, {0x05, 16}, {0x06, 28}, {0x0b, 32}, {0x0c, 28},
		{0x0d, 16}, {0x0e, 12}, {0x11, 16}, {0x12, 24}, {0x13, 40}, {0x14, 40},
		{0x16, 16}, {0x17, 16}, {0x24, 12}, {0x2b, 32}, {0x64, 20}, {0x65, 24},
		{0x81, 28}, {0xa0, 16}, {0xab, 36}, {0xae, 12}, {0xb1, 16}, {0xb4, 44},
		{0xc0, 16}, {0xcb, 36}, {0xcc, 32}, {0xcd, 16}, {0xce, 12}, {0xd1, 16},
		{0xd2, 24}, {0xd4, 44}, {0xd7, 20}, {0xd8, 28}, {0xd9, 16},
	};
	/* clang-format on */
	unsigned known = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CU_ASSERT_EQUAL(opcode_header_offset(rows[i].opcode, HDR_COUNT), rows[i].bytes);
		CU_ASSERT_EQUAL(opcode_info[rows[i].opcode].bytes, rows[i].bytes);
	}
	for (unsigned opcode = 0; opcode < 256; opcode++)
		known += opcode_known((uint8_t)opcode);
	CU_ASSERT_EQUAL(known, 23 + 12 + 2 + 1 + 23 + 25);
	CU_ASSERT_FALSE(opcode_known(0x15)); /* reserved in RC */
	CU_ASSERT_FALSE(opcode_known(0x18));
	CU_ASSERT_FALSE(opcode_known(0x2c)); /* UC has no read */
	CU_ASSERT_FALSE(opcode_known(0x44)); /* RD */
	CU_ASSERT_FALSE(opcode_known(0x80));
	CU_ASSERT_EQUAL(opcode_header_offset(RC_WRITE_ONLY_IMM, HDR_RETH), 12);
	CU_ASSERT_EQUAL(opcode_header_offset(RC_WRITE_ONLY_IMM, HDR_IMM), 28);
	CU_ASSERT_EQUAL(opcode_header_offset(XRC_WRITE_ONLY_IMM, HDR_XRCETH), 12);
	CU_ASSERT_EQUAL(opcode_header_offset(XRC_WRITE_ONLY_IMM, HDR_RETH), 16);
	CU_ASSERT_EQUAL(opcode_header_offset(XRC_WRITE_ONLY_IMM, HDR_IMM), 32);
	CU_ASSERT_EQUAL(opcode_header_offset(XRC_FETCH_ADD, HDR_ATOMIC_ETH), 16);
	CU_ASSERT_EQUAL(opcode_header_offset(XRC_SEND_LAST_INV, HDR_IETH), 16);
	CU_ASSERT_EQUAL(opcode_header_offset(DC_WRITE_ONLY_IMM, HDR_DCETH), 12);
	CU_ASSERT_EQUAL(opcode_header_offset(DC_WRITE_ONLY_IMM, HDR_RETH), 16);
	CU_ASSERT_EQUAL(opcode_header_offset(DC_CONNECT, HDR_DC_CONNECT_ETH), 16);
	CU_ASSERT_FALSE(opcode_known(0xd5)); /* reserved in RC */
	CU_ASSERT_FALSE(opcode_known(0xda));
	CU_ASSERT_FALSE(opcode_known(0xe0)); /* the manufacturers' other transport */
	CU_ASSERT_EQUAL(opcode_header_offset(UD_SEND_ONLY_IMM, HDR_IMM), 20);
	CU_ASSERT_EQUAL(opcode_header_offset(RC_ATOMIC_ACK, HDR_ATOMIC_ACK_ETH), 16);
}

static void test_find(void)
{
	CU_ASSERT_EQUAL(opcode_find(TRANSPORT_RC, OP_SEND, SEG_FIRST, SUFFIX_NONE), 0x00);
	CU_ASSERT_EQUAL(opcode_find(TRANSPORT_RC, OP_WRITE, SEG_ONLY, SUFFIX_IMM), 0x0b);
	CU_ASSERT_EQUAL(opcode_find(TRANSPORT_XRC, OP_SEND, SEG_LAST, SUFFIX_INV), 0xb6);
	CU_ASSERT_EQUAL(opcode_find(TRANSPORT_UC, OP_SEND, SEG_LAST, SUFFIX_INV), -1);
	CU_ASSERT_EQUAL(opcode_find(TRANSPORT_UD, OP_SEND, SEG_FIRST, SUFFIX_NONE), -1);
	CU_ASSERT_EQUAL(opcode_find(TRANSPORT_RC, OP_SEND, SEG_FIRST, SUFFIX_IMM), -1);
}

static void test_every_row_is_found_by_what_it_means(void)
{
	for (unsigned i = 0; i < 256; i++) {
		const struct opcode_info *info = &opcode_info[i];
		enum suffix suffix = opcode_has((uint8_t)i, HDR_IMM)    ? SUFFIX_IMM
				     : opcode_has((uint8_t)i, HDR_IETH) ? SUFFIX_INV
									: SUFFIX_NONE;

		if (info->name)
			CU_ASSERT_EQUAL(opcode_find(info->transport, info->operation, info->segment,
						    suffix),
					(int)i);
	}
}

static void test_rules(void)
{
	CU_ASSERT_TRUE(opcode_takes_receive_wqe(RC_SEND_FIRST));
	CU_ASSERT_FALSE(opcode_takes_receive_wqe(RC_SEND_LAST_IMM));
	CU_ASSERT_TRUE(opcode_takes_receive_wqe(RC_WRITE_LAST_IMM));
	CU_ASSERT_FALSE(opcode_takes_receive_wqe(RC_WRITE_FIRST));
	CU_ASSERT_FALSE(opcode_takes_receive_wqe(0x15));

	CU_ASSERT_TRUE(opcode_may_follow(RC_SEND_MIDDLE, RC_SEND_FIRST));
	CU_ASSERT_TRUE(opcode_may_follow(RC_SEND_LAST_INV, RC_SEND_MIDDLE));
	CU_ASSERT_TRUE(opcode_may_follow(RC_FETCH_ADD, RC_WRITE_LAST));
	CU_ASSERT_FALSE(opcode_may_follow(RC_SEND_MIDDLE, RC_WRITE_FIRST));
	CU_ASSERT_FALSE(opcode_may_follow(RC_SEND_FIRST, RC_SEND_FIRST));
	CU_ASSERT_FALSE(opcode_may_follow(RC_SEND_LAST, RC_SEND_ONLY));
	CU_ASSERT_FALSE(opcode_may_follow(RC_SEND_LAST, -1));
	CU_ASSERT_FALSE(opcode_may_follow(UC_SEND_LAST, RC_SEND_FIRST));
	CU_ASSERT_FALSE(opcode_may_follow(0x15, -1));

	CU_ASSERT_TRUE(opcode_is_request(XRC_COMPARE_SWAP));
	CU_ASSERT_TRUE(opcode_is_request(DC_CONNECT));
	CU_ASSERT_TRUE(opcode_is_request(DC_DISCONNECT));
	CU_ASSERT_FALSE(opcode_takes_receive_wqe(DC_CONNECT));
	CU_ASSERT_TRUE(opcode_is_response(DC_ACK));
	CU_ASSERT_FALSE(opcode_is_request(RC_ACK));
	CU_ASSERT_TRUE(opcode_is_response(RC_READ_RESP_MIDDLE));
	CU_ASSERT_FALSE(opcode_is_response(CNP_NOTIFY));
	CU_ASSERT_FALSE(opcode_is_request(CNP_NOTIFY));
	CU_ASSERT_FALSE(opcode_is_request(0x15));
	CU_ASSERT_FALSE(opcode_has_payload(RC_READ_REQUEST));
	CU_ASSERT_STRING_EQUAL(opcode_name(0xa5), "XRC_SEND_ONLY_IMM");
	CU_ASSERT_STRING_EQUAL(opcode_name(0x15), "UNKNOWN");
}
