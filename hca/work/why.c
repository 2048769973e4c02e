/* why: see why.h. */
#include "hca/work/why.h"

#include <assert.h>
#include <stdlib.h>

/* clang-format off */
#define COUNTER_ROW(name, field, end) {#field, "ps", "of all completions, until " end},
#define TRACE_ROW(name, field, end)   {"WHY_" #name, "picoseconds", "", end},

static const struct block_type why_type = {
	.name         = "why",
	.params       = (const struct param[]){{0}},
	.counters     = (const struct counter[]){
		{"completions", "CQEs", "of send work requests whose time is accounted for"},
		{"latency", "ps", "of all of them, from the store to the CQE"},
		WHY_STAGES(COUNTER_ROW) {0}},
	.trace_points = (const struct trace_point[]){
		WHY_STAGES(TRACE_ROW)
		{"WHY_LATENCY", "picoseconds", "qpn", "the sum of this work request's stages"}, {0}},
};
/* clang-format on */

struct why_block {
	struct block block;
	struct why_counters count;
};

_Static_assert(sizeof(struct why_counters) == (2 + WHY_STAGE_COUNT) * sizeof(uint64_t),
	       "stage i is counter i + 2");

sim_time why_durations(const struct why *why, sim_time now, sim_time durations[WHY_STAGE_COUNT])
{
	sim_time reached = why->posted_at;

	for (unsigned stage = 0; stage < WHY_STAGE_COUNT; stage++) {
		sim_time end = stage == WHY_CQE ? now : why->at[stage];

		durations[stage] = end > reached ? end - reached : 0;
		reached += durations[stage];
	}
	assert(reached == now);
	return now - why->posted_at;
}

void why_close(struct why_block *block, const struct why *why, uint32_t tag, uint32_t qpn)
{
	sim_time durations[WHY_STAGE_COUNT];
	sim_time latency = why_durations(why, sim_now(block->block.sim), durations);
	uint64_t *totals = &block->count.latency + 1;

	block->count.completions++;
	block->count.latency += latency;
	for (unsigned stage = 0; stage < WHY_STAGE_COUNT; stage++)
		totals[stage] += durations[stage];
	if (!block->block.trace)
		return;
	for (unsigned stage = 0; stage < WHY_STAGE_COUNT; stage++)
		if (durations[stage])
			trace(&block->block, stage, tag, durations[stage], 0);
	trace(&block->block, WHY_STAGE_COUNT, tag, latency, qpn);
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
