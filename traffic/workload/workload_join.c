/* SPDX-License-Identifier: Apache-2.0 */
/* workload_join: several workloads as one (workload.h), each as a part with its own queue pairs. */
#include <assert.h>
#include <stdlib.h>

#include "traffic/workload/workload.h"

/* Returns the largest queue pair number plus 1. */
static uint32_t queue_pair_end(const struct workload *workload)
{
	uint32_t end = 0;

	for (uint32_t i = 0; i < workload->count; i++)
		if (workload->flows[i].queue_pair >= end)
			end = workload->flows[i].queue_pair + 1;
	return end;
}

/* Appends a member, which is finished. Its places in next[] follow the existing ones. */
static void append(struct workload *whole, const struct workload_member *member, uint32_t part,
		   uint32_t *next_count)
{
	const struct workload *from = member->workload;
	uint32_t first_flow = whole->count, first_next = *next_count;
	uint32_t first_queue_pair = queue_pair_end(whole);

	whole->parts[part] =
		(struct workload_part){from->parts[0].stop, first_queue_pair, from->parts[0].whole};
	for (uint32_t i = 0; i < from->count; i++) {
		struct workload_flow flow = from->flows[i];

		flow.source = member->hosts[flow.source];
		flow.destination = member->hosts[flow.destination];
		flow.first_next += first_next;
		flow.queue_pair += first_queue_pair;
		flow.part = (uint8_t)part;
		whole->flows[whole->count++] = flow;
		*next_count += flow.next_count;
	}
	for (uint32_t i = first_next; i < *next_count; i++)
		whole->next[i] = from->next[i - first_next] + first_flow;
	workload_append_operations(whole, from, member->hosts, (uint8_t)part, first_flow);
	workload_ignore(whole, from->ignored);
}

struct workload *workload_join(const struct workload_member *members, uint32_t count,
			       uint32_t hosts)
{
	struct workload *whole = workload_new(hosts);
	uint32_t next_count = 0;

	assert(count >= 1 && count <= WORKLOAD_PARTS_MAX);
	free(whole->parts);
	whole->parts = calloc(count, sizeof(whole->parts[0]));
	whole->part_count = count;
	for (uint32_t i = 0; i < count; i++) {
		whole->capacity += members[i].workload->count;
		whole->edge_count += members[i].workload->edge_count;
	}
	whole->flows = malloc((whole->capacity + 1) * sizeof(whole->flows[0]));
	whole->next = malloc((whole->edge_count + 1) * sizeof(whole->next[0]));
	assert(whole->parts && whole->flows && whole->next);
	for (uint32_t i = 0; i < count; i++) {
		assert(members[i].workload->part_count == 1 && members[i].workload->next);
		append(whole, &members[i], i, &next_count);
		workload_destroy(members[i].workload);
	}
	assert(next_count == whole->edge_count);
	return whole;
}
