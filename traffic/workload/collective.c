/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collective: collective operations of all hosts, step by step. A host's send in step s waits for
 * the data that it receives in step s - 1, and for its own send of that step.
 *
 * Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH",
 * IJHPCA 19(1), 2005.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "traffic/workload/workload.h"

#define NO_FLOW UINT32_MAX

struct steps {
	struct workload *workload;
	sim_time gap;
	uint32_t hosts;
	uint32_t *sent,
		*received; /* by host: last send from it, and last send to it; NO_FLOW: none */
	uint32_t *sending, *receiving; /* sends of the current step */
};

static void steps_init(struct steps *steps, struct workload *workload, sim_time gap)
{
	uint32_t hosts = workload->hosts;

	*steps = (struct steps){.workload = workload, .gap = gap, .hosts = hosts};
	steps->sent = malloc(4 * hosts * sizeof(steps->sent[0]));
	assert(steps->sent);
	steps->received = steps->sent + hosts;
	steps->sending = steps->received + hosts;
	steps->receiving = steps->sending + hosts;
	for (uint32_t i = 0; i < 4 * hosts; i++)
		steps->sent[i] = NO_FLOW;
}

static void steps_send(struct steps *steps, uint32_t from, uint32_t to, uint64_t bytes)
{
	uint32_t flow = workload_add(steps->workload, from, to, bytes ? bytes : 1, steps->gap);

	if (steps->sent[from] != NO_FLOW)
		workload_after(steps->workload, flow, steps->sent[from]);
	if (steps->received[from] != NO_FLOW)
		workload_after(steps->workload, flow, steps->received[from]);
	steps->sending[from] = flow;
	steps->receiving[to] = flow;
}

static void steps_end(struct steps *steps)
{
	for (uint32_t i = 0; i < steps->hosts; i++) {
		if (steps->sending[i] != NO_FLOW)
			steps->sent[i] = steps->sending[i];
		if (steps->receiving[i] != NO_FLOW)
			steps->received[i] = steps->receiving[i];
		steps->sending[i] = steps->receiving[i] = NO_FLOW;
	}
}

static void make_ring(struct steps *steps, uint32_t rounds, uint64_t bytes)
{
	for (uint32_t step = 0; step < rounds; step++) {
		for (uint32_t i = 0; i < steps->hosts; i++)
			steps_send(steps, i, (i + 1) % steps->hosts, bytes);
		steps_end(steps);
	}
}

static void make_pairwise(struct steps *steps, uint64_t bytes)
{
	for (uint32_t step = 1; step < steps->hosts; step++) {
		for (uint32_t i = 0; i < steps->hosts; i++)
			steps_send(steps, i, (i + step) % steps->hosts, bytes);
		steps_end(steps);
	}
}

/* Partners at a distance of half, a quarter, ... of the hosts exchange half, a quarter, ... of the
 * data; then the same in reverse order. */
static void make_halving_doubling(struct steps *steps, uint64_t bytes)
{
	for (uint32_t distance = steps->hosts / 2; distance; distance /= 2) {
		bytes /= 2;
		for (uint32_t i = 0; i < steps->hosts; i++)
			steps_send(steps, i, i ^ distance, bytes);
		steps_end(steps);
	}
	for (uint32_t distance = 1; distance < steps->hosts; distance *= 2) {
		for (uint32_t i = 0; i < steps->hosts; i++)
			steps_send(steps, i, i ^ distance, bytes);
		steps_end(steps);
		bytes *= 2;
	}
}

/* Host i's parent is (i - 1) / 2. A parent sends up when both children have arrived, and down when
 * its parent has. */
static void make_tree(struct workload *workload, sim_time gap, uint64_t bytes)
{
	uint32_t hosts = workload->hosts;
	uint32_t *up = malloc(2 * hosts * sizeof(up[0])), *down = up + hosts;

	assert(up);
	for (uint32_t i = hosts - 1; i > 0;
	     i--) { /* children have higher numbers, so they come first */
		up[i] = workload_add(workload, i, (i - 1) / 2, bytes, gap);
		for (uint32_t child = 2 * i + 1; child <= 2 * i + 2 && child < hosts; child++)
			workload_after(workload, up[i], up[child]);
	}
	for (uint32_t i = 1; i < hosts; i++) {
		uint32_t parent = (i - 1) / 2;

		down[i] = workload_add(workload, parent, i, bytes, gap);
		if (parent)
			workload_after(workload, down[i], down[parent]);
		for (uint32_t child = 1; !parent && child <= 2 && child < hosts; child++)
			workload_after(workload, down[i], up[child]);
	}
	free(up);
}

bool workload_add_collective(struct workload *workload, const struct workload_params *params,
			     char *error, size_t error_bytes)
{
	uint32_t hosts = workload->hosts;
	struct steps steps;

	if (params->pattern == PATTERN_halving_doubling_allreduce && hosts & (hosts - 1)) {
		snprintf(error, error_bytes,
			 "halving_doubling_allreduce: %u hosts are no power of two", hosts);
		return false;
	}
	steps_init(&steps, workload, params->gap);
	switch ((enum workload_pattern)params->pattern) {
	case PATTERN_ring_allreduce:
		make_ring(&steps, 2 * (hosts - 1), (params->bytes + hosts - 1) / hosts);
		break;
	case PATTERN_ring_allgather:
		make_ring(&steps, hosts - 1, params->bytes);
		break;
	case PATTERN_collective_all_to_all:
		make_pairwise(&steps, params->bytes);
		break;
	case PATTERN_halving_doubling_allreduce:
		make_halving_doubling(&steps, params->bytes);
		break;
	default:
		assert(params->pattern == PATTERN_tree_allreduce);
		make_tree(workload, params->gap, params->bytes);
		break;
	}
	free(steps.sent);
	return true;
}
