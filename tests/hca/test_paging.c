/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests on-demand paging, to the picosecond for a single fault. Covers the time and pages of a
 * fault. Faults merge, wait for a handler, or concern a destroyed region. A requester stalls while
 * others continue. A responder sends RNR NAKs until the pages are present. A response is dropped
 * and requested again. Covers messages over many pages, atomics, and queue pairs that fail or are
 * destroyed meanwhile. Unreliable queue pairs do not use it. The time of a fault is in the stage
 * with its name.
 */
#include <errno.h>

#include "hca/context/paging.h"
#include "hca/context/paging_params.h"
#include "hca/formats/cqe.h"
#include "tests/hca/support/rig.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                             \
	TEST(one_fault)                         \
	TEST(prefetch)                          \
	TEST(handlers_and_the_reach_of_a_fault) \
	TEST(a_region_that_is_gone)             \
	TEST(all_that_there_is)                 \
	TEST(advice)                            \
	TEST(a_requester_stalls)                \
	TEST(others_go_on)                      \
	TEST(a_responder_refuses)               \
	TEST(a_send_over_pages)                 \
	TEST(a_response_is_dropped)             \
	TEST(failed_while_waiting)              \
	TEST(destroyed_while_waiting)           \
	TEST(unreliable_queue_pairs)
SUITE(TESTS)

#define LATENCY      (220 * US)
#define PAGE_LATENCY (60 * NS)
#define PAGE         4096
#define ALL_RIGHTS   (MR_LOCAL_WRITE | MR_REMOTE_WRITE | MR_REMOTE_READ | MR_REMOTE_ATOMIC)

/* ---- faults alone ---- */

struct waiting {
	struct paging_waiter waiter;
	struct sim *sim;
	sim_time done_at;
};

static void note_done(struct paging_waiter *waiter)
{
	struct waiting *waiting = container_of(waiter, struct waiting, waiter);

	waiting->done_at = sim_now(waiting->sim);
}

struct alone {
	struct sim *sim;
	struct mr_table *regions;
	struct paging *paging;
	struct mr *mr; /* 1024 pages, from the middle of one on */
	struct waiting waiting[4];
};

static struct alone alone_create(uint64_t handlers, uint64_t prefetch)
{
	struct alone alone = {.sim = sim_create(SIM_ENGINE_native, 1)};
	struct paging_params params;

	params_default(paging_param_list, &params);
	params.handlers = handlers;
	params.prefetch = prefetch;
	alone.regions = mr_table_create(16);
	alone.paging = paging_create(alone.sim, "paging", &params, alone.regions);
	alone.mr = mr_table_add(alone.regions, &(struct mr){.page_shift = 12,
							    .address = 0x5000800,
							    .host_address = 0x800,
							    .length = 1024 * PAGE - 0x800,
							    .valid = true,
							    .on_demand = true});
	for (unsigned i = 0; i < 4; i++)
		alone.waiting[i].waiter.done = note_done;
	return alone;
}

static void fault(struct alone *alone, unsigned page, unsigned count, struct waiting *waiting)
{
	uint64_t address = alone->mr->address - 0x800 + (uint64_t)page * PAGE;

	waiting->sim = alone->sim;
	paging_fault(alone->paging, alone->mr, page ? address : address + 0x800,
		     (uint64_t)count * PAGE - (page ? 0 : 0x800), &waiting->waiter);
}

static bool is_present(const struct alone *alone, unsigned page, unsigned count)
{
	return paging_present(
		alone->mr, alone->mr->address - 0x800 + (uint64_t)page * PAGE + (page ? 0 : 0x800),
		(uint64_t)count * PAGE - (page ? 0 : 0x800));
}

static void alone_destroy(struct alone *alone)
{
	CU_ASSERT_EQUAL(blocks_check(alone->sim, stderr), 0);
	paging_destroy(alone->paging);
	mr_table_destroy(alone->regions);
	sim_destroy(alone->sim);
}

static void test_one_fault(void)
{
	struct alone alone = alone_create(32, 1 << 22);

	CU_ASSERT_FALSE(is_present(&alone, 0, 1));
	fault(&alone, 0, 3, &alone.waiting[0]);
	sim_run(alone.sim, 100 * US);
	fault(&alone, 2, 2, &alone.waiting[1]); /* page 2 comes already, page 3 does not */
	sim_run(alone.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(alone.waiting[0].done_at, LATENCY + 2 * PAGE_LATENCY);
	CU_ASSERT_EQUAL(alone.waiting[1].done_at, LATENCY + 2 * PAGE_LATENCY);
	CU_ASSERT_TRUE(is_present(&alone, 0, 3));
	CU_ASSERT_FALSE(is_present(&alone, 2, 2));
	CU_ASSERT_EQUAL(paging_counters(alone.paging)->faults, 1);
	CU_ASSERT_EQUAL(paging_counters(alone.paging)->joins, 1);
	CU_ASSERT_EQUAL(paging_counters(alone.paging)->pages, 3);
	CU_ASSERT_EQUAL(paging_counters(alone.paging)->fault_time, LATENCY + 2 * PAGE_LATENCY);
	alone_destroy(&alone);
}

/* The program prefetches. Each missing page costs the driver's time once, and raises no fault.
 * Requests for these pages wait for the prefetch. */
static void test_prefetch(void)
{
	struct alone alone = alone_create(1, 1 << 22);
	uint64_t page = alone.mr->address - 0x800 + PAGE;

	CU_ASSERT_EQUAL(paging_prefetch(alone.paging, alone.mr, page, 4 * PAGE), 4 * PAGE_LATENCY);
	fault(&alone, 2, 1, &alone.waiting[0]);
	CU_ASSERT_FALSE(is_present(&alone, 1, 4));
	sim_run(alone.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(alone.waiting[0].done_at, 4 * PAGE_LATENCY);
	CU_ASSERT_TRUE(is_present(&alone, 1, 4));
	CU_ASSERT_FALSE(is_present(&alone, 0, 1));
	CU_ASSERT_EQUAL(paging_prefetch(alone.paging, alone.mr, page, 4 * PAGE), 0);
	CU_ASSERT_EQUAL(paging_prefetch(alone.paging, alone.mr, page + PAGE, 4 * PAGE),
			PAGE_LATENCY);
	sim_run(alone.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(paging_counters(alone.paging)->faults, 0);
	CU_ASSERT_EQUAL(paging_counters(alone.paging)->prefetches, 2);
	CU_ASSERT_EQUAL(paging_counters(alone.paging)->pages, 5);
	alone_destroy(&alone);
}

/* Two handlers serve three faults. A fault in 100 pages brings 17 pages, because it covers 64 KiB
 * from any offset in a page. */
static void test_handlers_and_the_reach_of_a_fault(void)
{
	struct alone alone = alone_create(2, 64 << 10);

	fault(&alone, 0, 1, &alone.waiting[0]);
	fault(&alone, 10, 100, &alone.waiting[1]);
	fault(&alone, 500, 2, &alone.waiting[2]);
	sim_run(alone.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(alone.waiting[0].done_at, LATENCY);
	CU_ASSERT_EQUAL(alone.waiting[1].done_at, LATENCY + 16 * PAGE_LATENCY);
	CU_ASSERT_EQUAL(alone.waiting[2].done_at, 2 * LATENCY + PAGE_LATENCY);
	CU_ASSERT_TRUE(is_present(&alone, 10, 17));
	CU_ASSERT_FALSE(is_present(&alone, 27, 1));
	CU_ASSERT_EQUAL(paging_counters(alone.paging)->pages, 1 + 17 + 2);
	alone_destroy(&alone);
}

static void test_a_region_that_is_gone(void)
{
	struct alone alone = alone_create(32, 1 << 22);

	fault(&alone, 0, 3, &alone.waiting[0]);
	mr_table_remove(alone.regions, alone.mr);
	sim_run(alone.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(alone.waiting[0].done_at, LATENCY + 2 * PAGE_LATENCY);
	CU_ASSERT_EQUAL(paging_counters(alone.paging)->pages, 0);
	alone_destroy(&alone);
}

/* ---- queue pairs ---- */

/* All of the host's memory, page by page. */
/* A region covers a whole address space of 2^35 pages, of which two come. */
static void test_all_that_there_is(void)
{
	struct alone alone = alone_create(1, 1 << 22);
	uint64_t length = UINT64_C(1) << 47, high = length - 2 * PAGE;
	const struct mr *mr = mr_table_add(
		alone.regions,
		&(struct mr){.page_shift = 12, .length = length, .valid = true, .on_demand = true});

	alone.waiting[0].sim = alone.sim;
	paging_fault(alone.paging, mr, high, 2 * PAGE, &alone.waiting[0].waiter);
	sim_run(alone.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(alone.waiting[0].done_at, LATENCY + PAGE_LATENCY);
	CU_ASSERT_TRUE(paging_present(mr, high, 2 * PAGE));
	CU_ASSERT_FALSE(paging_present(mr, high - 1, 1));
	CU_ASSERT_FALSE(paging_present(mr, 0, 1));
	CU_ASSERT_EQUAL(paging_counters(alone.paging)->pages, 2);
	alone_destroy(&alone);
}

static uint32_t on_demand_key(struct mini_host *host)
{
	struct mr mr = {
		.pd = PD,
		.access = ALL_RIGHTS,
		.page_shift = 12,
		.memory = host->memory,
		.address = MEMORY_BASE,
		.host_address = MEMORY_BASE,
		.length = MEMORY_BYTES,
		.valid = true,
		.on_demand = true,
	};
	uint32_t key = 0;

	CU_ASSERT_EQUAL_FATAL(hca_mr_create(host->adapter, &mr, &key), 0);
	return key;
}

static void post(struct rig *rig, struct mini_qp *qp, uint8_t opcode, uint32_t length, uint32_t key,
		 uint32_t rkey)
{
	mini_post(qp, &(struct mini_send){.opcode = opcode,
					  .address = rig->source,
					  .length = length,
					  .key = key,
					  .remote = rig->target,
					  .rkey = rkey,
					  .swap_or_add = 5});
}

/* A prefetch must be of a region with pages that can miss, and within the region, to the byte. */
static void test_advice(void)
{
	static const struct {
		uint64_t address, length;
		int respond;
	} rows[] = {
		{MEMORY_BASE, MEMORY_BYTES, 0},
		{MEMORY_BASE + MEMORY_BYTES - 1, 1, 0},
		{MEMORY_BASE + MEMORY_BYTES, 0, 0},
		{MEMORY_BASE - 1, 1, -EFAULT},
		{MEMORY_BASE + MEMORY_BYTES, 1, -EFAULT},
		{MEMORY_BASE + 1, MEMORY_BYTES, -EFAULT},
		{MEMORY_BASE, MEMORY_BYTES + 1, -EFAULT},
		{MEMORY_BASE + MEMORY_BYTES + 1, 0, -EFAULT},
	};
	struct rig rig = rig_create(QP_RC, 1024);
	uint32_t key = on_demand_key(rig.one);
	sim_time latency;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CU_ASSERT_EQUAL(hca_mr_prefetch(rig.one->adapter, key, rows[i].address,
						rows[i].length, &latency),
				rows[i].respond);
		/* none is there before the first is done: its pages, then one */
		CU_ASSERT_EQUAL(latency, i == 0   ? MEMORY_BYTES / PAGE * PAGE_LATENCY
					 : i == 1 ? PAGE_LATENCY
						  : 0);
	}
	CU_ASSERT_EQUAL(hca_mr_prefetch(rig.one->adapter, rig.one->key, MEMORY_BASE, 1, &latency),
			-EINVAL);
	CU_ASSERT_EQUAL(hca_mr_prefetch(rig.one->adapter, key + 0x100, MEMORY_BASE, 1, &latency),
			-EINVAL);
	mini_run(rig.mini);
	rig_destroy(&rig);
}

/* Returns the time from now to the CQE of one message. */
static sim_time time_of(struct rig *rig, uint8_t opcode, uint32_t length, uint32_t key,
			uint32_t rkey)
{
	sim_time start;

	mini_run(rig->mini);
	start = sim_now(rig->mini->sim);
	post(rig, rig->qp, opcode, length, key, rkey);
	CHECK_WC(mini_wait(rig->qp->send_cq), CQE_SENT, 0);
	return sim_now(rig->mini->sim) - start;
}

static uint32_t stage(const struct rig *rig, const char *name)
{
	return mini_block_count(rig->one, "latency", name);
}

/* Besides the stall, the first message differs from the next by the scheduler's 20 ns. It also
 * differs by the misses of MPT and MTT in the stage of translation. */
static void test_a_requester_stalls(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	uint32_t key = on_demand_key(rig.one), before, missed, hit;
	sim_time first, second;

	mini_fill(rig.one, rig.source, 10000, 1);
	time_of(&rig, WQE_WRITE, 4096, 0, 0);
	before = stage(&rig, "translation");
	first = time_of(&rig, WQE_WRITE, 4096, key, 0);
	missed = stage(&rig, "translation") - before;
	second = time_of(&rig, WQE_WRITE, 4096, key, 0);
	hit = stage(&rig, "translation") - before - missed;
	CU_ASSERT_TRUE(missed > 2 * 400 * NS + hit);
	CU_ASSERT_EQUAL(stage(&rig, "page_fault"), LATENCY);
	CU_ASSERT_EQUAL(first - missed, second - hit + LATENCY + 20 * NS);
	time_of(&rig, WQE_WRITE, 10000, key, 0); /* two pages more, by one fault */
	CU_ASSERT_EQUAL(stage(&rig, "page_fault"), 2 * LATENCY + PAGE_LATENCY);
	CU_ASSERT_EQUAL(rig_count(&rig, "paging", "pages"), 3);
	CU_ASSERT_EQUAL(rig_count(&rig, "paging", "faults"), 2);
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "page_stalls"), 2);
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "packets_retransmitted"), 0);
	mini_run(rig.mini);
	CU_ASSERT_TRUE(mini_matches(rig.other, rig.target, 10000, 1));
	rig_destroy(&rig);
}

/* Messages of another queue pair pass while the message of this queue pair waits. */
static void test_others_go_on(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	struct mini_qp *qp = mini_qp_create(rig.one, QP_RC),
		       *peer = mini_qp_create(rig.other, QP_RC);
	uint32_t key = on_demand_key(rig.one);
	sim_time start = sim_now(rig.mini->sim);

	mini_connect(qp, peer, 1024);
	post(&rig, rig.qp, WQE_WRITE, 100, key, 0);
	post(&rig, rig.qp, WQE_WRITE, 100, 0, 0); /* behind it, in order */
	for (unsigned i = 0; i < 20; i++)
		post(&rig, qp, WQE_WRITE, 100, 0, 0);
	for (unsigned i = 0; i < 20; i++)
		CHECK_WC(mini_wait(qp->send_cq), CQE_SENT, 0);
	CU_ASSERT_TRUE(sim_now(rig.mini->sim) - start < 10 * US);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, 0);
	CU_ASSERT_TRUE(sim_now(rig.mini->sim) - start > LATENCY);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, 0);
	mini_qp_destroy(qp);
	mini_qp_destroy(peer);
	rig_destroy(&rig);
}

/* RNR NAKs, each after the 10 us of the responder's queue pair and a round trip, until the pages
 * are present. */
static void check_refused(uint8_t opcode, uint32_t length, uint32_t pages, uint32_t expected)
{
	struct rig rig = rig_create(QP_RC, 1024);
	uint32_t key = on_demand_key(rig.other);
	sim_time taken;
	uint32_t naks;

	if (opcode == WQE_READ)
		mini_fill(rig.other, rig.target, length, 1);
	else
		mini_fill(rig.one, rig.source, length, 1);
	if (opcode == WQE_SEND)
		mini_receive_key(rig.peer, rig.target, length, key);
	taken = time_of(&rig, opcode, length, 0, key);
	mini_run(rig.mini);
	naks = rig_count(&rig, "transport", "rnr_nak_received");
	CU_ASSERT_EQUAL(naks, expected);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "transport", "page_refusals"), naks);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "transport", "rnr_nak_sent"), naks);
	CU_ASSERT_TRUE(taken > LATENCY && taken < LATENCY + 20 * US);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "paging", "faults"), 1);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "paging", "pages"), pages);
	if (opcode == WQE_READ)
		CU_ASSERT_TRUE(mini_matches(rig.one, rig.source, length, 1));
	if (opcode == WQE_WRITE || opcode == WQE_SEND)
		CU_ASSERT_TRUE(mini_matches(rig.other, rig.target, length, 1));
	if (opcode == WQE_FETCH_ADD)
		CU_ASSERT_EQUAL(mini_u64(rig.other, rig.target), 5);
	if (opcode == WQE_SEND)
		CHECK_WC(mini_wait(rig.peer->recv_cq), CQE_RECEIVED_SEND, 0);
	rig_destroy(&rig);
}

static void test_a_responder_refuses(void)
{
	check_refused(WQE_WRITE, 10000, 3, 19);
	check_refused(WQE_READ, 10000, 3, 21);
	check_refused(WQE_SEND, 700, 1, 20);
	check_refused(WQE_FETCH_ADD, 8, 1, 21);
}

/* A send is refused again at a missing page in the middle of the message. */
static void test_a_send_over_pages(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	uint32_t key = on_demand_key(rig.other);

	mini_fill(rig.one, rig.source, 10000, 1);
	mini_receive_key(rig.peer, rig.target, 10000, key);
	CU_ASSERT_TRUE(time_of(&rig, WQE_SEND, 10000, 0, 0) > 3 * LATENCY);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "paging", "faults"), 3);
	CHECK_WC(mini_wait(rig.peer->recv_cq), CQE_RECEIVED_SEND, 0);
	CU_ASSERT_TRUE(mini_matches(rig.other, rig.target, 10000, 1));
	rig_destroy(&rig);
}

/* Each page of the response misses once. Later requests are sent again. */
static void test_a_response_is_dropped(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	uint32_t key = on_demand_key(rig.one);

	mini_fill(rig.other, rig.target, 10000, 1);
	post(&rig, rig.qp, WQE_READ, 10000, key, 0);
	rig.source += 20000;
	rig.target += 20000;
	post(&rig, rig.qp, WQE_WRITE, 64, 0, 0);
	post(&rig, rig.qp, WQE_FETCH_ADD, 8, 0, 0);
	for (unsigned i = 0; i < 3; i++)
		CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, 0);
	mini_run(rig.mini);
	CU_ASSERT_EQUAL(rig_count(&rig, "paging", "faults"), 3);
	/* all three messages waited for all three faults */
	CU_ASSERT_EQUAL(stage(&rig, "page_fault") / LATENCY, 9);
	CU_ASSERT_TRUE(rig_count(&rig, "transport", "page_drops") >= 3);
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "local_ack_timeouts"), 0);
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "implied_nak_seq_err"), 0);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "transport", "rx_atomic_requests"), 1);
	CU_ASSERT_TRUE(mini_matches(rig.one, rig.source - 20000, 10000, 1));
	rig_destroy(&rig);
}

/* ERR and RESET while pages are waited for: flushed, or forgotten; the fault ends without effect on
 * the queue pair. */
static void test_failed_while_waiting(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	uint32_t key = on_demand_key(rig.one);

	post(&rig, rig.qp, WQE_WRITE, 100, key, 0);
	sim_run(rig.mini->sim, 100 * US);
	mini_to(rig.qp, STATE_ERR);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SEND_ERROR, 5);
	CU_ASSERT_TRUE(sim_now(rig.mini->sim) < LATENCY);
	mini_run(rig.mini);
	CU_ASSERT_EQUAL(rig_count(&rig, "paging", "resolved"), 1);
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "wqes_flushed"), 1);
	rig_destroy(&rig);
}

static void test_destroyed_while_waiting(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	struct mini_qp *qp = mini_qp_create(rig.one, QP_RC),
		       *peer = mini_qp_create(rig.other, QP_RC);
	uint32_t key = on_demand_key(rig.one);

	mini_connect(qp, peer, 1024);
	post(&rig, qp, WQE_WRITE, 100, key, 0);
	sim_run(rig.mini->sim, 100 * US);
	mini_qp_destroy(qp);
	mini_run(rig.mini);
	CU_ASSERT_EQUAL(rig_count(&rig, "paging", "resolved"), 1);
	mini_qp_destroy(peer);
	rig_destroy(&rig);
}

static void test_unreliable_queue_pairs(void)
{
	struct rig rig = rig_create(QP_UC, 1024);
	struct mr both = {.on_demand = true, .physical = true, .page_shift = 12, .length = 1};
	uint32_t key = on_demand_key(rig.one);

	CU_ASSERT_EQUAL(hca_mr_create(rig.one->adapter, &both, &both.key), -EINVAL);
	post(&rig, rig.qp, WQE_WRITE, 100, key, 0);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SEND_ERROR, 4);
	CU_ASSERT_EQUAL(rig_count(&rig, "paging", "faults"), 0);
	rig_destroy(&rig);
}
