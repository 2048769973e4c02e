/* SPDX-License-Identifier: Apache-2.0 */
/* flow_repeat: see flow_repeat.h. */
#include "traffic/workload/flow_repeat.h"

#include <assert.h>
#include <stdlib.h>

#include "sim/fold.h"
#include "traffic/workload/flow_driver_state.h"

#define SUMS_PER_PAIR ((size_t)FLOW_PAIR_ENDS * FLOW_REPEAT_KINDS)

bool flow_repeat_watch(struct flow_driver *driver, struct sim *sim, const char **reason)
{
	const struct workload *workload = driver->workload;

	if (workload->part_count > 1 || !workload->phase_flows)
		*reason = "there are several workloads";
	else if (workload->server_count || workload->visit_count || workload->io_count)
		*reason = "the state of storage is not compared";
	else if (workload->phases < 2)
		*reason = "workload.phases is 1";
	else if ((uint64_t)workload->phases * workload->phase_flows != workload->count + 1)
		*reason = "the phases have different numbers of flows";
	else if (workload->parts[0].stop != SIM_NEVER)
		*reason = "workload.post_until is set";
	else
		*reason = NULL;
	if (*reason)
		return false;
	driver->repeat.watches = true;
	driver->repeat.sim = sim;
	driver->repeat.next_at = SIM_NEVER;
	driver->repeat.sums = calloc(driver->pairs.count * SUMS_PER_PAIR + 1, sizeof(uint64_t));
	assert(driver->repeat.sums);
	return true;
}

void flow_repeat_unwatch(struct flow_driver *driver)
{
	driver->repeat.watches = false;
}

void flow_repeat_reached(struct flow_driver *driver, uint32_t barrier, sim_time at)
{
	driver->repeat.next = barrier / driver->workload->phase_flows + 1;
	driver->repeat.next_at = at;
	sim_stop(driver->repeat.sim);
}

sim_time flow_repeat_next(const struct flow_driver *driver, uint32_t *phase)
{
	*phase = driver->repeat.next;
	return driver->repeat.next_at;
}

void flow_repeat_passed(struct flow_driver *driver)
{
	driver->repeat.next_at = SIM_NEVER;
}

/* ---- the state ---- */

static uint64_t *sums_of(const struct flow_driver *driver, const struct flow_pair *pair,
			 enum flow_pair_end end)
{
	size_t place = (size_t)(pair - driver->pairs.list) * SUMS_PER_PAIR;

	return &driver->repeat.sums[place + end * FLOW_REPEAT_KINDS];
}

uint64_t flow_repeat_bytes(const struct flow_driver *driver, uint32_t flow,
			   enum flow_repeat_kind kind)
{
	const struct workload_flow *what = &driver->workload->flows[flow];
	enum flow_pair_end end =
		what->operation == WORKLOAD_READ ? FLOW_PAIR_DESTINATION : FLOW_PAIR_SOURCE;

	return driver->repeat.sums ? sums_of(driver, driver->states[flow].pair, end)[kind] : 0;
}

static void fold_end(const struct flow_driver *driver, const struct flow_pair *pair,
		     enum flow_pair_end end, struct fold *fold)
{
	const struct backend_qp *qp =
		end == FLOW_PAIR_SOURCE ? pair->sender : driver->ops->peer(pair->sender);
	uint64_t *sums = sums_of(driver, pair, end);

	fold_sum(fold, &sums[FLOW_REPEAT_ACKED], driver->ops->acked_bytes(qp));
	fold_sum(fold, &sums[FLOW_REPEAT_ARRIVED], driver->ops->arrived_bytes(qp));
}

void flow_repeat_fold(struct block *block, struct fold *fold)
{
	const struct flow_driver *driver = container_of(block, const struct flow_driver, block);

	if (!driver->repeat.sums) {
		fold_refuse(fold, "%s: its phases are not watched", block->name);
		return;
	}
	for (uint32_t i = 0; i < driver->pairs.count; i++) {
		const struct flow_pair *pair = &driver->pairs.list[i];
		uint32_t marks = driver->ops->marks(driver->ops->peer(pair->sender));

		fold_number(fold, marks - pair->marks_reported);
		fold_end(driver, pair, FLOW_PAIR_SOURCE, fold);
		fold_end(driver, pair, FLOW_PAIR_DESTINATION, fold);
	}
}

/* Flows are numbered from the first one of the next phase on. */
void flow_repeat_fold_host(struct block *block, struct fold *fold)
{
	const struct flow_driver_host *host =
		container_of(block, const struct flow_driver_host, block);
	const struct flow_driver *driver = host->heaps[0].context;
	uint32_t first = driver->repeat.next * driver->workload->phase_flows;

	for (unsigned kind = 0; kind < FLOW_START_KINDS; kind++) {
		const struct flow_start_heap *heap = &host->heaps[kind];

		fold_number(fold, heap->count);
		for (uint32_t i = 0; i < heap->count; i++) {
			fold_since(fold, heap->starts[i].at);
			fold_number(fold, heap->starts[i].flow - first);
		}
	}
}

/* ---- skipping ---- */

/* Returns true if two flows, `distance` apart, are the same for the hosts. With `next`, the flows
 * that wait for them are as far apart, too. */
static bool same_flow(const struct workload *workload, uint32_t flow, uint32_t distance, bool next)
{
	const struct workload_flow *a = &workload->flows[flow];
	const struct workload_flow *b = &workload->flows[flow + distance];

	if (a->source != b->source || a->destination != b->destination || a->bytes != b->bytes ||
	    a->start != b->start || a->queue_pair != b->queue_pair ||
	    a->dependency_count != b->dependency_count || a->operation != b->operation ||
	    a->part != b->part || a->local != b->local || a->incast != b->incast)
		return false;
	if (!next)
		return true;
	for (uint32_t i = 0; i < a->next_count; i++)
		if (workload->next[a->first_next + i] + distance !=
		    workload->next[b->first_next + i])
			return false;
	return a->next_count == b->next_count;
}

/* Compares `count` flows with the flows that are `distance` later. */
static bool same_flows(const struct workload *workload, uint32_t first, uint32_t count,
		       uint32_t distance, bool next)
{
	for (uint32_t i = first; i < first + count; i++)
		if (!same_flow(workload, i, distance, next))
			return false;
	return true;
}

/* Returns true if the flows from `from` to the end repeat the `flows` flows before them. The last
 * phase has no barrier. */
static bool repeats_to_end(const struct workload *workload, uint32_t from, uint32_t flows)
{
	uint32_t last = workload->count - (workload->phase_flows - 1);

	return same_flows(workload, from - flows, last - from, flows, true) &&
	       same_flows(workload, last - flows, workload->phase_flows - 1, flows, false);
}

double flow_repeat_mean_fct(const struct flow_driver *driver, uint32_t phase)
{
	uint32_t flows = driver->workload->phase_flows, first = phase * flows, done = 0;
	double sum = 0;

	for (uint32_t i = first; i < first + flows; i++) {
		const struct flow_record *record = &driver->records[i];

		if (record->status != FLOW_done || workload_is_barrier(&driver->workload->flows[i]))
			continue;
		sum += (double)(record->finished - record->ready);
		done++;
	}
	return done ? sum / done : 0;
}

static void copy_record(struct flow_driver *driver, uint32_t from, uint32_t to, sim_time later)
{
	struct flow_record *record = &driver->records[to];

	*record = driver->records[from];
	record->flow = to;
	record->ready += later;
	record->started += record->started ? later : 0;
	record->arrived += record->arrived ? later : 0;
	record->finished += record->finished ? later : 0;
}

/* Renumbers the flows that are due. The order of the heaps remains. */
static void renumber(struct flow_driver *driver, uint32_t distance)
{
	for (uint32_t host = 0; host < driver->workload->hosts; host++)
		for (unsigned kind = 0; kind < FLOW_START_KINDS; kind++) {
			struct flow_start_heap *heap = &driver->hosts[host].heaps[kind];

			for (uint32_t i = 0; i < heap->count; i++)
				heap->starts[i].flow += distance;
		}
}

uint32_t flow_repeat_left(const struct flow_driver *driver, uint32_t second)
{
	return driver->workload->phases - 1 - second;
}

uint32_t flow_repeat_skip(struct flow_driver *driver, uint32_t first, uint32_t second,
			  sim_time period, const char **reason)
{
	const struct workload *workload = driver->workload;
	sim_time now = driver->repeat.next_at, deadline = driver->parts[0].params->start_deadline;
	uint32_t phase_flows = workload->phase_flows, from = second * phase_flows;
	uint32_t flows = (second - first) * phase_flows;
	uint32_t times = flow_repeat_left(driver, second) / (second - first);

	assert(second == driver->repeat.next && !driver->repeat.skipped && period);
	*reason = NULL;
	if (!times)
		*reason = "too few phases are left to skip any";
	else if (now > deadline || (deadline - now) / period < times + 1)
		*reason = "posting.start_deadline ends the run";
	else if (!repeats_to_end(workload, from, flows))
		*reason = "later phases have other flows";
	if (*reason)
		return 0;
	for (uint32_t i = 0; i < times * flows; i++)
		copy_record(driver, from - flows + i % flows, from + i, (i / flows + 1) * period);
	for (uint32_t i = 0; i < times * flows; i++)
		if (!workload_is_barrier(&workload->flows[from + i]))
			driver->hosts[workload_home(&workload->flows[from + i])].ended++;
	dependencies_copy(driver->dependencies, from, phase_flows - 1, times * flows);
	renumber(driver, times * flows);
	driver->repeat.end = from + times * flows;
	driver->repeat.skipped = times * period;
	return times;
}

void flow_repeat_end(struct flow_driver *driver)
{
	sim_time later = driver->repeat.skipped;

	for (uint32_t i = driver->repeat.end; later && i < driver->workload->count; i++) {
		struct flow_record *record = &driver->records[i];

		if (record->status == FLOW_not_started)
			continue;
		copy_record(driver, i, i, later);
	}
}
