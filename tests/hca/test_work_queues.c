/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the queues around the transports. The adapter reads neither inline data nor a WQE that came
 * by BlueFlame. Rings wrap. The other tests are of completion queues (arming, overrun, resizing, 64
 * and 128 bytes), concurrent atomics, fences, limits on outstanding reads, and loopback.
 */
#include "hca/formats/cqe.h"
#include "tests/hca/support/rig.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                      \
	TEST(blueflame_and_inline)       \
	TEST(inline_ahead_of_a_list)     \
	TEST(rings_wrap)                 \
	TEST(a_list_behind_one_doorbell) \
	TEST(arming)                     \
	TEST(arming_on_its_way)          \
	TEST(cq_overrun)                 \
	TEST(cq_overrun_of_receives)     \
	TEST(cq_resize)                  \
	TEST(atomics)                    \
	TEST(fence)                      \
	TEST(read_after_write)           \
	TEST(drain)                      \
	TEST(rate_limit)                 \
	TEST(loopback)                   \
	TEST(three_engines_one_result)
SUITE(TESTS)

static void test_blueflame_and_inline(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	uint32_t reads;

	mini_fill(rig.one, rig.source, 100, 1);
	mini_post(rig.qp, &(struct mini_send){.opcode = WQE_WRITE,
					      .address = rig.source,
					      .length = 100,
					      .remote = rig.target,
					      .is_inline = true,
					      .blueflame = true});
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, 0);
	mini_run(rig.mini);
	CU_ASSERT_TRUE(mini_matches(rig.other, rig.target, 100, 1));
	CU_ASSERT_EQUAL(rig_count(&rig, "wqe_fetch", "reads"), 0);
	CU_ASSERT_EQUAL(rig_count(&rig, "wqe_fetch", "blueflame"), 1);
	CU_ASSERT_EQUAL(rig_count(&rig, "doorbell", "blueflame"), 1);
	reads = rig_count(&rig, "pcie", "reads");
	CU_ASSERT_EQUAL(reads, 2); /* the contexts of the QP and of the CQ, for the first time */
	mini_post(rig.qp, &(struct mini_send){.opcode = WQE_WRITE,
					      .address = rig.source,
					      .length = 100,
					      .remote = rig.target,
					      .is_inline = true});
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, 0);
	CU_ASSERT_EQUAL(rig_count(&rig, "wqe_fetch", "reads"), 1);
	rig_destroy(&rig);
}

/* An inline header and a list behind it. The first packet of a message holds bytes of both. */
static void test_inline_ahead_of_a_list(void)
{
	struct rig rig = rig_create(QP_RC, 1024);

	for (uint32_t bytes = 41; bytes <= 2500; bytes += 2459) {
		struct data_segment list[2] = {
			{.address = rig.source + 40, .length = 1, .key = rig.one->key},
			{.address = rig.source + 41, .length = bytes - 41, .key = rig.one->key}};

		mini_fill(rig.one, rig.source, bytes, bytes);
		mini_post(rig.qp, &(struct mini_send){.opcode = WQE_WRITE,
						      .address = rig.source,
						      .length = 40,
						      .is_inline = true,
						      .list = list,
						      .list_count = bytes > 41 ? 2 : 1,
						      .remote = rig.target});
		CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, 0);
		mini_run(rig.mini);
		CU_ASSERT_TRUE(mini_matches(rig.other, rig.target, bytes, bytes));
	}
	rig_destroy(&rig);
}

static void test_rings_wrap(void)
{
	struct rig rig = rig_create(QP_RC, 1024);

	/* 3 blocks a WQE in a ring of 64: WQEs wrap in their middle */
	for (uint32_t i = 0; i < 2000; i++) {
		mini_fill(rig.one, rig.source, 150, i);
		mini_receive(rig.peer, rig.target, 150);
		mini_post(rig.qp, &(struct mini_send){.opcode = WQE_SEND,
						      .address = rig.source,
						      .length = 150,
						      .is_inline = true,
						      .blueflame = i % 3 == 0});
		CU_ASSERT_EQUAL(mini_wait(rig.peer->recv_cq).wqe_counter, i & 0xffff);
		CU_ASSERT_EQUAL(mini_wait(rig.qp->send_cq).wqe_counter, 3 * i & 0xffff);
		CU_ASSERT_TRUE(mini_matches(rig.other, rig.target, 150, i));
	}
	rig_destroy(&rig);
}

static void test_a_list_behind_one_doorbell(void)
{
	struct rig rig = rig_create(QP_RC, 1024);

	for (unsigned i = 0; i < 60; i++)
		mini_post(rig.qp, &(struct mini_send){.opcode = WQE_WRITE,
						      .address = rig.source,
						      .length = 8,
						      .remote = rig.target + 8 * i,
						      .no_doorbell = i != 59,
						      .unsignaled = i != 59});
	CU_ASSERT_EQUAL(mini_wait(rig.qp->send_cq).wqe_counter, 59);
	CU_ASSERT_EQUAL(rig_count(&rig, "doorbell", "doorbells"), 1);
	CU_ASSERT_EQUAL(rig_count(&rig, "wqe_fetch", "reads"), 8);
	CU_ASSERT_EQUAL(rig_count(&rig, "completion", "cqes"), 1);
	rig_destroy(&rig);
}

static void test_arming(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	struct mini_host *other = rig.other;

	for (unsigned i = 0; i < 8; i++)
		mini_receive(rig.peer, rig.target, 64);
	rig_post(&rig, WQE_SEND, 8);
	mini_run(rig.mini);
	mini_arm(rig.peer->recv_cq, false); /* the driver has not taken it */
	mini_run(rig.mini);
	CU_ASSERT_EQUAL(other->cq_events, 1);
	mini_arm(rig.peer->recv_cq, false); /* that is no news */
	mini_run(rig.mini);
	CU_ASSERT_EQUAL(other->cq_events, 1);
	rig_post(&rig, WQE_SEND, 8);
	rig_post(&rig, WQE_SEND, 8);
	mini_run(rig.mini);
	CU_ASSERT_EQUAL(other->cq_events, 2); /* one for two */
	mini_arm(rig.peer->recv_cq, true);
	rig_post(&rig, WQE_SEND, 8);
	mini_run(rig.mini);
	CU_ASSERT_EQUAL(other->cq_events, 2);
	mini_post(rig.qp, &(struct mini_send){.opcode = WQE_SEND,
					      .address = rig.source,
					      .length = 8,
					      .solicited = true});
	mini_run(rig.mini);
	CU_ASSERT_EQUAL(other->cq_events, 3);
	mini_arm(rig.peer->recv_cq, true);
	mini_run(rig.mini);
	mini_to(rig.peer, STATE_ERR); /* an error counts as solicited */
	mini_run(rig.mini);
	CU_ASSERT_EQUAL(other->cq_events, 4);
	rig_destroy(&rig);
}

/* Until its CQE is visible. */
static sim_time send_time(struct rig *rig)
{
	sim_time start = sim_now(rig->mini->sim);

	rig_post(rig, WQE_SEND, 8);
	mini_wait(rig->peer->recv_cq);
	start = sim_now(rig->mini->sim) - start;
	mini_run(rig->mini);
	return start;
}

/* A driver arms, finds the queue empty, and waits. The queue is woken by a CQE: after the doorbell,
 * while the doorbell was in flight to the adapter (182 ns), or before it was stored. */
static void test_arming_on_its_way(void)
{
	static const sim_time stored_before[] = {400 * NS, 182 * NS, 181 * NS, 100 * NS, 1, 0};
	struct rig rig = rig_create(QP_RC, 1024);
	sim_time latency;

	for (unsigned i = 0; i < 16; i++)
		mini_receive(rig.peer, rig.target, 64);
	send_time(&rig);
	send_time(&rig);
	latency = send_time(&rig);
	for (unsigned i = 0; i < ARRAY_SIZE(stored_before); i++) {
		rig_post(&rig, WQE_SEND, 8);
		sim_run(rig.mini->sim, sim_now(rig.mini->sim) + latency - stored_before[i]);
		mini_arm(rig.peer->recv_cq, false);
		mini_run(rig.mini);
		CU_ASSERT_EQUAL(rig.other->cq_events, i + 1);
		mini_wait(rig.peer->recv_cq);
	}
	rig_destroy(&rig);
}

static void swap_cq(struct mini_qp *qp, struct mini_cq cq)
{
	hca_cq_destroy(qp->host->adapter, qp->send_cq->number);
	*qp->send_cq = cq;
}

/* Returns a QP whose own send CQ has 4 entries. */
static struct mini_qp *small_cq_qp(struct rig *rig)
{
	struct mini_qp *qp = mini_qp_create(rig->one, QP_RC);
	struct hca_qp_attr attr = qp->attr;
	struct mini_cq cq = mini_cq_create(rig->one, 4, 64);
	int error;

	hca_qp_destroy(rig->one->adapter, qp->number);
	swap_cq(qp, cq);
	attr.send_cqn = cq.number;
	qp->number = 0;
	error = hca_qp_create(rig->one->adapter, &attr, &qp->number);
	CU_ASSERT_EQUAL_FATAL(error, 0);
	qp->attr = attr;
	mini_to(rig->peer, STATE_RESET);
	mini_connect(qp, rig->peer, 1024);
	return qp;
}

static void post_write(struct rig *rig, struct mini_qp *qp)
{
	mini_post(qp, &(struct mini_send){.opcode = WQE_WRITE,
					  .address = rig->source,
					  .length = 8,
					  .remote = rig->target});
}

static void test_cq_overrun(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	struct mini_qp *qp = small_cq_qp(&rig);

	for (unsigned i = 0; i < 4; i++)
		post_write(&rig, qp);
	mini_run(rig.mini);
	for (unsigned i = 0; i < 4; i++)
		mini_wait(qp->send_cq);
	for (unsigned i = 0; i < 4; i++) /* the record shows the new room */
		post_write(&rig, qp);
	mini_run(rig.mini);
	CU_ASSERT_EQUAL(rig.one->async_count, 0);
	/* The record is read when the CQ is half full. It is read again when the fifth CQE finds
	 * the CQ full by the old record, and at the next half. */
	CU_ASSERT_EQUAL(rig_count(&rig, "completion", "record_reads"), 3);
	post_write(&rig, qp);
	mini_run(rig.mini);
	/* The queue pair that lost a CQE goes to ERR: C9-218 of IBTA vol. 1. */
	CU_ASSERT_EQUAL(rig.one->async_count, 2);
	CU_ASSERT_EQUAL(rig.one->asyncs[0].what, ASYNC_CQ_ERROR);
	CU_ASSERT_EQUAL(rig.one->asyncs[0].number, qp->send_cq->number);
	CU_ASSERT_EQUAL(rig.one->asyncs[1].what, ASYNC_QP_FATAL);
	CU_ASSERT_EQUAL(rig.one->asyncs[1].number, qp->number);
	CU_ASSERT_EQUAL(rig_count(&rig, "completion", "lost"), 1);
	post_write(&rig, qp);
	mini_run(rig.mini);
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "wqes_flushed"), 1);
	CU_ASSERT_EQUAL(rig.one->async_count, 2);
	mini_qp_destroy(qp);
	rig_destroy(&rig);
}

/* Receives, too. A queue pair that was reset meanwhile is not touched. */
static void test_cq_overrun_of_receives(void)
{
	for (unsigned reset = 0; reset < 2; reset++) {
		struct rig rig = rig_create(QP_RC, 1024);
		struct mini_cq cq = mini_cq_create(rig.one, 4, 64);
		struct mini_qp *qp =
			mini_qp_create_with(rig.one, (struct hca_qp_attr){.type = QP_RC,
									  .sq_blocks = 64,
									  .rq_entries = 64,
									  .recv_cqn = cq.number});

		mini_to(rig.peer, STATE_RESET);
		mini_connect(qp, rig.peer, 1024);
		mini_connect(rig.peer, qp, 1024);
		for (unsigned i = 0; i < 6; i++)
			mini_receive(qp, rig.source, 64);
		for (unsigned i = 0; i < 6; i++)
			mini_post(rig.peer, &(struct mini_send){.opcode = WQE_SEND,
								.address = rig.target,
								.length = 64});
		if (reset) {
			while (rig_count(&rig, "completion", "asked") < 6)
				sim_run(rig.mini->sim, sim_next(rig.mini->sim) + 1);
			mini_to(qp, STATE_RESET);
		}
		mini_run(rig.mini);
		CU_ASSERT_EQUAL(rig_count(&rig, "completion", "overruns"), 1);
		CU_ASSERT_EQUAL(rig_count(&rig, "completion", "lost"), 2);
		CU_ASSERT_EQUAL(rig.one->asyncs[0].what, ASYNC_CQ_ERROR);
		CU_ASSERT_EQUAL(rig.one->async_count, reset ? 1 : 2);
		if (!reset)
			CU_ASSERT_EQUAL(rig.one->asyncs[1].what, ASYNC_QP_FATAL);
		mini_qp_destroy(qp);
		CU_ASSERT_EQUAL(hca_cq_destroy(rig.one->adapter, cq.number), 0);
		rig_destroy(&rig);
	}
}

static void test_cq_resize(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	struct mini_qp *qp = small_cq_qp(&rig);
	struct mini_cq *cq = qp->send_cq;
	struct mini_cq larger = mini_cq_create(rig.one, 16, 128);
	struct mini_wc wc;
	int error;

	post_write(&rig, qp);
	post_write(&rig, qp);
	mini_run(rig.mini);
	error = hca_cq_resize(rig.one->adapter, cq->number, larger.buffer, 16, 128);
	CU_ASSERT_EQUAL(error, 0);
	mini_run(rig.mini);
	CHECK_WC(mini_wait(cq), CQE_SENT, 0);
	CHECK_WC(mini_wait(cq), CQE_SENT, 0);
	CHECK_WC(mini_wait(cq), CQE_RESIZE, 0);
	cq->buffer = larger.buffer;
	cq->entries = 16;
	cq->cqe_bytes = 128;
	for (unsigned i = 0; i < 40; i++) {
		post_write(&rig, qp);
		wc = mini_wait(cq);
		CHECK_WC(wc, CQE_SENT, 0);
		CU_ASSERT_EQUAL(wc.wqe_counter, i + 2);
	}
	mini_qp_destroy(qp);
	rig_destroy(&rig);
}

static void post_atomic(struct rig *rig, uint8_t opcode, uint32_t slot, uint64_t swap_or_add,
			uint64_t compare)
{
	mini_post(rig->qp, &(struct mini_send){.opcode = opcode,
					       .address = rig->source + 8 * slot,
					       .length = 8,
					       .remote = rig->target,
					       .swap_or_add = swap_or_add,
					       .compare = compare});
}

static void test_atomics(void)
{
	struct rig rig = rig_create(QP_RC, 1024);

	mini_put_u64(rig.other, rig.target, 100);
	for (uint32_t i = 0; i < 30; i++) /* more than may be outstanding */
		post_atomic(&rig, WQE_FETCH_ADD, i, i, 0);
	for (uint32_t i = 0; i < 30; i++)
		CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, 0);
	for (uint32_t i = 0, sum = 100; i < 30; sum += i++)
		CU_ASSERT_EQUAL(mini_u64(rig.one, rig.source + 8 * i), sum);
	post_atomic(&rig, WQE_COMPARE_SWAP, 0, 7, 535);
	post_atomic(&rig, WQE_COMPARE_SWAP, 1, 8, 535);
	mini_run(rig.mini);
	CU_ASSERT_EQUAL(mini_u64(rig.one, rig.source), 535);
	CU_ASSERT_EQUAL(mini_u64(rig.one, rig.source + 8), 7);
	CU_ASSERT_EQUAL(mini_u64(rig.other, rig.target), 7);
	rig_destroy(&rig);
}

/* A fenced write waits for the read before it. */
static void test_fence(void)
{
	struct rig rig = rig_create(QP_RC, 1024);

	mini_fill(rig.other, rig.target, 4096, 1);
	mini_fill(rig.one, rig.source + 8192, 4096, 2);
	rig_post(&rig, WQE_READ, 4096);
	mini_post(rig.qp, &(struct mini_send){.opcode = WQE_WRITE,
					      .address = rig.source,
					      .length = 4096,
					      .remote = rig.target + 8192,
					      .fence = true});
	mini_run(rig.mini);
	CU_ASSERT_TRUE(mini_matches(rig.other, rig.target + 8192, 4096, 1));
	rig_destroy(&rig);
}

/* A READ sees the data of an earlier WRITE on the same QP. */
static void test_read_after_write(void)
{
	struct rig rig = rig_create(QP_RC, 256);

	for (uint32_t i = 0; i < 50; i++) {
		mini_fill(rig.one, rig.source, 9000, i);
		rig_post(&rig, WQE_WRITE, 9000);
		mini_post(rig.qp, &(struct mini_send){.opcode = WQE_READ,
						      .address = rig.source + 65536,
						      .length = 9000,
						      .remote = rig.target});
		mini_wait(rig.qp->send_cq);
		mini_wait(rig.qp->send_cq);
		CU_ASSERT_TRUE(mini_matches(rig.one, rig.source + 65536, 9000, i));
	}
	rig_destroy(&rig);
}

static void test_drain(void)
{
	struct rig rig = rig_create(QP_RC, 1024);

	for (unsigned i = 0; i < 20; i++)
		rig_post(&rig, WQE_WRITE, 60000);
	sim_run(rig.mini->sim, sim_now(rig.mini->sim) + 10 * US);
	mini_to(rig.qp, STATE_SQD);
	mini_run(rig.mini);
	CU_ASSERT_EQUAL(rig.one->async_count, 1);
	CU_ASSERT_EQUAL(rig.one->asyncs[0].what, ASYNC_SQ_DRAINED);
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "wqes_completed"), 2); /* 4.8 us each */
	mini_to(rig.qp, STATE_RTS);
	mini_run(rig.mini);
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "wqes_completed"), 20);
	rig_destroy(&rig);
}

static void test_rate_limit(void)
{
	struct rig rig = rig_create(QP_RC, 4096);
	struct hca_qp_state state = {.mask = QP_SET_RATE_LIMIT, .rate_limit_bps = 10000000000};
	sim_time start = sim_now(rig.mini->sim);
	double gigabits;

	hca_qp_modify(rig.one->adapter, rig.qp->number, &state);
	rig_post(&rig, WQE_WRITE, 1 << 20);
	mini_wait(rig.qp->send_cq);
	gigabits = (double)(1 << 20) * 8 * 1000 / (double)(sim_now(rig.mini->sim) - start);
	CU_ASSERT_DOUBLE_EQUAL(gigabits, 10.0 * 4096 / 4122, 0.1);
	rig_destroy(&rig);
}

/* Both ends on one adapter: nothing reaches the port. */
static void test_loopback(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	struct mini_qp *one = mini_qp_create(rig.one, QP_RC), *two = mini_qp_create(rig.one, QP_RC);
	struct hca_qp_state state = mini_state(rig.one, 1024);
	struct path path = *state.path;
	uint64_t target = mini_alloc(rig.one, 65536);

	path.destination = path.source;
	state.path = path_intern(endpoints_paths(rig.mini->endpoints), &path);
	mini_connect_with(one, state, two->number);
	mini_connect_with(two, state, one->number);
	mini_fill(rig.one, rig.source, 50000, 1);
	mini_post(one, &(struct mini_send){.opcode = WQE_WRITE,
					   .address = rig.source,
					   .length = 50000,
					   .remote = target,
					   .rkey = rig.one->key});
	CHECK_WC(mini_wait(one->send_cq), CQE_SENT, 0);
	mini_run(rig.mini);
	CU_ASSERT_TRUE(mini_matches(rig.one, target, 50000, 1));
	CU_ASSERT_EQUAL(rig_count(&rig, "transmit", "packets"), 0);
	CU_ASSERT_EQUAL(rig_count(&rig, "transmit", "loopback"),
			49 + 1); /* of 1024 B, and an ACK */
	mini_qp_destroy(one);
	mini_qp_destroy(two);
	rig_destroy(&rig);
}

/* The same work on each engine ends at the same picosecond with the same counters. */
static uint64_t digest(enum sim_engine engine)
{
	struct rig rig = rig_create_with(engine, QP_RC, LINK_INFINIBAND, 256);
	uint64_t hash = 1469598103934665603u;

	rig_drop(&rig, false, FAULT_ANY_OPCODE, 0, 0.02);
	rig_drop(&rig, true, FAULT_ANY_OPCODE, 0, 0.02);
	for (unsigned i = 0; i < 40; i++) {
		rig_post(&rig, i % 3 ? WQE_WRITE : WQE_READ, 5000 + i);
		mini_wait(rig.qp->send_cq);
		hash = (hash ^ sim_now(rig.mini->sim)) * 1099511628211u;
	}
	mini_run(rig.mini);
	for (struct block *block = sim_blocks(rig.mini->sim); block; block = block->next)
		for (unsigned i = 0; block->counts && block->type->counters[i].name; i++)
			hash = (hash ^ block->counts[i]) * 1099511628211u;
	rig_destroy(&rig);
	return hash;
}

static void test_three_engines_one_result(void)
{
	uint64_t native = digest(SIM_ENGINE_native);

	CU_ASSERT_EQUAL(native, digest(SIM_ENGINE_native));
	CU_ASSERT_EQUAL(native, digest(SIM_ENGINE_systemc));
	CU_ASSERT_EQUAL(native, digest(SIM_ENGINE_systemc_reference));
}
