/* SPDX-License-Identifier: Apache-2.0 */
/* latency_stages: see latency_stages.h. */
#include "hca/work/latency_stages.h"

#include <assert.h>
#include <stdlib.h>

/* clang-format off */
#define RECEIVED_TRACE_ROW(name, field, end)   {"STAGE_RECEIVE_" #name, "picoseconds", "", end},
#define TRACE_ROW(name, field, end)   {"STAGE_" #name, "picoseconds", "", end},

#define COUNTER_ROW(name, field, end)          {#field, "ps", "of all completions, until " end},
#define RECEIVED_COUNTER_ROW(name, field, end) \
	{"received_" #field, "ps", "of all receives, until " end},

const struct counter latency_stages_counter_list[] = {
	{"completions", "CQEs", "send work requests whose latency is included"},
	{"latency", "ps", "latency of these requests, from the store to the CQE"},
	LATENCY_STAGES(COUNTER_ROW)
	{"received", "CQEs", "receive work requests whose latency is included"},
	{"received_latency", "ps", "latency of these receives, from the first bit to the CQE"},
	RECEIVE_STAGES(RECEIVED_COUNTER_ROW)
	{0}};

static const struct block_type latency_stages_type = {
	.name         = "latency",
	.params       = (const struct param[]){{0}},
	.counters     = latency_stages_counter_list,
	.trace_points = (const struct trace_point[]){
		LATENCY_STAGES(TRACE_ROW)
		{"STAGE_LATENCY", "picoseconds", "qpn", "sum of the stages of this work request"},
		RECEIVE_STAGES(RECEIVED_TRACE_ROW)
		{"STAGE_RECEIVED", "picoseconds", "qpn", "sum of the stages of this receive"}, {0}},
};
/* clang-format on */

struct latency_block {
	struct block block;
	struct latency_counters count;
};

_Static_assert(sizeof(struct latency_counters) ==
		       (4 + STAGE_COUNT + RECEIVE_STAGE_COUNT) * sizeof(uint64_t),
	       "stage i is counter i + 2, and counters of receives follow");
_Static_assert(STAGE_CQE == STAGE_COUNT - 1 && RECEIVE_CQE == RECEIVE_STAGE_COUNT - 1,
	       "the last stage ends with the CQE");

/* Counts and traces the stages of a work request that began at `start` and whose CQE is visible
 * now. totals[0] is the number of requests, totals[1] the sum of latencies, the next elements the
 * sum of each stage. */
static void account(struct latency_block *block, sim_time start, const sim_time *at,
		    unsigned stages, uint64_t *totals, unsigned first_point, uint32_t tag,
		    uint32_t qpn)
{
	sim_time now = sim_now(block->block.sim), reached = start;

	for (unsigned stage = 0; stage < stages; stage++) {
		sim_time end = stage + 1 == stages ? now : at[stage];
		sim_time duration = end > reached ? end - reached : 0;

		reached += duration;
		totals[2 + stage] += duration;
		if (duration)
			trace(&block->block, first_point + stage, tag, duration, 0);
	}
	assert(reached == now);
	totals[0]++;
	totals[1] += now - start;
	trace(&block->block, first_point + stages, tag, now - start, qpn);
}

void latency_stages_close(struct latency_block *block, const struct latency_stages *stages,
			  uint32_t tag, uint32_t qpn)
{
	account(block, stages->posted_at, stages->at, STAGE_COUNT, &block->count.completions, 0,
		tag, qpn);
}

void latency_stages_close_received(struct latency_block *block, const struct receive_stages *stages,
				   uint32_t tag, uint32_t qpn)
{
	account(block, stages->begun_at, stages->at, RECEIVE_STAGE_COUNT, &block->count.received,
		STAGE_POINT_RECEIVE, tag, qpn);
}

struct latency_block *latency_stages_create(struct sim *sim, const char *name)
{
	struct latency_block *block = calloc(1, sizeof(*block));

	assert(block);
	block_init(&block->block, sim, &latency_stages_type, name, NULL,
		   (const uint64_t *)&block->count);
	return block;
}

void latency_stages_destroy(struct latency_block *block)
{
	block_fini(&block->block);
	free(block);
}

const struct latency_counters *latency_stages_counters(const struct latency_block *block)
{
	return &block->count;
}
