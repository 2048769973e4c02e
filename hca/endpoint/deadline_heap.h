/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deadline_heap: a heap of the queue pairs of one port, ordered by a time: the departure of the
 * next packet, or the deadline of a response. Each queue pair stores its place, so that its time
 * can be changed. If two times are equal, the lower queue pair number goes first.
 */
#ifndef HCA_ENDPOINT_DEADLINE_HEAP_H
#define HCA_ENDPOINT_DEADLINE_HEAP_H

#include <stdint.h>

#include "sim/sim.h"

struct endpoint_qp;

enum deadline_kind { DEADLINE_DEPARTURE, DEADLINE_RESPONSE, DEADLINE_KINDS };

#define NOT_IN_HEAP UINT32_MAX

struct deadline_entry {
	sim_time at;
	struct endpoint_qp *qp;
};

struct deadline_heap {
	struct deadline_entry *entries;
	uint32_t count, capacity;
	enum deadline_kind kind;
};

void deadline_heap_init(struct deadline_heap *heap, enum deadline_kind kind);
void deadline_heap_fini(struct deadline_heap *heap);

/* Inserts a queue pair, or changes its time. */
void deadline_heap_set(struct deadline_heap *heap, struct endpoint_qp *qp, sim_time at);

/* Removes a queue pair. Does nothing if it is not in the heap. */
void deadline_heap_remove(struct deadline_heap *heap, struct endpoint_qp *qp);

#endif
