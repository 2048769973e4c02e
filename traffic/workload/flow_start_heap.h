/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_start_heap: schedules the starts of a host's flows: a heap, and one event for its first
 * entry. It is a part of flow_driver.
 *
 * A host has two heaps: one for starts that depend on the host alone, and one for starts that other
 * hosts have notified (dependencies.h). A notified start may be added between two windows of a
 * parallel run, and therefore has a fixed place within its instant.
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
	struct start *starts; /* earliest first; at equal times the lower flow number first */
	uint32_t count;
	enum flow_start_kind kind;
	void (*begin)(void *context, uint32_t flow);
	void *context;
};

/* Initialises a heap. `starts` must have room for the largest number of pending starts. */
void flow_start_heap_init(struct flow_start_heap *heap, struct block *block,
			  enum flow_start_kind kind, struct start *starts,
			  void (*begin)(void *context, uint32_t flow), void *context);
void flow_start_heap_fini(struct flow_start_heap *heap);

/* Adds the start of a flow. `at` must not be in the past. */
void flow_start_heap_add(struct flow_start_heap *heap, sim_time at, uint32_t flow);

#endif
