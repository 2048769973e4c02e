/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that RC loses nothing when the link does: go-back-N after a NAK, after a timeout and after
 * a missing response. Also RNR waiting, exact waiting times, and all related counters.
 */
#include "fabric/wire/opcode.h"
#include "hca/formats/cqe.h"
#include "tests/hca/support/rig.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                                          \
	TEST(a_lost_middle_packet)                           \
	TEST(a_lost_last_packet_waits_for_the_timeout)       \
	TEST(a_lost_ack_executed_once)                       \
	TEST(a_lost_read_response)                           \
	TEST(a_lost_read_response_before_the_ack_of_a_write) \
	TEST(retries_exceeded)                               \
	TEST(acks_of_what_was_not_sent)                      \
	TEST(receiver_not_ready)                             \
	TEST(receiver_not_ready_too_often)                   \
	TEST(everything_under_random_loss)                   \
	TEST(a_damaged_packet)
SUITE(TESTS)

#define TIMEOUT_8  (UINT64_C(4096) * NS << 8)
#define ACK_STATUS 0

static void test_a_lost_middle_packet(void)
{
	struct rig rig = rig_create(QP_RC, 1024);

	mini_fill(rig.one, rig.source, 16384, 1);
	rig_drop(&rig, false, RC_WRITE_MIDDLE, 3, 0);
	rig_post(&rig, WQE_WRITE, 16384);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, ACK_STATUS);
	mini_run(rig.mini);
	CU_ASSERT_TRUE(mini_matches(rig.other, rig.target, 16384, 1));
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "packet_seq_err"), 1);
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "local_ack_timeouts"), 0);
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "packets_retransmitted"), 13);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "transport", "naks_sent"), 1);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "transport", "rx_write_requests"), 1);
	rig_destroy(&rig);
}

static void test_a_lost_last_packet_waits_for_the_timeout(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	sim_time start;

	mini_receive(rig.peer, rig.target, 64);
	mini_fill(rig.one, rig.source, 64, 2);
	rig_drop(&rig, false, RC_SEND_ONLY, 1, 0);
	start = sim_now(rig.mini->sim);
	rig_post(&rig, WQE_SEND, 64);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, ACK_STATUS);
	CU_ASSERT_TRUE(sim_now(rig.mini->sim) - start > TIMEOUT_8);
	CU_ASSERT_TRUE(sim_now(rig.mini->sim) - start < TIMEOUT_8 + 5 * US);
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "local_ack_timeouts"), 1);
	mini_run(rig.mini);
	CU_ASSERT_TRUE(mini_matches(rig.other, rig.target, 64, 2));
	rig_destroy(&rig);
}

static void test_a_lost_ack_executed_once(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	struct mini_wc wc;

	mini_receive(rig.peer, rig.target, 64);
	rig_drop(&rig, true, RC_ACK, 1, 0);
	rig_post(&rig, WQE_SEND, 64);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, ACK_STATUS);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "transport", "duplicate_request"), 1);
	CHECK_WC(mini_wait(rig.peer->recv_cq), CQE_RECEIVED_SEND, ACK_STATUS);
	mini_run(rig.mini);
	CU_ASSERT_FALSE(mini_poll(rig.peer->recv_cq, &wc)); /* once only */
	rig_destroy(&rig);
}

static void test_a_lost_read_response(void)
{
	struct rig rig = rig_create(QP_RC, 256);

	mini_fill(rig.other, rig.target, 10000, 3);
	rig_drop(&rig, true, RC_READ_RESP_MIDDLE, 7, 0);
	rig_post(&rig, WQE_READ, 10000);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, ACK_STATUS);
	CU_ASSERT_TRUE(mini_matches(rig.one, rig.source, 10000, 3));
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "implied_nak_seq_err"), 1);
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "local_ack_timeouts"), 0);
	rig_destroy(&rig);
}

static void test_a_lost_read_response_before_the_ack_of_a_write(void)
{
	struct rig rig = rig_create(QP_RC, 256);

	mini_fill(rig.other, rig.target, 100, 3);
	rig_drop(&rig, true, RC_READ_RESP_ONLY, 1, 0);
	rig_post(&rig, WQE_READ, 100);
	mini_post(rig.qp, &(struct mini_send){.opcode = WQE_WRITE,
					      .address = rig.source + 4096,
					      .length = 10,
					      .remote = rig.target + 4096});
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, ACK_STATUS);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, ACK_STATUS);
	CU_ASSERT_TRUE(mini_matches(rig.one, rig.source, 100, 3));
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "implied_nak_seq_err"), 1);
	rig_destroy(&rig);
}

static void test_retries_exceeded(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	sim_time start;
	struct mini_wc wc;

	rig_drop(&rig, false, FAULT_ANY_OPCODE, 0, 1.0);
	start = sim_now(rig.mini->sim);
	rig_post(&rig, WQE_WRITE, 64);
	rig_post(&rig, WQE_WRITE, 64);
	wc = mini_wait(rig.qp->send_cq);
	CU_ASSERT_EQUAL(wc.opcode, CQE_SEND_ERROR);
	CU_ASSERT_EQUAL(wc.syndrome, 0x15);
	CU_ASSERT_EQUAL(wc.vendor, 0x81);
	CU_ASSERT_TRUE(sim_now(rig.mini->sim) - start > 8 * TIMEOUT_8);
	CU_ASSERT_TRUE(sim_now(rig.mini->sim) - start < 8 * TIMEOUT_8 + 10 * US);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SEND_ERROR, 0x05);
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "local_ack_timeouts"), 8);
	rig_destroy(&rig);
}

/* A responder whose PSN is ahead takes each WRITE for a duplicate. It acknowledges up to a PSN that
 * was never sent. The requester ignores such ACKs. */
static void test_acks_of_what_was_not_sent(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	struct hca_qp_state state = mini_state(rig.other, 1024);

	state.rq_psn = 2; /* five ahead */
	mini_to(rig.peer, STATE_RESET);
	mini_connect_with(rig.peer, state, rig.qp->number);
	mini_fill(rig.one, rig.source, 64, 3);
	rig_post(&rig, WQE_WRITE, 64);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SEND_ERROR, 0x15);
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "stale_responses"), 8);
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "acks_received"), 0);
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "local_ack_timeouts"), 8);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "transport", "duplicate_request"), 8);
	CU_ASSERT_FALSE(mini_matches(rig.other, rig.target, 64, 3));
	rig_destroy(&rig);
}

/* Runs event by event until the counter of that host's transport is `value`. Returns the time. When
 * that was. */
static sim_time when(struct rig *rig, struct mini_host *host, const char *counter, uint32_t value)
{
	while (mini_block_count(host, "transport", counter) < value)
		sim_run(rig->mini->sim, sim_next(rig->mini->sim) + 1);
	CU_ASSERT_EQUAL(mini_block_count(host, "transport", counter), value);
	return sim_now(rig->mini->sim) - 1;
}

/* Returns the time of a packet on an idle path: its turn, the pipelines, the cable. */
static sim_time way(const struct rig *rig, uint32_t wire_bytes)
{
	const struct hca_params *params = &rig->mini->params;
	const struct port *port = hca_port(rig->one->adapter);

	return params->scheduler.latency + params->transmit.latency +
	       port_serialization(port, wire_bytes) + port_latency(port) + params->receive.latency;
}

static void test_receiver_not_ready(void)
{
	enum { NAK_BYTES = 8 + 12 + 4 + 4 + 2 }; /* LRH, BTH, AETH, ICRC, VCRC */
	const sim_time timer = 10 * US;
	struct rig rig = rig_create(QP_RC, 1024);
	sim_time posted = sim_now(rig.mini->sim), refused, heard, refused_again, heard_again;

	mini_fill(rig.one, rig.source, 3000, 9);
	rig_post(&rig, WQE_SEND, 3000);
	rig_post(&rig, WQE_WRITE, 3000);
	refused = when(&rig, rig.other, "rnr_nak_sent", 1);
	heard = when(&rig, rig.one, "rnr_nak_received", 1);
	CU_ASSERT_EQUAL(heard - refused, way(&rig, NAK_BYTES));
	sim_run(rig.mini->sim, heard + timer); /* nothing before the timer has run out ... */
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "packets_retransmitted"), 0);
	refused_again = when(&rig, rig.other, "rnr_nak_sent", 2);
	CU_ASSERT_TRUE(refused_again - heard > timer + way(&rig, 1024));
	CU_ASSERT_TRUE(refused_again - heard <
		       timer + (refused - posted)); /* ... and immediately after it has */
	heard_again = when(&rig, rig.one, "rnr_nak_received", 2);
	CU_ASSERT_EQUAL(heard_again - refused_again, heard - refused);
	CU_ASSERT_EQUAL(when(&rig, rig.other, "rnr_nak_sent", 3) - heard_again,
			refused_again - heard);
	mini_receive(rig.peer, rig.target, 3000);
	CHECK_WC(mini_wait(rig.peer->recv_cq), CQE_RECEIVED_SEND, 0);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, 0);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, 0);
	CU_ASSERT_TRUE(mini_matches(rig.other, rig.target, 3000, 9));
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "rnr_nak_received"), 3);
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "packet_seq_err"), 0);
	rig_destroy(&rig);
}

static void test_receiver_not_ready_too_often(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	struct hca_qp_state state = {.mask = QP_SET_RNR_RETRY, .rnr_retry = 2};

	hca_qp_modify(rig.one->adapter, rig.qp->number, &state);
	rig_post(&rig, WQE_SEND, 10);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SEND_ERROR, 0x16);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "transport", "rnr_nak_sent"), 3);
	rig_destroy(&rig);
}

/* Runs every kind of operation many times, under loss in both directions. Memory and values must be
 * exact. */
static void test_everything_under_random_loss(void)
{
	struct rig rig = rig_create(QP_RC, 256);
	uint64_t counter = rig.target + 8 * 4096, result = rig.source + 8 * 4096;

	rig_drop(&rig, false, FAULT_ANY_OPCODE, 0, 0.05);
	rig_drop(&rig, true, FAULT_ANY_OPCODE, 0, 0.05);
	for (uint32_t i = 0; i < 300; i++) {
		mini_fill(rig.one, rig.source, 3000, i);
		mini_receive(rig.peer, rig.target + 4096, 3000);
		rig_post(&rig, WQE_WRITE, 3000);
		mini_post(rig.qp, &(struct mini_send){.opcode = WQE_FETCH_ADD,
						      .address = result,
						      .length = 8,
						      .remote = counter,
						      .swap_or_add = 1});
		rig_post(&rig, WQE_SEND, 3000);
		mini_post(rig.qp, &(struct mini_send){.opcode = WQE_READ,
						      .address = rig.source + 4096,
						      .length = 3000,
						      .remote = rig.target});
		for (unsigned n = 0; n < 4; n++)
			CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, 0);
		CHECK_WC(mini_wait(rig.peer->recv_cq), CQE_RECEIVED_SEND, 0);
		CU_ASSERT_TRUE(mini_matches(rig.other, rig.target, 3000, i));
		CU_ASSERT_TRUE(mini_matches(rig.other, rig.target + 4096, 3000, i));
		CU_ASSERT_TRUE(mini_matches(rig.one, rig.source + 4096, 3000, i));
		CU_ASSERT_EQUAL(mini_u64(rig.one, result), i);
		CU_ASSERT_EQUAL(mini_u64(rig.other, counter), i + 1);
	}
	/* observed; of 300 atomics 5 % of the responses are lost, of which some are acknowledged by
	 * later responses */
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "packets_retransmitted"), 6025);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "transport", "atomic_replays"), 23);
	rig_destroy(&rig);
}

static void test_a_damaged_packet(void)
{
	struct rig rig = rig_create(QP_RC, 1024);

	fault_add(rig.fault, &(struct fault_rule){.action = FAULT_corrupt_icrc,
						  .kind = PACKET_DATA,
						  .opcode = RC_WRITE_FIRST,
						  .nth = 1});
	mini_fill(rig.one, rig.source, 5000, 4);
	rig_post(&rig, WQE_WRITE, 5000);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, 0);
	mini_run(rig.mini);
	CU_ASSERT_TRUE(mini_matches(rig.other, rig.target, 5000, 4));
	CU_ASSERT_EQUAL(rig_count_other(&rig, "receive", "icrc_errors"), 1);
	rig_destroy(&rig);
}
