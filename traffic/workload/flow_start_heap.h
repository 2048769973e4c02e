/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_start_heap: which flows of a host begin when: a heap, and one event for the first of them. Part of flow_driver.
 *
 * A host has two: of what begins because of the host alone, and of what others have told it of (dependencies.h), which may enter
 * between two windows of a parallel run and therefore has a fixed place within its instant.
 */
#ifndef TRAFFIC_WORKLOAD_FLOW_START_HEAP_H
#define TRAFFIC_WORKLOAD_FLOW_START_HEAP_H

#include "sim/block.h"

enum flow_start_kind { FLOW_START_OWN, FLOW_START_NOTIFIED, FLOW_START_KINDS };

struct start {
	sim_time at;
	uint32_t flow;
};

struct flow_start_heap {
	struct event event;
	struct start *starts; /* the earliest first, of equals the lower number */
	uint32_t count;
	enum flow_start_kind kind;
	void (*begin)(void *context, uint32_t flow);
	void *context;
};

/* starts: room for all that will ever be in it at once. */
void flow_start_heap_init(struct flow_start_heap *heap, struct block *block,
			  enum flow_start_kind kind, struct start *starts,
			  void (*begin)(void *context, uint32_t flow), void *context);
void flow_start_heap_fini(struct flow_start_heap *heap);

/* at: now, or later. */
void flow_start_heap_add(struct flow_start_heap *heap, sim_time at, uint32_t flow);

#endif
