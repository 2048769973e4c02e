/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that the stages of a work request's latency leave no gap. The stages of each completion of
 * a mixed run add up to the time from the store to the CQE. For a receive, they add up to the time
 * from the first bit to the CQE. The run has writes, sends, reads, atomics, UC, UD, losses, fences
 * and small caches. One nanosecond more in a block is one more in its stage, and in no other.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fabric/wire/opcode.h"
#include "hca/formats/cqe.h"
#include "sim/trace.h"
#include "tests/hca/support/rig.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                               \
	TEST(each_block_in_its_stage_of_receives) \
	TEST(mixed)                               \
	TEST(mixed_with_loss)                     \
	TEST(unreliable)                          \
	TEST(each_block_in_its_stage)             \
	TEST(stages_of_a_kind)
SUITE(TESTS)

/* ---- a mixed run, by its trace ---- */

enum { TAGS_MAX = 4096 };

static uint64_t sums[TAGS_MAX];

/* Checks each tag of the trace. The sum of its stages is its reported latency, which is the time
 * from the store to the CQE. Returns the number of sends. *received is the number of receives.
 * Their stages are written together, with the sum last. */
static unsigned check_trace(const char *path, unsigned *received)
{
	uint64_t sum = 0;

	const char *error;
	struct trace_reader *reader = trace_reader_open(path, &error);
	struct trace_entry entry;
	unsigned closed = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(reader);
	for (unsigned i = 0; i < TAGS_MAX; i++)
		sums[i] = 0;
	while (trace_reader_next(reader, &entry)) {
		if (entry.point >= STAGE_POINT_RECEIVE) {
			bool last = entry.point == STAGE_POINT_RECEIVED;

			CU_ASSERT_TRUE(entry.first > 0);
			CU_ASSERT_TRUE(!last || sum == entry.first);
			sum = last ? 0 : sum + entry.first;
			*received += last;
			continue;
		}
		if (entry.point != STAGE_COUNT) {
			CU_ASSERT_TRUE_FATAL(entry.tag < TAGS_MAX);
			sums[entry.tag] += entry.first;
			continue;
		}
		CU_ASSERT_EQUAL(sums[entry.tag], entry.first);
		CU_ASSERT_TRUE(entry.first > 0);
		closed++;
	}
	trace_reader_close(reader);
	return closed;
}

static void post_mix(struct rig *rig, unsigned i)
{
	static const uint8_t opcodes[] = {WQE_WRITE,     WQE_SEND,  WQE_READ,
					  WQE_FETCH_ADD, WQE_WRITE, WQE_WRITE};
	static const uint32_t lengths[] = {64, 3000, 20000, 8, 100, 300000};
	unsigned kind = i % ARRAY_SIZE(opcodes);

	mini_receive(rig->peer, rig->target, 4096);
	mini_post(rig->qp, &(struct mini_send){.opcode = opcodes[kind],
					       .address = rig->source,
					       .length = lengths[kind],
					       .remote = rig->target,
					       .swap_or_add = 1,
					       .is_inline = kind == 4,
					       .blueflame = i % 4 == 0,
					       .fence = i % 7 == 0,
					       .unsignaled = i % 11 == 3});
}

static uint64_t sum_of_stages(const struct latency_counters *count)
{
	const uint64_t *stage = &count->latency + 1;
	uint64_t sum = 0;

	for (unsigned i = 0; i < STAGE_COUNT; i++)
		sum += stage[i];
	return sum;
}

static uint64_t sum_of_received(const struct latency_counters *count)
{
	const uint64_t *stage = &count->received_latency + 1;
	uint64_t sum = 0;

	for (unsigned i = 0; i < RECEIVE_STAGE_COUNT; i++)
		sum += stage[i];
	return sum;
}

static void run_mix(enum qp_type type, double loss)
{
	struct rig rig = rig_create(type, 1024);
	const struct latency_counters *count = latency_stages_counters(rig.one->adapter->latency);
	struct trace_file *trace;
	const struct latency_counters *peer = latency_stages_counters(rig.other->adapter->latency);
	unsigned completions = 0, receives = 0, traced = 0;

	trace = trace_open(rig.mini->sim, "trace", "*.latency");
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	if (loss > 0)
		rig_drop(&rig, false, RC_WRITE_MIDDLE, 0, loss);
	for (unsigned i = 0; i < 60; i++) {
		if (type == QP_RC)
			post_mix(&rig, i);
		else
			rig_post(&rig, WQE_WRITE, i * 1000);
		if (i % 3 == 0)
			sim_run(rig.mini->sim, sim_now(rig.mini->sim) + i * 100 * NS);
	}
	mini_run(rig.mini);
	for (struct mini_wc wc; mini_poll(rig.qp->send_cq, &wc);)
		completions++;
	for (struct mini_wc wc; mini_poll(rig.peer->recv_cq, &wc);)
		receives++;
	CU_ASSERT_EQUAL(receives,
			type == QP_RC ? 10 : 0); /* of 60 work requests, one in six is a SEND */
	CU_ASSERT_EQUAL(peer->received, receives);
	CU_ASSERT_EQUAL(peer->received_latency, sum_of_received(peer));
	CU_ASSERT_TRUE(completions >= 50);
	CU_ASSERT_EQUAL(count->completions, completions);
	CU_ASSERT_EQUAL(count->latency, sum_of_stages(count));
	if (loss > 0)
		CU_ASSERT_TRUE(count->retry > 0);
	trace_close(trace);
	CU_ASSERT_EQUAL(check_trace("trace", &traced), completions);
	CU_ASSERT_EQUAL(traced, receives);
	rig_destroy(&rig);
}

static void test_mixed(void)
{
	run_mix(QP_RC, 0);
}

static void test_mixed_with_loss(void)
{
	run_mix(QP_RC, 0.01);
}

static void test_unreliable(void)
{
	run_mix(QP_UC, 0);
}

/* ---- each stage by its block ---- */

/* Counts of the host since then. Ends the rig. */
static struct latency_counters since(struct rig *rig, struct mini_host *host,
				     const struct latency_counters *before)
{
	struct latency_counters count = *latency_stages_counters(host->adapter->latency);

	for (unsigned i = 0; i < sizeof(count) / sizeof(uint64_t); i++)
		((uint64_t *)&count)[i] -= ((const uint64_t *)before)[i];
	mini_run(rig->mini);
	mini_qp_destroy(rig->qp);
	mini_qp_destroy(rig->peer);
	mini_destroy(rig->mini);
	return count;
}

static struct latency_counters measure(size_t changed, enum qp_type type, uint8_t opcode,
				       sim_time *total)
{
	struct rig rig = {.mini = mini_create(SIM_ENGINE_native)};
	struct latency_counters before;
	sim_time start;

	if (changed)
		*(sim_time *)(void *)((char *)&rig.mini->params + changed) += 1234;
	mini_start(rig.mini, LINK_INFINIBAND);
	rig.one = &rig.mini->hosts[0];
	rig.qp = mini_qp_create(&rig.mini->hosts[0], type);
	rig.peer = mini_qp_create(&rig.mini->hosts[1], type);
	mini_connect(rig.qp, rig.peer, 1024);
	rig.source = mini_alloc(&rig.mini->hosts[0], 4096);
	rig.target = mini_alloc(&rig.mini->hosts[1], 4096);
	rig_post(&rig, opcode, 64); /* fills the caches */
	mini_wait(rig.qp->send_cq);
	mini_run(rig.mini);
	before = *latency_stages_counters(rig.one->adapter->latency);
	start = sim_now(rig.mini->sim);
	rig_post(&rig, opcode, 64);
	while (latency_stages_counters(rig.one->adapter->latency)->completions ==
	       before.completions)
		sim_run(rig.mini->sim, sim_next(rig.mini->sim) + 1);
	*total = sim_now(rig.mini->sim) - 1 - start;
	return since(&rig, rig.one, &before);
}

static void test_each_block_in_its_stage(void)
{
#define IN(param) offsetof(struct hca_params, param)
	/* the change is in both adapters, so the response shows it, too */
	static const struct {
		size_t changed;
		size_t stage, other;
	} cases[] = {
		{IN(doorbell.latency), offsetof(struct latency_counters, doorbell), 0},
		{IN(wqe_fetch.latency), offsetof(struct latency_counters, wqe_fetch), 0},
		{IN(scheduler.latency), offsetof(struct latency_counters, scheduling),
		 offsetof(struct latency_counters, remote)},
		{IN(dma.latency), offsetof(struct latency_counters, dma), 0},
		{IN(transmit.latency), offsetof(struct latency_counters, transmit),
		 offsetof(struct latency_counters, remote)},
		{IN(receive.latency), offsetof(struct latency_counters, remote),
		 offsetof(struct latency_counters, ack)},
		{IN(transport.ack_delay), offsetof(struct latency_counters, remote), 0},
		{IN(completion.latency), offsetof(struct latency_counters, cqe), 0},
	};
	sim_time total, changed_total;
	struct latency_counters base = measure(0, QP_RC, WQE_WRITE, &total);

	CU_ASSERT_EQUAL(base.latency, total);
	CU_ASSERT_EQUAL(base.qpc_miss, 0);
	CU_ASSERT_EQUAL(base.retry, 0);
	CU_ASSERT_EQUAL(base.data, 0);
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct latency_counters count =
			measure(cases[i].changed, QP_RC, WQE_WRITE, &changed_total);

		CU_ASSERT_EQUAL(count.latency, changed_total);
		for (size_t at = offsetof(struct latency_counters, latency) + sizeof(uint64_t);
		     at < sizeof(count); at += sizeof(uint64_t)) {
			bool expected = at == cases[i].stage || at == cases[i].other;

			CU_ASSERT_EQUAL(*(uint64_t *)(void *)((char *)&count + at),
					*(uint64_t *)(void *)((char *)&base + at) +
						(expected ? 1234 : 0));
		}
	}
}

static void test_stages_of_a_kind(void)
{
	sim_time total;
	struct latency_counters read = measure(0, QP_RC, WQE_READ, &total);
	struct latency_counters unreliable = measure(0, QP_UC, WQE_WRITE, &total);

	CU_ASSERT_TRUE(read.data > 0);
	CU_ASSERT_EQUAL(read.dma, 0);
	CU_ASSERT_EQUAL(unreliable.remote, 0);
	CU_ASSERT_EQUAL(unreliable.ack, 0);
	CU_ASSERT_EQUAL(unreliable.wire, (sim_time)(64 + 26 + 16) * 80); /* with RETH */
}

/* ---- receives: each stage by its block ---- */

/* Returns the stages of the second of two SENDs, with the parameter `changed` longer by 1234 ps.
 * *total is the time from its first bit to its CQE. */
static struct latency_counters receive_measure(size_t changed, uint32_t bytes, sim_time *total)
{
	struct rig rig = {.mini = mini_create(SIM_ENGINE_native)};
	struct latency_counters before;
	sim_time arrives;

	if (changed)
		*(sim_time *)(void *)((char *)&rig.mini->params + changed) += 1234;
	mini_start(rig.mini, LINK_INFINIBAND);
	rig.one = &rig.mini->hosts[0];
	rig.other = &rig.mini->hosts[1];
	rig.qp = mini_qp_create(rig.one, QP_RC);
	rig.peer = mini_qp_create(rig.other, QP_RC);
	mini_connect(rig.qp, rig.peer, 1024);
	rig.source = mini_alloc(rig.one, 8192);
	rig.target = mini_alloc(rig.other, 8192);
	for (unsigned i = 0; i < 4; i++)
		mini_receive(rig.peer, rig.target, 8192);
	rig_post(&rig, WQE_SEND, bytes); /* fills the caches, brings the other receive WQEs */
	mini_run(rig.mini);
	before = *latency_stages_counters(rig.other->adapter->latency);
	CU_ASSERT_EQUAL(before.received, 1);
	rig_post(&rig, WQE_SEND, bytes);
	while (port_counters(hca_port(rig.other->adapter))->packets_received ==
	       (bytes + 1023) / 1024)
		sim_run(rig.mini->sim, sim_next(rig.mini->sim) + 1);
	arrives = sim_now(rig.mini->sim) - 1;
	while (latency_stages_counters(rig.other->adapter->latency)->received == 1)
		sim_run(rig.mini->sim, sim_next(rig.mini->sim) + 1);
	*total = sim_now(rig.mini->sim) - 1 - arrives;
	return since(&rig, rig.other, &before);
}

static void test_each_block_in_its_stage_of_receives(void)
{
	static const struct {
		size_t changed, stage;
	} cases[] = {
		{IN(receive.latency), offsetof(struct latency_counters, pipeline)},
		{IN(translation.latency), offsetof(struct latency_counters, translated)},
		{IN(completion.latency), offsetof(struct latency_counters, visible)},
		{IN(pcie.write_latency), offsetof(struct latency_counters, visible)},
	};
	sim_time total, changed_total;
	struct latency_counters base = receive_measure(0, 64, &total);
	struct latency_counters longer = receive_measure(0, 3000, &changed_total);

	CU_ASSERT_EQUAL(base.received, 1);
	CU_ASSERT_EQUAL(base.received_latency, total);
	CU_ASSERT_EQUAL(base.arrival, (64 + 26) * 80); /* LRH, BTH, ICRC, VCRC; EDR: 80 ps a byte */
	CU_ASSERT_EQUAL(base.context + base.wqe + base.queue, 0);
	CU_ASSERT_EQUAL(longer.received_latency, changed_total);
	CU_ASSERT_EQUAL(longer.arrival, (3000 + 3 * 26) * 80);
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct latency_counters count =
			receive_measure(cases[i].changed, 64, &changed_total);

		CU_ASSERT_EQUAL(count.received_latency, changed_total);
		for (size_t at =
			     offsetof(struct latency_counters, received_latency) + sizeof(uint64_t);
		     at < sizeof(count); at += sizeof(uint64_t))
			CU_ASSERT_EQUAL(*(uint64_t *)(void *)((char *)&count + at),
					*(uint64_t *)(void *)((char *)&base + at) +
						(at == cases[i].stage ? 1234 : 0));
	}
}
