/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the packet lengths that a responder accepts (IBTA vol. 1, 9.7.4.1.6). All packets are full
 * except the last, which has at least one byte. The total is the length of the RETH or receive WQE.
 */
#include "fabric/wire/opcode.h"
#include "fabric/wire/packet.h"
#include "hca/formats/wqe.h"
#include "hca/transport/qp.h"
#include "hca/transport/responder.h"
#include "hca/work/receive_queue.h"
#include "tests/support/suite.h"

#define TESTS(TEST)  \
	TEST(writes) \
	TEST(sends)  \
	TEST(reads)
SUITE(TESTS)

enum { MTU = 1024 };

static enum request_error check(uint8_t opcode, uint32_t payload, uint32_t dma_length,
				uint32_t received, uint32_t length)
{
	struct receive_wqe wqe = {.length = length};
	struct qp qp = {.state.mtu_bytes = MTU,
			.responder = {.received = received, .length = length, .wqe = &wqe}};
	struct packet packet = {
		.opcode = opcode, .payload_bytes = payload, .dma_length = dma_length};

	return responder_check_length(&qp, &packet);
}

static void test_writes(void)
{
	CU_ASSERT_EQUAL(check(RC_WRITE_ONLY, 0, 0, 0, 0), ERROR_NONE);
	CU_ASSERT_EQUAL(check(RC_WRITE_ONLY, MTU, MTU, 0, 0), ERROR_NONE);
	CU_ASSERT_EQUAL(check(RC_WRITE_ONLY, MTU, MTU + 1, 0, 0), ERROR_BAD_LENGTH);
	CU_ASSERT_EQUAL(check(RC_WRITE_ONLY, MTU + 1, MTU + 1, 0, 0), ERROR_BAD_LENGTH);
	CU_ASSERT_EQUAL(check(RC_WRITE_FIRST, MTU, MTU + 1, 0, 0), ERROR_NONE);
	CU_ASSERT_EQUAL(check(RC_WRITE_FIRST, MTU, MTU, 0, 0), ERROR_BAD_LENGTH); /* nothing left */
	CU_ASSERT_EQUAL(check(RC_WRITE_FIRST, MTU, UINT32_C(1) << 30, 0, 0), ERROR_NONE);
	CU_ASSERT_EQUAL(check(RC_WRITE_FIRST, MTU, (UINT32_C(1) << 30) + 1, 0, 0),
			ERROR_BAD_LENGTH);
	CU_ASSERT_EQUAL(check(RC_WRITE_FIRST, MTU - 1, 2 * MTU, 0, 0), ERROR_BAD_LENGTH);
	CU_ASSERT_EQUAL(check(RC_WRITE_MIDDLE, MTU, 0, MTU, 2 * MTU + 1), ERROR_NONE);
	CU_ASSERT_EQUAL(check(RC_WRITE_MIDDLE, MTU, 0, MTU, 2 * MTU), ERROR_BAD_LENGTH);
	CU_ASSERT_EQUAL(check(RC_WRITE_LAST, 1, 0, 2 * MTU, 2 * MTU + 1), ERROR_NONE);
	CU_ASSERT_EQUAL(check(RC_WRITE_LAST, 0, 0, 2 * MTU, 2 * MTU), ERROR_BAD_LENGTH);
	CU_ASSERT_EQUAL(check(RC_WRITE_LAST, 2, 0, 2 * MTU, 2 * MTU + 1), ERROR_BAD_LENGTH);
}

/* The lengths are those of the receive WQE. */
static void test_sends(void)
{
	CU_ASSERT_EQUAL(check(RC_SEND_ONLY, 0, 0, 0, 0), ERROR_NONE);
	CU_ASSERT_EQUAL(check(RC_SEND_ONLY, 100, 0, 0, 100), ERROR_NONE);
	CU_ASSERT_EQUAL(check(RC_SEND_ONLY, 101, 0, 0, 100), ERROR_TOO_LONG);
	CU_ASSERT_EQUAL(check(RC_SEND_MIDDLE, MTU, 0, MTU, 2 * MTU), ERROR_NONE);
	CU_ASSERT_EQUAL(check(RC_SEND_MIDDLE, MTU, 0, MTU, 2 * MTU - 1), ERROR_TOO_LONG);
	CU_ASSERT_EQUAL(check(RC_SEND_MIDDLE, MTU, 0, (UINT32_C(1) << 30) - MTU, UINT32_C(1) << 31),
			ERROR_NONE);
	CU_ASSERT_EQUAL(
		check(RC_SEND_MIDDLE, MTU, 0, (UINT32_C(1) << 30) - MTU + 1, UINT32_C(1) << 31),
		ERROR_TOO_LONG);
	CU_ASSERT_EQUAL(check(RC_SEND_LAST, 0, 0, MTU, 2 * MTU), ERROR_BAD_LENGTH);
	CU_ASSERT_EQUAL(check(RC_SEND_LAST, 1, 0, MTU, MTU + 1), ERROR_NONE);
}

/* 2^30 bytes at most, as of WRITEs. */
static void test_reads(void)
{
	CU_ASSERT_EQUAL(check(RC_READ_REQUEST, 0, 0, 0, 0), ERROR_NONE);
	CU_ASSERT_EQUAL(check(RC_READ_REQUEST, 0, UINT32_C(1) << 30, 0, 0), ERROR_NONE);
	CU_ASSERT_EQUAL(check(RC_READ_REQUEST, 0, (UINT32_C(1) << 30) + 1, 0, 0), ERROR_BAD_LENGTH);
}
