/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests DC: number and times of connects and disconnects, and the exact cost of a handshake.
 * Connects are lost, repeated, refused, delayed and withdrawn. Packets in flight when an initiator
 * disconnects arrive.
 */
#include <errno.h>
#include <string.h>

#include "fabric/wire/bytes.h"
#include "fabric/wire/opcode.h"
#include "hca/device/hca_params.h"
#include "hca/formats/cqe.h"
#include "tests/hca/support/rig.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                         \
	TEST(one_target)                    \
	TEST(two_targets)                   \
	TEST(sends)                         \
	TEST(atomics)                       \
	TEST(cost)                          \
	TEST(lost_connect)                  \
	TEST(lost_responses_half_handshake) \
	TEST(lost_responses_full_handshake) \
	TEST(lost_request)                  \
	TEST(wrong_key_half_handshake)      \
	TEST(wrong_key_full_handshake)      \
	TEST(bad_rkey)                      \
	TEST(nobody_there)                  \
	TEST(shortage)                      \
	TEST(reclaim)                       \
	TEST(lost_disconnect)               \
	TEST(what_cannot_be_made)
SUITE(TESTS)

#define KEY       UINT64_C(0x0123456789abcdef)
#define MTU       1024
#define SRQ_WQES  16
#define WQE_BYTES 4096
#define SRQ_INDEX 0x55

/* Twice transmit, receive and the scheduler's latency (155, 185 and 20 ns), and 42 and 30 bytes on
 * 0.5 m of EDR (10,760 ps). The scheduler's 10 ns of the request overlap with half a handshake. */
#define ROUND_TRIP UINT64_C(720760)

enum { REMOTE_ACCESS = 0x13, RETRIES_EXCEEDED = 0x15 };

struct dc {
	struct rig rig;
	struct mini_qp *dci, *second;
	uint32_t dct[2]; /* both on `other` */
	uint32_t srqn;
	struct mini_cq cq; /* of the SRQ's SENDs */
	uint64_t receives;
	uint8_t vector[48];
};

static void put_word(struct mini_host *host, uint64_t address, uint32_t value)
{
	uint8_t bytes[4];

	be32_put(bytes, value);
	CU_ASSERT_TRUE(memory_write(host->memory, address, bytes, 4));
}

static void srq_create(struct dc *dc)
{
	struct mini_host *host = dc->rig.other;
	uint64_t buffer = mini_alloc(host, 4096), record = mini_alloc(host, 8);
	int error = hca_srq_create(host->adapter,
				   &(struct hca_srq_attr){.memory = host->memory,
							  .buffer = buffer,
							  .doorbell_record = record,
							  .entries = SRQ_WQES,
							  .stride_bytes = 32,
							  .pd = PD},
				   &dc->srqn);

	CU_ASSERT_EQUAL_FATAL(error, 0);
	dc->receives = mini_alloc(host, SRQ_WQES * WQE_BYTES);
	for (uint32_t i = 0; i < SRQ_WQES; i++) {
		put_word(host, buffer + 32 * i, (i + 1) % SRQ_WQES);
		put_word(host, buffer + 32 * i + 16, WQE_BYTES);
		put_word(host, buffer + 32 * i + 20, host->key);
		put_word(host, buffer + 32 * i + 24, 0);
		put_word(host, buffer + 32 * i + 28, (uint32_t)(dc->receives + i * WQE_BYTES));
	}
	put_word(host, record, SRQ_WQES);
}

static struct hca_qp_attr dct_attr(const struct dc *dc)
{
	return (struct hca_qp_attr){.type = QP_DCT,
				    .memory = dc->rig.other->memory,
				    .pd = PD,
				    .recv_cqn = dc->cq.number,
				    .srqn = dc->srqn,
				    .user_index = SRQ_INDEX,
				    .dc_key = KEY};
}

static void dct_create(struct dc *dc, uint32_t index)
{
	struct hca *adapter = dc->rig.other->adapter;
	struct hca_qp_attr attr = dct_attr(dc);
	struct hca_qp_state state = mini_state(dc->rig.other, MTU);

	CU_ASSERT_EQUAL_FATAL(hca_qp_create(adapter, &attr, &dc->dct[index]), 0);
	state.path = NULL;
	state.state = STATE_RTR;
	state.mask = QP_SET_STATE | QP_SET_PATH | QP_SET_MTU | QP_SET_ACCESS | QP_SET_PKEY |
		     QP_SET_MIN_RNR_TIMER | QP_SET_MAX_DEST_RD_ATOMIC;
	CU_ASSERT_EQUAL(hca_qp_modify(adapter, dc->dct[index], &state), 0);
}

static struct mini_qp *dci_create(struct dc *dc)
{
	struct mini_qp *dci = mini_qp_create_with(
		dc->rig.one, (struct hca_qp_attr){.type = QP_DCI, .sq_blocks = 64});
	struct hca_qp_state state = mini_state(dc->rig.one, MTU);

	state.path = NULL;
	mini_connect_with(dci, state, 0);
	return dci;
}

/* Returns the address vector of DCT `index`, with that key. */
static const uint8_t *vector_to(struct dc *dc, uint32_t index, uint64_t key)
{
	be64_put(dc->vector, key);
	be32_put(dc->vector + 8, dc->dct[index] | UINT32_C(0x80000000));
	be16_put(dc->vector + 14, 1);
	return dc->vector;
}

static struct dc dc_create_with(enum dc_handshake handshake, uint64_t responders)
{
	struct mini *mini = mini_create(SIM_ENGINE_native);
	struct dc dc = {0};

	mini->params.transport.dc_handshake = handshake;
	mini->params.transport.dc_responders = responders;
	dc.rig = rig_create_on(mini, QP_RC, LINK_INFINIBAND, MTU);
	dc.cq = mini_cq_create(dc.rig.other, 64, 64);
	srq_create(&dc);
	dct_create(&dc, 0);
	dct_create(&dc, 1);
	dc.dci = dci_create(&dc);
	dc.second = dci_create(&dc);
	mini_fill(dc.rig.one, dc.rig.source, 8192, 1);
	return dc;
}

static struct dc dc_create(void)
{
	return dc_create_with(DC_HALF, 16);
}

static void dc_destroy(struct dc *dc)
{
	struct hca *adapter = dc->rig.other->adapter;

	mini_run(dc->rig.mini);
	mini_qp_destroy(dc->dci);
	mini_qp_destroy(dc->second);
	for (uint32_t i = 0; i < 2; i++)
		if (dc->dct[i])
			CU_ASSERT_EQUAL(hca_qp_destroy(adapter, dc->dct[i]), 0);
	CU_ASSERT_EQUAL(hca_srq_destroy(adapter, dc->srqn), 0);
	rig_destroy(&dc->rig);
}

static void post_with(struct dc *dc, struct mini_qp *dci, uint32_t index, uint64_t key,
		      uint8_t opcode, uint32_t length)
{
	mini_post(dci, &(struct mini_send){.opcode = opcode,
					   .address = dc->rig.source,
					   .length = length,
					   .remote = dc->rig.target,
					   .swap_or_add = 1,
					   .vector = vector_to(dc, index, key)});
}

static void post(struct dc *dc, uint32_t index, uint8_t opcode, uint32_t length)
{
	post_with(dc, dc->dci, index, KEY, opcode, length);
}

static sim_time now(const struct dc *dc)
{
	return sim_now(dc->rig.mini->sim);
}

static uint32_t count_one(const struct dc *dc, const char *counter)
{
	return rig_count(&dc->rig, "transport", counter);
}

static uint32_t count_other(const struct dc *dc, const char *counter)
{
	return rig_count_other(&dc->rig, "transport", counter);
}

/* Requests to one target need one connect. After dc_idle without work it is left. */
static void test_one_target(void)
{
	struct dc dc = dc_create();
	sim_time ended;

	for (uint32_t i = 0; i < 10; i++) {
		post(&dc, 0, WQE_WRITE, 3000);
		CHECK_WC(mini_wait(dc.dci->send_cq), CQE_SENT, 0);
	}
	CU_ASSERT_TRUE(mini_matches(dc.rig.other, dc.rig.target, 3000, 1));
	CU_ASSERT_EQUAL(count_one(&dc, "dc_connects"), 1);
	CU_ASSERT_EQUAL(count_one(&dc, "dc_disconnects"), 0);
	ended = now(&dc);
	mini_run(dc.rig.mini);
	CU_ASSERT_EQUAL(count_one(&dc, "dc_disconnects"), 1);
	CU_ASSERT_EQUAL(count_other(&dc, "dc_accepts"), 1);
	CU_ASSERT_TRUE(now(&dc) - ended > 99 * US && now(&dc) - ended < 102 * US);
	post(&dc, 0, WQE_WRITE, 64);
	CHECK_WC(mini_wait(dc.dci->send_cq), CQE_SENT, 0);
	CU_ASSERT_EQUAL(count_one(&dc, "dc_connects"), 2);
	dc_destroy(&dc);
}

/* Each work request has another target, and all are posted at once. Each takes five packets in
 * place of two. */
static void test_two_targets(void)
{
	struct dc dc = dc_create();
	uint32_t sent;

	for (uint32_t i = 0; i < 10; i++)
		post(&dc, i % 2, WQE_READ, 64);
	for (uint32_t i = 0; i < 10; i++)
		CHECK_WC(mini_wait(dc.dci->send_cq), CQE_SENT, 0);
	CU_ASSERT_EQUAL(count_one(&dc, "dc_connects"), 10);
	CU_ASSERT_EQUAL(count_one(&dc, "dc_disconnects"), 9);
	CU_ASSERT_EQUAL(count_other(&dc, "dc_accepts"), 10);
	CU_ASSERT_EQUAL(count_other(&dc, "rx_read_requests"), 10);
	mini_run(dc.rig.mini);
	sent = rig_count_other(&dc.rig, "receive", "packets");
	CU_ASSERT_EQUAL(sent, 10 + 10 + 10); /* the last disconnect is from an idle initiator */
	CU_ASSERT_EQUAL(rig_count(&dc.rig, "receive", "packets"), 10 + 10);
	CU_ASSERT_EQUAL(count_one(&dc, "packets_retransmitted"), 0);
	CU_ASSERT_EQUAL(count_one(&dc, "stale_responses"), 0);
	CU_ASSERT_EQUAL(count_other(&dc, "dc_strays"), 0);
	dc_destroy(&dc);
}

/* SENDs are acknowledged early: their data is still on its way when the disconnect comes. */
static void test_sends(void)
{
	struct dc dc = dc_create();
	struct mini_wc wc;

	for (uint32_t i = 0; i < 6; i++)
		post(&dc, i % 2, WQE_SEND, 3000);
	for (uint32_t i = 0; i < 6; i++) {
		wc = mini_wait(&dc.cq);
		CHECK_WC(wc, CQE_RECEIVED_SEND, 0);
		CU_ASSERT_EQUAL(wc.qpn, dc.dct[i % 2]);
		CU_ASSERT_EQUAL(wc.user_index, SRQ_INDEX);
		CU_ASSERT_EQUAL(wc.byte_count, 3000);
		CU_ASSERT_TRUE(mini_matches(dc.rig.other, dc.receives + i * WQE_BYTES, 3000, 1));
		CHECK_WC(mini_wait(dc.dci->send_cq), CQE_SENT, 0);
	}
	CU_ASSERT_EQUAL(count_one(&dc, "dc_connects"), 6);
	dc_destroy(&dc);
}

static void test_atomics(void)
{
	struct dc dc = dc_create();

	for (uint32_t i = 0; i < 5; i++)
		post_with(&dc, i % 2 ? dc.second : dc.dci, i % 2, KEY, WQE_FETCH_ADD, 8);
	mini_put_u64(dc.rig.other, dc.rig.target, 40);
	for (uint32_t i = 0; i < 5; i++)
		CHECK_WC(mini_wait(i % 2 ? dc.second->send_cq : dc.dci->send_cq), CQE_SENT, 0);
	CU_ASSERT_EQUAL(mini_u64(dc.rig.other, dc.rig.target), 45);
	CU_ASSERT_EQUAL(count_one(&dc, "dc_connects"), 2);
	dc_destroy(&dc);
}

/* ---- what a handshake costs ---- */

static sim_time time_of_write(struct dc *dc, uint32_t index)
{
	sim_time began = now(dc);

	post(dc, index, WQE_WRITE, 64);
	CHECK_WC(mini_wait(dc->dci->send_cq), CQE_SENT, 0);
	return now(dc) - began;
}

/* A connect costs the turn of its packet. A connect to another target also costs the turn of the
 * disconnect. A full handshake costs a round trip. */
static void test_cost(void)
{
	for (enum dc_handshake handshake = DC_HALF; handshake <= DC_FULL; handshake++) {
		struct dc dc = dc_create_with(handshake, 16);
		sim_time packet = dc.rig.mini->params.scheduler.packet_interval;
		sim_time round_trip = handshake == DC_FULL ? ROUND_TRIP : 0;
		sim_time connected;

		time_of_write(&dc, 0); /* contexts and translations are fetched */
		time_of_write(&dc, 1);
		connected = time_of_write(&dc, 1);
		CU_ASSERT_EQUAL(time_of_write(&dc, 1), connected);
		CU_ASSERT_EQUAL(time_of_write(&dc, 0), connected + 2 * packet + round_trip);
		mini_run(dc.rig.mini); /* it disconnects */
		CU_ASSERT_EQUAL(time_of_write(&dc, 0), connected + packet + round_trip);
		dc_destroy(&dc);
	}
}

/* ---- losses ---- */

/* The request behind a lost connect finds nobody; the timer brings both again. */
static void test_lost_connect(void)
{
	struct dc dc = dc_create();

	rig_drop(&dc.rig, false, DC_CONNECT, 1, 0);
	post(&dc, 0, WQE_FETCH_ADD, 8);
	CHECK_WC(mini_wait(dc.dci->send_cq), CQE_SENT, 0);
	CU_ASSERT_EQUAL(mini_u64(dc.rig.other, dc.rig.target), 1);
	CU_ASSERT_EQUAL(count_one(&dc, "dc_connects"), 2);
	CU_ASSERT_EQUAL(count_one(&dc, "local_ack_timeouts"), 1);
	CU_ASSERT_EQUAL(count_other(&dc, "dc_strays"), 1);
	CU_ASSERT_EQUAL(count_other(&dc, "dc_accepts"), 1);
	dc_destroy(&dc);
}

/* all responses of a session are lost: the connect comes again and is known, and the atomic is not
 * carried out twice. */
static void test_lost_responses(enum dc_handshake handshake, uint32_t accepts)
{
	struct dc dc = dc_create_with(handshake, 16);

	rig_drop(&dc.rig, true, DC_ACK, 1, 0);
	rig_drop(&dc.rig, true, DC_ATOMIC_ACK, 1, 0);
	post(&dc, 0, WQE_FETCH_ADD, 8);
	CHECK_WC(mini_wait(dc.dci->send_cq), CQE_SENT, 0);
	CU_ASSERT_EQUAL(mini_u64(dc.rig.other, dc.rig.target), 1);
	CU_ASSERT_EQUAL(count_other(&dc, "dc_accepts"), accepts);
	CU_ASSERT_EQUAL(count_other(&dc, "atomic_replays"), 1);
	CU_ASSERT_EQUAL(count_other(&dc, "rx_atomic_requests"), 1);
	dc_destroy(&dc);
}

static void test_lost_responses_half_handshake(void)
{
	test_lost_responses(DC_HALF, 2);
}

static void test_lost_responses_full_handshake(void)
{
	test_lost_responses(DC_FULL, 3);
}

/* A request lost within a session causes a NAK for the sequence, and no second connect. */
static void test_lost_request(void)
{
	struct dc dc = dc_create();

	rig_drop(&dc.rig, false, DC_WRITE_MIDDLE, 1, 0);
	post(&dc, 0, WQE_WRITE, 8000);
	CHECK_WC(mini_wait(dc.dci->send_cq), CQE_SENT, 0);
	mini_run(dc.rig.mini);
	CU_ASSERT_TRUE(mini_matches(dc.rig.other, dc.rig.target, 8000, 1));
	CU_ASSERT_EQUAL(count_one(&dc, "packet_seq_err"), 1);
	CU_ASSERT_EQUAL(count_one(&dc, "dc_connects"), 1);
	dc_destroy(&dc);
}

/* ---- refusals ---- */

static void test_wrong_key(enum dc_handshake handshake)
{
	struct dc dc = dc_create_with(handshake, 16);

	post_with(&dc, dc.second, 0, KEY, WQE_WRITE, 64);
	CHECK_WC(mini_wait(dc.second->send_cq), CQE_SENT, 0);
	sim_run(dc.rig.mini->sim,
		now(&dc) + 10 * US); /* the ACK is early: the written data is in memory */
	mini_put_u64(dc.rig.other, dc.rig.target, 7);
	post_with(&dc, dc.dci, 0, KEY + 1, WQE_WRITE, 64);
	CHECK_WC(mini_wait(dc.dci->send_cq), CQE_SEND_ERROR, REMOTE_ACCESS);
	CU_ASSERT_EQUAL(mini_u64(dc.rig.other, dc.rig.target), 7);
	CU_ASSERT_EQUAL(count_other(&dc, "dc_refusals"), 1);
	CU_ASSERT_EQUAL(count_other(&dc, "naks_sent"), 1);
	CU_ASSERT_EQUAL(dc.rig.other->async_count, 0);
	/* The correct initiator is not disturbed, and the refused one may try again. */
	post_with(&dc, dc.second, 0, KEY, WQE_WRITE, 64);
	CHECK_WC(mini_wait(dc.second->send_cq), CQE_SENT, 0);
	mini_run(dc.rig.mini);
	mini_to(dc.dci, STATE_RESET);
	dc.dci->sq_post = 0;
	mini_connect_with(dc.dci, mini_state(dc.rig.one, MTU), 0);
	post(&dc, 0, WQE_WRITE, 64);
	CHECK_WC(mini_wait(dc.dci->send_cq), CQE_SENT, 0);
	dc_destroy(&dc);
}

static void test_wrong_key_half_handshake(void)
{
	test_wrong_key(DC_HALF);
}

static void test_wrong_key_full_handshake(void)
{
	test_wrong_key(DC_FULL);
}

/* A fault of one initiator ends its session alone. */
static void test_bad_rkey(void)
{
	struct dc dc = dc_create();

	post_with(&dc, dc.second, 0, KEY, WQE_WRITE, 64);
	CHECK_WC(mini_wait(dc.second->send_cq), CQE_SENT, 0);
	mini_post(dc.dci, &(struct mini_send){.opcode = WQE_WRITE,
					      .address = dc.rig.source,
					      .length = 64,
					      .remote = dc.rig.target,
					      .rkey = 0x12345678,
					      .vector = vector_to(&dc, 0, KEY)});
	CHECK_WC(mini_wait(dc.dci->send_cq), CQE_SEND_ERROR, REMOTE_ACCESS);
	CU_ASSERT_EQUAL(dc.rig.other->async_count, 1);
	CU_ASSERT_EQUAL(dc.rig.other->asyncs[0].number, dc.dct[0]);
	post_with(&dc, dc.second, 0, KEY, WQE_WRITE, 64);
	CHECK_WC(mini_wait(dc.second->send_cq), CQE_SENT, 0);
	CU_ASSERT_EQUAL(count_one(&dc, "dc_connects"), 2);
	dc_destroy(&dc);
}

static void test_nobody_there(void)
{
	struct dc dc = dc_create();
	const uint8_t nowhere[48] = {[8] = 0x80};

	CU_ASSERT_EQUAL(hca_qp_destroy(dc.rig.other->adapter, dc.dct[1]), 0);
	post(&dc, 1, WQE_WRITE, 64);
	CHECK_WC(mini_wait(dc.dci->send_cq), CQE_SEND_ERROR, RETRIES_EXCEEDED);
	CU_ASSERT_EQUAL(count_one(&dc, "dc_connects"), 1 + 7);
	dc.dct[1] = 0;
	mini_post(dc.second,
		  &(struct mini_send){.opcode = WQE_SEND, .length = 0, .vector = nowhere});
	CHECK_WC(mini_wait(dc.second->send_cq), CQE_SEND_ERROR, RETRIES_EXCEEDED);
	dc_destroy(&dc);
}

/* ---- responder contexts ---- */

/* One context, two initiators: the second is put off until the first is idle. */
static void test_shortage(void)
{
	struct dc dc = dc_create_with(DC_HALF, 1);

	post_with(&dc, dc.dci, 0, KEY, WQE_WRITE, 64);
	CHECK_WC(mini_wait(dc.dci->send_cq), CQE_SENT, 0);
	post_with(&dc, dc.second, 1, KEY, WQE_WRITE, 64);
	CHECK_WC(mini_wait(dc.second->send_cq), CQE_SENT, 0);
	CU_ASSERT_TRUE(now(&dc) > 100 * US);
	CU_ASSERT_EQUAL(count_other(&dc, "dc_shortages"), count_one(&dc, "rnr_nak_received"));
	CU_ASSERT_EQUAL(count_other(&dc, "dc_shortages"), 10); /* one every 10 us, plus the path */
	CU_ASSERT_EQUAL(count_other(&dc, "dc_accepts"), 2);
	CU_ASSERT_EQUAL(count_other(&dc, "dc_reclaims"), 0);
	dc_destroy(&dc);
}

/* The same if the disconnect is lost. The context is reused after dc_lifetime. */
static void test_reclaim(void)
{
	struct dc dc = dc_create_with(DC_HALF, 1);

	rig_drop(&dc.rig, false, DC_DISCONNECT, 1, 0);
	post_with(&dc, dc.dci, 0, KEY, WQE_WRITE, 64);
	CHECK_WC(mini_wait(dc.dci->send_cq), CQE_SENT, 0);
	post_with(&dc, dc.second, 1, KEY, WQE_WRITE, 64);
	CHECK_WC(mini_wait(dc.second->send_cq), CQE_SENT, 0);
	CU_ASSERT_TRUE(now(&dc) > MS);
	CU_ASSERT_EQUAL(count_other(&dc, "dc_reclaims"), 1);
	dc_destroy(&dc);
}

/* A disconnect is lost, and the initiator comes back: it gets its own context again, for a new
 * session. */
static void test_lost_disconnect(void)
{
	struct dc dc = dc_create_with(DC_HALF, 2);

	rig_drop(&dc.rig, false, DC_DISCONNECT, 1, 0);
	for (uint32_t i = 0; i < 3; i++)
		post(&dc, i % 2, WQE_FETCH_ADD, 8);
	for (uint32_t i = 0; i < 3; i++)
		CHECK_WC(mini_wait(dc.dci->send_cq), CQE_SENT, 0);
	CU_ASSERT_EQUAL(mini_u64(dc.rig.other, dc.rig.target), 3);
	CU_ASSERT_EQUAL(count_other(&dc, "dc_accepts"), 3);
	CU_ASSERT_EQUAL(count_other(&dc, "dc_shortages"), 0);
	dc_destroy(&dc);
}

static void test_what_cannot_be_made(void)
{
	struct dc dc = dc_create();
	struct hca *adapter = dc.rig.other->adapter;
	struct hca_qp_attr attr = dct_attr(&dc);
	uint32_t number = 0;

	attr.srqn = 0;
	CU_ASSERT_EQUAL(hca_qp_create(adapter, &attr, &number), -EINVAL);
	attr = dct_attr(&dc);
	attr.sq_blocks = 64;
	CU_ASSERT_EQUAL(hca_qp_create(adapter, &attr, &number), -EINVAL);
	attr = dct_attr(&dc);
	attr.type = QP_DCR;
	CU_ASSERT_EQUAL(hca_qp_create(adapter, &attr, &number), -EINVAL);
	attr = (struct hca_qp_attr){.type = QP_DCI,
				    .sq_blocks = 64,
				    .rq_entries = 64,
				    .rq_stride_bytes = 64,
				    .send_cqn = dc.cq.number,
				    .recv_cqn = dc.cq.number};
	CU_ASSERT_EQUAL(hca_qp_create(adapter, &attr, &number), -EINVAL);
	dc_destroy(&dc);
}
