/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parallel_ranks: executes the LPs of a run in one process each (sim/ranks.h). A window is the same
 * as with threads. At its end each rank sends the items that its channels hold to the ranks of the
 * receiving LPs, in one message for each rank. The same exchange agrees on the next event's time:
 *
 *     message = { number of a channel, items }...
 */
#include <assert.h>
#include <string.h>

#include "sim/gauge.h"
#include "sim/parallel_state.h"

static struct lp *own_lp(struct parallel *parallel)
{
	return &parallel->lps[parallel->ranks->rank];
}

static void write_items(struct parallel *parallel, unsigned to)
{
	struct lp *lp = own_lp(parallel);
	struct lp_channel **list = &lp->left[to][lp->window];
	struct carry *out = &parallel->ranks->out[to];

	carry_write(out);
	while (*list) {
		struct lp_channel *channel = *list;

		*list = channel->next[lp->window];
		channel->announced[lp->window] = false;
		CARRY(out, channel->number);
		channel->carry(channel, lp->window, out);
	}
	parallel->messages += out->count != 0;
	parallel->message_bytes += out->count;
}

static void read_items(struct parallel *parallel, unsigned from)
{
	struct carry *in = &parallel->ranks->in[from];
	unsigned window = own_lp(parallel)->window;

	while (!carry_ends(in)) {
		struct lp_channel *channel;
		uint32_t number;

		CARRY(in, number);
		assert(number < parallel->channel_count);
		channel = parallel->channels[number];
		assert(!channel->to->remote && channel->from->lp_number == from);
		channel->carry(channel, window, in);
		channel->take(channel, window);
	}
}

/* Sends and takes the items of a window. `next` is a time before which no event or item of this
 * rank takes effect. Returns the smallest one of all ranks. */
static sim_time exchange(struct parallel *parallel, sim_time next)
{
	struct ranks *ranks = parallel->ranks;

	own_lp(parallel)->sim->current = NULL;
	for (unsigned i = 0; i < ranks->count; i++)
		if (i != ranks->rank)
			write_items(parallel, i);
	next = ranks->ops->exchange(next, ranks->out, ranks->in);
	for (unsigned i = 0; i < ranks->count; i++)
		if (i != ranks->rank)
			read_items(parallel, i);
	return next;
}

void parallel_ranks_run(struct parallel *parallel)
{
	struct lp *lp = own_lp(parallel);
	sim_time end, next = exchange(parallel, lp->next_at[lp->window]);

	assert(parallel->until < SIM_NEVER);
	while ((end = parallel_window_end(parallel, next, parallel->end))) {
		parallel->end = end;
		parallel_fire_until(lp, end);
		next = exchange(parallel, lp->next_at[lp->window]);
		parallel->windows++;
	}
}

sim_time parallel_ranks_next(struct parallel *parallel)
{
	const struct event *first = wheel_first(&own_lp(parallel)->sim->wheel);

	return exchange(parallel, first ? event_time(first) : SIM_NEVER);
}

/* ---- state for all ranks ---- */

static size_t count_entries(const struct block *block, size_t *gauges)
{
	size_t counters = 0;

	while (block->counts && block->type->counters && block->type->counters[counters].name)
		counters++;
	*gauges = 0;
	while (block->gauges && block->type->gauges[*gauges].name)
		++*gauges;
	return counters;
}

static void carry_block(struct block *block, struct carry *carry)
{
	size_t gauges, counters = count_entries(block, &gauges);

	gauges_read(block);
	if (counters)
		carry_raw(carry, (uint64_t *)(uintptr_t)block->counts,
			  counters * sizeof(block->counts[0]));
	if (gauges)
		carry_raw(carry, block->gauges, gauges * sizeof(block->gauges[0]));
	if (block->type->carry)
		block->type->carry(block, carry);
}

static void carry_lp(struct sim *lp, struct carry *carry)
{
	CARRY(carry, lp->fired);
	for (struct block *block = sim_blocks(lp->root); block; block = block->next)
		if (block->sim == lp)
			carry_block(block, carry);
}

void sim_share(struct sim *sim)
{
	struct ranks *ranks = sim_ranks(sim);
	struct carry own = {0};

	if (!ranks)
		return;
	carry_lp(sim_lp(sim, ranks->rank), &own);
	sim->lp->parallel->shared_bytes += own.count;
	for (unsigned i = 0; i < ranks->count; i++) {
		carry_write(&ranks->out[i]);
		if (i != ranks->rank)
			carry_raw(&ranks->out[i], own.bytes, own.count);
	}
	carry_fini(&own);
	ranks->ops->exchange(0, ranks->out, ranks->in);
	for (unsigned i = 0; i < ranks->count; i++) {
		if (i == ranks->rank)
			continue;
		carry_lp(sim_lp(sim, i), &ranks->in[i]);
		assert(carry_ends(&ranks->in[i]));
	}
}

void sim_sum(struct sim *sim, uint64_t *values, size_t count)
{
	struct ranks *ranks = sim_ranks(sim);

	if (ranks)
		ranks->ops->sum(values, count);
}

void sim_rank_traffic(struct sim *sim, struct sim_rank_traffic *traffic)
{
	struct parallel *parallel = sim->lp->parallel;
	struct ranks *ranks = parallel->ranks;

	for (unsigned i = 0; i < ranks->count; i++) {
		bool own = i == ranks->rank;
		uint64_t values[] = {
			own ? parallel->lps[i].sim->fired : 0, own ? parallel->messages : 0,
			own ? parallel->message_bytes : 0, own ? parallel->shared_bytes : 0,
			own ? (uint64_t)(ranks->ops->waited() * 1e6) : 0};

		ranks->ops->sum(values, ARRAY_SIZE(values));
		traffic[i] = (struct sim_rank_traffic){values[0], values[1], values[2], values[3],
						       (double)values[4] * 1e-6};
	}
}

/* ---- life ---- */

void sim_create_ranks(struct sim *sim, struct ranks *ranks)
{
	struct parallel *parallel;

	assert(ranks->count > 1);
	sim_create_lps(sim, ranks->count);
	parallel = sim->lp->parallel;
	parallel->ranks = ranks;
	for (unsigned i = 0; i < ranks->count; i++)
		parallel->lps[i].sim->remote = i != ranks->rank;
}

struct ranks *sim_ranks(const struct sim *sim)
{
	const struct sim *root = sim->root;

	return root->lp ? root->lp->parallel->ranks : NULL;
}

bool sim_is_remote(const struct sim *sim)
{
	return sim->remote;
}
