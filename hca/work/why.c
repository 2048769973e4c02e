/* SPDX-License-Identifier: Apache-2.0 */
/* why: see why.h. */
#include "hca/work/why.h"

#include <assert.h>
#include <stdlib.h>

/* clang-format off */
#define RECEIVED_TRACE_ROW(name, field, end)   {"WHY_RECEIVE_" #name, "picoseconds", "", end},
#define TRACE_ROW(name, field, end)   {"WHY_" #name, "picoseconds", "", end},

#define COUNTER_ROW(name, field, end)          {#field, "ps", "of all completions, until " end},
#define RECEIVED_COUNTER_ROW(name, field, end) {"received_" #field, "ps", "of all receives, until " end},

const struct counter why_counter_list[] = {
	{"completions", "CQEs", "of send work requests whose time is accounted for"},
	{"latency", "ps", "of all of them, from the store to the CQE"},
	WHY_STAGES(COUNTER_ROW)
	{"received", "CQEs", "of receive work requests whose time is accounted for"},
	{"received_latency", "ps", "of all of them, from the first bit to the CQE"},
	RECEIVE_STAGES(RECEIVED_COUNTER_ROW)
	{0}};

static const struct block_type why_type = {
	.name         = "why",
	.params       = (const struct param[]){{0}},
	.counters     = why_counter_list,
	.trace_points = (const struct trace_point[]){
		WHY_STAGES(TRACE_ROW)
		{"WHY_LATENCY", "picoseconds", "qpn", "the sum of this work request's stages"},
		RECEIVE_STAGES(RECEIVED_TRACE_ROW)
		{"WHY_RECEIVED", "picoseconds", "qpn", "the sum of this receive's stages"}, {0}},
};
/* clang-format on */

struct why_block {
	struct block block;
	struct why_counters count;
};

_Static_assert(sizeof(struct why_counters) ==
		       (4 + WHY_STAGE_COUNT + RECEIVE_STAGE_COUNT) * sizeof(uint64_t),
	       "stage i is counter i + 2, of receives that behind these");
_Static_assert(WHY_CQE == WHY_STAGE_COUNT - 1 && RECEIVE_CQE == RECEIVE_STAGE_COUNT - 1,
	       "the last stage ends with the CQE");

/* Counts and traces the stages of one that began at `start` and whose CQE is visible now: totals[0] their number, then the
 * sum of latencies, then that of each stage. */
static void account(struct why_block *block, sim_time start, const sim_time *at, unsigned stages,
		    uint64_t *totals, unsigned first_point, uint32_t tag, uint32_t qpn)
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

void why_close(struct why_block *block, const struct why *why, uint32_t tag, uint32_t qpn)
{
	account(block, why->posted_at, why->at, WHY_STAGE_COUNT, &block->count.completions, 0, tag,
		qpn);
}

void why_close_received(struct why_block *block, const struct receive_why *why, uint32_t tag,
			uint32_t qpn)
{
	account(block, why->begun_at, why->at, RECEIVE_STAGE_COUNT, &block->count.received,
		WHY_POINT_RECEIVE, tag, qpn);
}

struct why_block *why_create(struct sim *sim, const char *name)
{
	struct why_block *block = calloc(1, sizeof(*block));

	assert(block);
	block_init(&block->block, sim, &why_type, name, NULL, (const uint64_t *)&block->count);
	return block;
}

void why_destroy(struct why_block *block)
{
	block_fini(&block->block);
	free(block);
}

const struct why_counters *why_counters(const struct why_block *block)
{
	return &block->count;
}
