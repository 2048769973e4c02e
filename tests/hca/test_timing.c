/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that published timing follows from the mechanism: one-way latency of SEND at the sizes of
 * row A1-01, and flat over the MTU (A1-03). Also bandwidth at the header ceiling (C-05) for write,
 * read and both directions at once. Where the sum of parameters is known, times are exact
 * picoseconds. A burst of READs leaves at the rate of their engine.
 */
#include "hca/formats/cqe.h"
#include "tests/hca/support/rig.h"
#include "tests/support/suite.h"

#define TESTS(TEST)             \
	TEST(latency)           \
	TEST(flat_over_the_mtu) \
	TEST(bandwidth)         \
	TEST(both_directions)   \
	TEST(parameters_add_up) \
	TEST(turns_by_segments) \
	TEST(turns_by_kind)     \
	TEST(turns_in_a_row)    \
	TEST(burst_of_reads)
SUITE(TESTS)

#define EDR_BPS          UINT64_C(100000000000)
#define IB_HEADER_BYTES  26
#define STREAM_BYTES     (1 << 20)
#define STREAM_COUNT     16
#define WARM_UP_RECEIVES 16

/* Returns the time from the store of the doorbell until the receiver's CQE is visible. */
static sim_time one_way(uint32_t mtu, uint32_t bytes, bool is_inline)
{
	struct rig rig = rig_create(QP_RC, mtu);
	sim_time start = 0;

	for (unsigned i = 0; i < WARM_UP_RECEIVES; i++)
		mini_receive(rig.peer, rig.target, bytes);
	for (unsigned i = 0; i < 3;
	     i++) { /* the caches, and the receive WQEs, are warm for the last */
		mini_run(rig.mini);
		start = sim_now(rig.mini->sim);
		mini_post(rig.qp, &(struct mini_send){.opcode = WQE_SEND,
						      .address = rig.source,
						      .length = bytes,
						      .is_inline = is_inline,
						      .blueflame = true});
		mini_wait(rig.peer->recv_cq);
	}
	start = sim_now(rig.mini->sim) - start;
	rig_destroy(&rig);
	return start;
}

static void check_latency(uint32_t bytes, bool is_inline, double microseconds)
{
	double measured = (double)one_way(4096, bytes, is_inline) / (double)US;

	CU_ASSERT_DOUBLE_EQUAL(measured, microseconds, 0.1 * microseconds);
}

static void test_latency(void)
{
	check_latency(32, true, 0.82);
	check_latency(1024, false, 1.565);
	check_latency(4096, false, 2.26);
	check_latency(32768, false, 4.57);
}

static void test_flat_over_the_mtu(void)
{
	sim_time largest = one_way(4096, 4096, false);

	for (uint32_t mtu = 256; mtu < 4096; mtu *= 2) {
		sim_time latency = one_way(mtu, 4096, false);

		CU_ASSERT_TRUE(latency >= largest);
		CU_ASSERT_TRUE((double)latency < 1.02 * (double)largest);
	}
}

static double ceiling(uint32_t mtu)
{
	return (double)EDR_BPS * mtu / (mtu + IB_HEADER_BYTES);
}

static double stream(struct rig *rig, uint8_t opcode, bool both)
{
	sim_time start;

	mini_run(rig->mini);
	start = sim_now(rig->mini->sim);
	for (unsigned i = 0; i < STREAM_COUNT; i++) {
		rig_post(rig, opcode, STREAM_BYTES);
		if (both)
			mini_post(rig->peer, &(struct mini_send){.opcode = opcode,
								 .address = rig->target,
								 .length = STREAM_BYTES,
								 .remote = rig->source});
	}
	for (unsigned i = 0; i < STREAM_COUNT; i++) {
		mini_wait(rig->qp->send_cq);
		if (both)
			mini_wait(rig->peer->send_cq);
	}
	return (double)STREAM_COUNT * STREAM_BYTES * 8 * (double)SEC /
	       (double)(sim_now(rig->mini->sim) - start);
}

static void test_bandwidth(void)
{
	for (uint32_t mtu = 256; mtu <= 4096; mtu *= 4) {
		struct rig rig = rig_create(QP_RC, mtu);
		double limit = ceiling(mtu);

		CU_ASSERT_TRUE(stream(&rig, WQE_WRITE, false) > 0.995 * limit);
		CU_ASSERT_TRUE(stream(&rig, WQE_WRITE, false) <= limit);
		CU_ASSERT_TRUE(stream(&rig, WQE_READ, false) > 0.995 * limit);
		CU_ASSERT_EQUAL(rig_count(&rig, "transport", "packets_retransmitted"), 0);
		rig_destroy(&rig);
	}
}

static void test_both_directions(void)
{
	struct rig rig = rig_create(QP_RC, 4096);

	CU_ASSERT_TRUE(stream(&rig, WQE_WRITE, true) > 0.985 * ceiling(4096));
	rig_destroy(&rig);
}

/* One nanosecond more in a block is one nanosecond more from end to end, to the picosecond. */
static void test_parameters_add_up(void)
{
	static const struct {
		size_t offset;
		unsigned times;
	} blocks[] = {
		{offsetof(struct hca_params, doorbell.latency), 1},
		{offsetof(struct hca_params, scheduler.latency), 1},
		{offsetof(struct hca_params, wqe_fetch.latency), 1},
		{offsetof(struct hca_params, transmit.latency), 1},
		{offsetof(struct hca_params, receive.latency), 1},
		{offsetof(struct hca_params, completion.latency), 1},
	};
	sim_time before = 0;

	for (size_t i = 0; i <= ARRAY_SIZE(blocks); i++) {
		struct rig rig = {.mini = mini_create(SIM_ENGINE_native)};
		sim_time start, latency;

		if (i)
			*(sim_time *)(void *)((char *)&rig.mini->params + blocks[i - 1].offset) +=
				1234 * blocks[i - 1].times;
		mini_start(rig.mini, LINK_INFINIBAND);
		rig.qp = mini_qp_create(&rig.mini->hosts[0], QP_RC);
		rig.peer = mini_qp_create(&rig.mini->hosts[1], QP_RC);
		mini_connect(rig.qp, rig.peer, 1024);
		rig.source = mini_alloc(&rig.mini->hosts[0], 4096);
		mini_receive(rig.peer, 0, 0);
		mini_receive(rig.peer, 0, 0);
		start = 0;
		for (unsigned n = 0; n < 2; n++) {
			mini_run(rig.mini);
			start = sim_now(rig.mini->sim);
			mini_post(rig.qp, &(struct mini_send){.opcode = WQE_SEND,
							      .solicited = true,
							      .blueflame = true});
			mini_wait(rig.peer->recv_cq);
		}
		latency = sim_now(rig.mini->sim) - start;
		if (i)
			CU_ASSERT_EQUAL(latency, before + 1234 * blocks[i - 1].times);
		if (!i)
			before = latency;
		mini_run(rig.mini);
		mini_qp_destroy(rig.qp);
		mini_qp_destroy(rig.peer);
		mini_destroy(rig.mini);
	}
}

#define TURN (10 * US) /* so long that nothing else limits the rate */

/* Returns the time between the CQEs of two messages of 1024 B. A processing unit or the READ engine
 * takes a turn for each packet. */
static sim_time turn_of_packets(uint8_t opcode, uint32_t mtu, uint64_t segment_bytes,
				sim_time packet_interval, sim_time read_interval,
				sim_time response_interval)
{
	struct mini *mini = mini_create(SIM_ENGINE_native);
	uint32_t length = opcode == WQE_FETCH_ADD ? 8 : 1024;
	sim_time first;
	struct rig rig;

	mini->params.scheduler.response_segment = segment_bytes;
	mini->params.scheduler.packet_interval = packet_interval;
	mini->params.scheduler.read_interval = read_interval;
	mini->params.scheduler.response_interval = response_interval;
	rig = rig_create_on(mini, QP_RC, LINK_INFINIBAND, mtu);
	rig_post(&rig, opcode, length); /* the caches are warm for the others */
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, 0);
	mini_run(rig.mini);
	rig_post(&rig, opcode, length);
	rig_post(&rig, opcode, length);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, 0);
	first = sim_now(mini->sim);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, 0);
	first = sim_now(mini->sim) - first;
	rig_destroy(&rig);
	return first;
}

static sim_time turn_of(uint8_t opcode, uint64_t segment_bytes, sim_time packet_interval,
			sim_time read_interval, sim_time response_interval)
{
	return turn_of_packets(opcode, 1024, segment_bytes, packet_interval, read_interval,
			       response_interval);
}

/* Each begun segment of a response takes a turn, and each packet takes at least one. Messages that
 * are no responses have no segments. */
static void test_turns_by_segments(void)
{
	CU_ASSERT_EQUAL(turn_of(WQE_READ, 4096, 0, 0, TURN), TURN);
	CU_ASSERT_EQUAL(turn_of(WQE_READ, 1024, 0, 0, TURN), TURN);
	CU_ASSERT_EQUAL(turn_of(WQE_READ, 1023, 0, 0, TURN), 2 * TURN);
	CU_ASSERT_EQUAL(turn_of(WQE_READ, 256, 0, 0, TURN), 4 * TURN);
	CU_ASSERT_EQUAL(turn_of_packets(WQE_READ, 256, 4096, 0, 0, TURN), 4 * TURN);
	CU_ASSERT_EQUAL(turn_of(WQE_WRITE, 256, TURN, 0, TURN), TURN);
}

/* READs and atomics have an interval of their own. */
static void test_turns_by_kind(void)
{
	CU_ASSERT_EQUAL(turn_of(WQE_WRITE, 4096, TURN, 3 * TURN, 0), TURN);
	CU_ASSERT_EQUAL(turn_of(WQE_READ, 4096, TURN, 3 * TURN, 0), 3 * TURN);
	CU_ASSERT_EQUAL(turn_of(WQE_FETCH_ADD, 4096, TURN, 3 * TURN, 0), 3 * TURN);
}

/* Returns the time until all inline WRITEs of two queue pairs of one unit are complete. Each queue
 * pair has one doorbell. */
static sim_time two_lists(unsigned count)
{
	struct mini *mini = mini_create(SIM_ENGINE_native);
	sim_time start = 0, taken = 0;
	struct rig rigs[2];

	mini->params.scheduler.processing_units = 1;
	mini->params.scheduler.packet_interval = 16 * NS;
	mini->params.scheduler.latency = 100 * NS;
	rigs[0] = rigs[1] = rig_create_on(mini, QP_RC, LINK_INFINIBAND, 1024);
	rigs[1].qp = mini_qp_create(rigs[0].one, QP_RC);
	rigs[1].peer = mini_qp_create(rigs[0].other, QP_RC);
	mini_connect(rigs[1].qp, rigs[1].peer, 1024);
	for (unsigned round = 0; round < 2; round++) { /* the caches are warm for the second */
		start = sim_now(mini->sim);
		for (unsigned i = 0; i < 2; i++)
			for (unsigned j = 1; j <= count; j++)
				mini_post(rigs[i].qp,
					  &(struct mini_send){.opcode = WQE_WRITE,
							      .address = rigs[i].source,
							      .length = 8,
							      .remote = rigs[i].target,
							      .is_inline = true,
							      .unsignaled = j < count,
							      .no_doorbell = j < count});
		for (unsigned i = 0; i < 2; i++)
			CHECK_WC(mini_wait(rigs[i].qp->send_cq), CQE_SENT, 0);
		taken = sim_now(mini->sim) - start;
		mini_run(mini);
	}
	mini_qp_destroy(rigs[1].qp);
	mini_qp_destroy(rigs[1].peer);
	rig_destroy(&rigs[0]);
	return taken;
}

/* While others wait in the ring a unit has turns at its interval, however much longer a first turn
 * takes. */
static void test_turns_in_a_row(void)
{
	sim_time more = two_lists(24) - two_lists(8);

	CU_ASSERT_EQUAL(more, 2 * (24 - 8) * 16 * NS);
}

/* A READ of each of four idle queue pairs, posted at once. The first takes its time alone. Each
 * other READ takes one engine interval more. */
static void test_burst_of_reads(void)
{
	enum { QUEUE_PAIRS = 4 };
	struct mini *mini = mini_create(SIM_ENGINE_native);
	struct rig rigs[QUEUE_PAIRS];
	sim_time start = 0, alone = 0;

	mini->params.scheduler.read_interval = TURN;
	rigs[0] = rig_create_on(mini, QP_RC, LINK_INFINIBAND, 1024);
	for (unsigned i = 1; i < QUEUE_PAIRS; i++) {
		rigs[i] = rigs[0];
		rigs[i].qp = mini_qp_create(rigs[0].one, QP_RC);
		rigs[i].peer = mini_qp_create(rigs[0].other, QP_RC);
		mini_connect(rigs[i].qp, rigs[i].peer, 1024);
	}
	for (unsigned round = 0; round < 2; round++) { /* the caches are warm for the second */
		for (unsigned i = 0; i < QUEUE_PAIRS; i++) {
			start = sim_now(mini->sim);
			rig_post(&rigs[i], WQE_READ, 64);
			CHECK_WC(mini_wait(rigs[i].qp->send_cq), CQE_SENT, 0);
			alone = sim_now(mini->sim) - start;
			mini_run(mini);
		}
	}
	start = sim_now(mini->sim);
	for (unsigned i = 0; i < QUEUE_PAIRS; i++)
		rig_post(&rigs[i], WQE_READ, 64);
	for (unsigned i = 0; i < QUEUE_PAIRS; i++) {
		sim_time taken;

		CHECK_WC(mini_wait(rigs[i].qp->send_cq), CQE_SENT, 0);
		taken = sim_now(mini->sim) - start;
		CU_ASSERT_TRUE(taken >= alone + i * TURN);
		CU_ASSERT_TRUE(taken <
			       alone + i * TURN +
				       200 * NS); /* stores and WQEs come one after the other */
	}
	mini_run(mini);
	for (unsigned i = 1; i < QUEUE_PAIRS; i++) {
		mini_qp_destroy(rigs[i].qp);
		mini_qp_destroy(rigs[i].peer);
	}
	rig_destroy(&rigs[0]);
}
