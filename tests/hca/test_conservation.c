/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the invariants of all blocks at any instant. A run of writes, sends, reads and atomics
 * under loss, with small caches and few tags and credits, is checked every few nanoseconds.
 * Violations are found: each counter of a rule is changed by one in turn, and a line reports it. An
 * adapter that is destroyed during such a run leaks no memory.
 */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/wire/opcode.h"
#include "hca/formats/cqe.h"
#include "tests/hca/support/rig.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                \
	TEST(at_any_instant)       \
	TEST(stays_of_all_items)   \
	TEST(flushed_and_dropped)  \
	TEST(violations_are_found) \
	TEST(ends_under_way)
SUITE(TESTS)

static struct rig tight_rig(void)
{
	struct rig rig = {.mini = mini_create(SIM_ENGINE_native)};
	struct hca_params *params = &rig.mini->params;

	params->pcie.tags = 6;
	params->pcie.nonposted_headers = 4;
	params->pcie.posted_headers = 8;
	params->pcie.posted_data_credits = 1024;
	params->translation.mtt.entries = 8;
	params->translation.mtt.mshrs = 2;
	params->contexts.requester.entries = params->contexts.requester.ways = 1;
	params->contexts.requester.mshrs = 1;
	params->send_cache.entries = 2;
	params->receive_cache.entries = 3;
	mini_start(rig.mini, LINK_INFINIBAND);
	rig.one = &rig.mini->hosts[0];
	rig.other = &rig.mini->hosts[1];
	rig.qp = mini_qp_create(rig.one, QP_RC);
	rig.peer = mini_qp_create(rig.other, QP_RC);
	rig.source = mini_alloc(rig.one, 1 << 20);
	rig.target = mini_alloc(rig.other, 1 << 20);
	rig.fault = fault_create(rig.mini->sim, "host0.hca.port.fault");
	port_set_transmit_fault(hca_port(rig.one->adapter), rig.fault);
	mini_connect(rig.qp, rig.peer, 1024);
	return rig;
}

static void post(struct rig *rig, unsigned i)
{
	static const uint8_t opcodes[] = {WQE_WRITE, WQE_SEND, WQE_READ, WQE_FETCH_ADD};
	static const uint32_t lengths[] = {30000, 700, 9000, 8};

	mini_receive(rig->peer, rig->target, 4096);
	mini_post(rig->qp, &(struct mini_send){.opcode = opcodes[i % 4],
					       .address = rig->source,
					       .length = lengths[i % 4],
					       .remote = rig->target,
					       .swap_or_add = 1,
					       .blueflame = i % 3 == 0});
}

static void finish(struct rig *rig)
{
	mini_run(rig->mini);
	mini_qp_destroy(rig->qp);
	mini_qp_destroy(rig->peer);
	mini_run(rig->mini);
	port_set_transmit_fault(hca_port(rig->one->adapter), NULL);
	fault_destroy(rig->fault);
	mini_destroy(rig->mini);
}

static void test_at_any_instant(void)
{
	struct rig rig = tight_rig();
	unsigned checks = 0;

	rig_drop(&rig, false, RC_WRITE_MIDDLE, 0, 0.02);
	for (unsigned i = 0; i < 24; i++) {
		post(&rig, i);
		for (unsigned n = 0; n < 60; n++, checks++) {
			sim_run(rig.mini->sim, sim_now(rig.mini->sim) + 13 * NS + n);
			CU_ASSERT_EQUAL(blocks_check(rig.mini->sim, stderr), 0);
		}
	}
	CU_ASSERT_EQUAL(checks, 24 * 60);
	mini_run(rig.mini);
	CU_ASSERT_EQUAL(blocks_check(rig.mini->sim, stderr), 0);
	/* numbers of events of such a small adapter, as observed; a change of its timing changes
	 * them */
	CU_ASSERT_EQUAL(rig_count(&rig, "pcie", "read_stalls"), 90);
	CU_ASSERT_EQUAL(rig_count(&rig, "pcie", "request_credit_stalls"), 16);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "pcie", "write_stalls"), 54);
	CU_ASSERT_EQUAL(rig_count(&rig, "translation.mtt", "misses"), 8);
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "packets_retransmitted"), 49);
	CU_ASSERT_EQUAL(rig_count(&rig, "send_cache", "lost"), 26);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "receive_cache", "lost"), 5);
	finish(&rig);
}

/* The items of all gauges of queues, pools and queue pairs that the run fills report their stays,
 * which Little's law needs. */
static void test_stays_of_all_items(void)
{
	struct rig rig = tight_rig();
	unsigned gauges = 0;

	for (unsigned i = 0; i < 24; i++)
		post(&rig, i);
	mini_run(rig.mini);
	for (struct block *block = sim_blocks(rig.mini->sim); block; block = block->next) {
		const struct gauge *gauge = gauges_read(block);

		for (size_t i = 0; gauge && block->type->gauges[i].name; i++) {
			if (!gauge[i].area || block->type->gauges[i].kind == GAUGE_BUSY)
				continue;
			gauges++;
			if (!gauge[i].timed)
				fprintf(stderr, "%s.%s\n", block->name,
					block->type->gauges[i].name);
			CU_ASSERT(gauge[i].timed);
		}
	}
	CU_ASSERT_EQUAL(gauges, 56);
	finish(&rig);
}

/* One queue pair fails, and one is reset with work in it. */
static void test_flushed_and_dropped(void)
{
	struct rig rig = tight_rig();

	mini_post(rig.qp, &(struct mini_send){.opcode = WQE_WRITE,
					      .address = rig.source,
					      .length = 64,
					      .remote = rig.target,
					      .rkey = 0x7777});
	for (unsigned i = 0; i < 6; i++)
		post(&rig, i);
	mini_run(rig.mini);
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "wqes_flushed"), 6);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "transport", "receives_flushed"), 6);
	mini_to(rig.qp, STATE_RESET);
	mini_run(rig.mini);
	CU_ASSERT_EQUAL(blocks_check(rig.mini->sim, stderr), 0);
	finish(&rig);
}

static struct block *find(struct rig *rig, const char *name)
{
	for (struct block *block = sim_blocks(rig->mini->sim); block; block = block->next)
		if (strcmp(block->name, name) == 0)
			return block;
	abort();
}

static void test_violations_are_found(void)
{
	static const struct {
		const char *block, *counter;
	} cases[] = {
		{"host0.hca.pcie", "read_requests"},
		{"host0.hca.pcie", "completion_bytes"},
		{"host0.hca.pcie", "to_host_bytes"},
		{"host0.hca.pcie", "to_device_bytes"},
		{"host1.hca.pcie", "posted_data_returned"},
		{"host0.hca.pcie", "nonposted_headers_taken"},
		{"host0.hca.translation.mtt", "hits"},
		{"host0.hca.context.requester", "fills"},
		{"host0.hca.send_cache", "misses"},
		{"host1.hca.receive_cache", "merges"},
		{"host0.hca.dma", "gathers"},
		{"host1.hca.dma", "scatters_done"},
		{"host0.hca.wqe_fetch", "wqes"},
		{"host0.hca.transport", "wqes_completed"},
		{"host0.hca.completion", "lost"},
		{"host1.hca.receive_queue", "taken"},
	};
	struct rig rig = tight_rig();

	for (unsigned i = 0; i < 4; i++)
		post(&rig, i);
	mini_run(rig.mini);
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct block *block = find(&rig, cases[i].block);
		uint64_t *count = (uint64_t *)block->counts;
		char *text = NULL;
		size_t length = 0, at = 0;
		FILE *out = open_memstream(&text, &length);

		while (strcmp(block->type->counters[at].name, cases[i].counter) != 0)
			at++;
		count[at]++;
		CU_ASSERT_TRUE(blocks_check(rig.mini->sim, out) > 0);
		count[at]--;
		fclose(out);
		CU_ASSERT_EQUAL(strncmp(text, cases[i].block, strlen(cases[i].block)), 0);
		CU_ASSERT_EQUAL(blocks_check(rig.mini->sim, stderr), 0);
		free(text);
	}
	finish(&rig);
}

/* Frees the driver's memory of a queue pair. */
static void forget(struct mini_qp *qp)
{
	free(qp->send_cq);
	free(qp->recv_cq);
	free(qp);
}

/* The run ends at that time, with or without the driver's destroying of its queue pairs before. */
static void end_at(sim_time at, bool driver_destroys)
{
	struct rig rig = tight_rig();
	struct mini *mini = rig.mini;

	for (unsigned i = 0; i < 8; i++)
		post(&rig, i);
	sim_run(mini->sim, at);
	sim_drop(mini->sim); /* as a run that ends before its work */
	if (driver_destroys) {
		mini_qp_destroy(rig.qp);
		mini_qp_destroy(rig.peer);
	}
	port_set_transmit_fault(hca_port(rig.one->adapter), NULL);
	fault_destroy(rig.fault);
	for (unsigned i = 0; i < 2; i++) {
		hca_destroy(mini->hosts[i].adapter);
		memory_buffer_destroy(mini->hosts[i].memory);
	}
	if (!driver_destroys) {
		forget(rig.qp);
		forget(rig.peer);
	}
	sim_destroy(mini->sim);
	endpoints_destroy(mini->endpoints);
	packet_pool_destroy(mini->pool);
	free(mini);
}

/* The run ends at 100 instants in turn. Each round uses as much memory as the previous round. */
static void test_ends_under_way(void)
{
	enum { ROUNDS = 3, WARM_UP = 1 };
	size_t before = 0;

	for (unsigned round = 0; round < ROUNDS; round++) {
		if (round == WARM_UP)
			before = mallinfo2().uordblks;
		for (unsigned i = 0; i < 100; i++)
			end_at(500 * NS + i * 370 * NS, i % 2);
	}
	if (getenv("GLIBC_TUNABLES")) /* as ctest sets it: no caches of threads, which count as used
				       */
		CU_ASSERT_EQUAL(mallinfo2().uordblks, before);
}
