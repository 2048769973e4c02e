/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deadline_heap: the queue pairs of one port by a time of theirs: when the next packet may leave, or when a response
 * is overdue. Each knows its place, so a time can be moved. Two times being equal, the lower queue pair goes first.
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

/* Enters or moves. */
void deadline_heap_set(struct deadline_heap *heap, struct endpoint_qp *qp, sim_time at);

/* Nothing if it is not in. */
void deadline_heap_remove(struct deadline_heap *heap, struct endpoint_qp *qp);

#endif
