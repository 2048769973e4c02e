/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collective: see collective.h. Also contains the patterns that are one collective of all hosts. A
 * host's send in step s waits for the data that it has received, and for its own send before.
 *
 * Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH",
 * IJHPCA 19(1), 2005.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "traffic/workload/collective.h"

#define NO_FLOW UINT32_MAX

struct steps {
	struct workload *workload;
	const uint32_t *members; /* hosts that take part; NULL: 0, 1, ... */
	sim_time gap;
	uint32_t hosts;
	/* by member: last send from it, and last send to it; NO_FLOW: none */
	uint32_t *sent, *received;
	uint32_t *awaited;             /* the `received` that a send of the member waits for */
	uint32_t *sending, *receiving; /* sends of the current step */
};

static void steps_init(struct steps *steps, struct workload *workload, uint32_t hosts, sim_time gap)
{
	*steps = (struct steps){.workload = workload, .gap = gap, .hosts = hosts};
	steps->sent = malloc((size_t)5 * hosts * sizeof(steps->sent[0]));
	assert(steps->sent);
	steps->received = steps->sent + hosts;
	steps->awaited = steps->received + hosts;
	steps->sending = steps->awaited + hosts;
	steps->receiving = steps->sending + hosts;
	for (uint32_t i = 0; i < 5 * hosts; i++)
		steps->sent[i] = NO_FLOW;
}

static uint32_t host_of(const struct steps *steps, uint32_t member)
{
	return steps->members ? steps->members[member] : member;
}

static void steps_send(struct steps *steps, uint32_t from, uint32_t to, uint64_t bytes)
{
	uint32_t flow = workload_add(steps->workload, host_of(steps, from), host_of(steps, to),
				     bytes ? bytes : 1, steps->gap);

	if (steps->sent[from] != NO_FLOW)
		workload_after(steps->workload, flow, steps->sent[from]);
	if (steps->received[from] != NO_FLOW)
		workload_after(steps->workload, flow, steps->received[from]);
	steps->awaited[from] = steps->received[from];
	steps->sending[from] = flow;
	steps->receiving[to] = flow;
}

/* Makes the arrival of this step the last one of a member. If no send waits for the previous
 * arrival, a barrier of the host stands for both arrivals. */
static void receive(struct steps *steps, uint32_t member)
{
	uint32_t before = steps->received[member], now = steps->receiving[member];

	if (before != steps->awaited[member]) {
		uint32_t host = host_of(steps, member);
		uint32_t both = workload_add(steps->workload, host, host, 0, 0);

		steps->workload->flows[both].local = true;
		workload_after(steps->workload, both, before);
		workload_after(steps->workload, both, now);
		now = both;
	}
	steps->received[member] = now;
}

static void steps_end(struct steps *steps)
{
	for (uint32_t i = 0; i < steps->hosts; i++) {
		if (steps->sending[i] != NO_FLOW)
			steps->sent[i] = steps->sending[i];
		if (steps->receiving[i] != NO_FLOW)
			receive(steps, i);
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

/* A binomial tree, as MPICH has it. Members count from the root on. A member that a step connects
 * with one `distance` away stands for all between them, whose data (`scaled`) it has or needs. */
static void make_binomial(struct steps *steps, uint32_t root, bool up, uint64_t bytes, bool scaled)
{
	uint32_t hosts = steps->hosts, distance = 1, last = 1;

	while (last < hosts)
		last *= 2;
	for (distance = up ? 1 : last / 2; up ? distance < hosts : distance > 0;
	     distance = up ? 2 * distance : distance / 2) {
		for (uint32_t i = 0; i + distance < hosts; i += 2 * distance) {
			uint32_t most = hosts - i - distance;
			uint64_t data =
				scaled ? bytes * (most < distance ? most : distance) : bytes;
			uint32_t near = (i + root) % hosts, far = (i + distance + root) % hosts;

			steps_send(steps, up ? far : near, up ? near : far, data);
		}
		steps_end(steps);
	}
}

/* Each member tells the one 1, 2, 4, ... further that it and all before it are here. */
static void make_dissemination(struct steps *steps)
{
	for (uint32_t distance = 1; distance < steps->hosts; distance *= 2) {
		for (uint32_t i = 0; i < steps->hosts; i++)
			steps_send(steps, i, (i + distance) % steps->hosts, 1);
		steps_end(steps);
	}
}

static void make_kind(struct steps *steps, const struct collective *collective)
{
	uint32_t count = collective->count, root = collective->root;
	uint64_t bytes = collective->bytes, part = (bytes + count - 1) / count;

	switch (collective->kind) {
	case COLLECTIVE_ALL_REDUCE:
		make_ring(steps, 2 * (count - 1), part);
		break;
	case COLLECTIVE_REDUCE_SCATTER:
		make_ring(steps, count - 1, part);
		break;
	case COLLECTIVE_ALL_GATHER:
		make_ring(steps, count - 1, bytes);
		break;
	case COLLECTIVE_ALL_TO_ALL:
		make_pairwise(steps, part);
		break;
	case COLLECTIVE_REDUCE:
	case COLLECTIVE_GATHER:
		make_binomial(steps, root, true, bytes, collective->kind == COLLECTIVE_GATHER);
		break;
	case COLLECTIVE_BROADCAST:
		make_binomial(steps, root, false, bytes, false);
		break;
	case COLLECTIVE_SCATTER:
		make_binomial(steps, root, false, part, true);
		break;
	default:
		assert(collective->kind == COLLECTIVE_BARRIER);
		make_dissemination(steps);
		break;
	}
}

void collective_add(struct workload *workload, const struct collective *collective)
{
	struct steps steps;

	assert(collective->root < collective->count);
	steps_init(&steps, workload, collective->count, 0);
	steps.members = collective->hosts;
	for (uint32_t i = 0; i < collective->count; i++)
		steps.sent[i] = collective->enter[i];
	if (collective->count > 1)
		make_kind(&steps, collective);
	for (uint32_t i = 0; i < collective->count; i++) {
		workload_after(workload, collective->leave[i], steps.sent[i]);
		if (steps.received[i] != NO_FLOW)
			workload_after(workload, collective->leave[i], steps.received[i]);
	}
	free(steps.sent);
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
	steps_init(&steps, workload, hosts, params->gap);
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
