/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_heap: a binary heap of pending events, earliest (key, order) first. The timing wheel keeps
 * the few events at or before its cursor in this heap. The benchmark compares with it. Keys are
 * copied beside the pointers, so that comparing seldom touches an event.
 */
#ifndef SIM_EVENT_HEAP_H
#define SIM_EVENT_HEAP_H

#include "sim/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

struct event_heap_entry {
	uint64_t key;
	struct event *event;
};

struct event_heap {
	struct event_heap_entry *entries;
	uint32_t count;
	uint32_t capacity;
};

/* Initialises an empty heap. The heap grows when necessary. */
void event_heap_init(struct event_heap *heap);
void event_heap_fini(struct event_heap *heap);

/* Inserts or removes an event, and sets its place. */
void event_heap_insert(struct event_heap *heap, struct event *event);
void event_heap_remove(struct event_heap *heap, struct event *event);

/* Returns the earliest event without removing it, or NULL if the heap is empty. */
static inline struct event *event_heap_first(const struct event_heap *heap)
{
	return heap->count != 0 ? heap->entries[0].event : NULL;
}

#ifdef __cplusplus
}
#endif
#endif
