/* SPDX-License-Identifier: Apache-2.0 */
/* event_heap: see event_heap.h. Each event knows its index (event->place), so that removal needs
 * no search. */
#include "sim/event_heap.h"

#include <assert.h>
#include <stdlib.h>

static bool earlier(struct event_heap_entry a, struct event_heap_entry b)
{
	return a.key < b.key || (a.key == b.key && a.event->order < b.event->order);
}

static void put(struct event_heap *heap, uint32_t index, struct event_heap_entry entry)
{
	heap->entries[index] = entry;
	entry.event->place = (uintptr_t)index << EVENT_PLACE_BITS | EVENT_IN_HEAP;
}

static void sift_up(struct event_heap *heap, uint32_t index, struct event_heap_entry entry)
{
	while (index > 0) {
		uint32_t parent = (index - 1) / 2;

		if (!earlier(entry, heap->entries[parent]))
			break;
		put(heap, index, heap->entries[parent]);
		index = parent;
	}
	put(heap, index, entry);
}

static void sift_down(struct event_heap *heap, uint32_t index, struct event_heap_entry entry)
{
	uint32_t child;

	while ((child = 2 * index + 1) < heap->count) {
		if (child + 1 < heap->count &&
		    earlier(heap->entries[child + 1], heap->entries[child]))
			child++;
		if (!earlier(heap->entries[child], entry))
			break;
		put(heap, index, heap->entries[child]);
		index = child;
	}
	put(heap, index, entry);
}

void event_heap_insert(struct event_heap *heap, struct event *event)
{
	if (heap->count == heap->capacity) {
		heap->capacity *= 2;
		heap->entries = realloc(heap->entries, heap->capacity * sizeof(*heap->entries));
		assert(heap->entries);
	}
	sift_up(heap, heap->count++, (struct event_heap_entry){event->key, event});
}

void event_heap_remove(struct event_heap *heap, struct event *event)
{
	uint32_t index = (uint32_t)(event->place >> EVENT_PLACE_BITS);
	struct event_heap_entry last;

	assert(index < heap->count && heap->entries[index].event == event);
	event->place = 0;
	last = heap->entries[--heap->count];
	if (last.event == event)
		return;
	if (index > 0 && earlier(last, heap->entries[(index - 1) / 2]))
		sift_up(heap, index, last);
	else
		sift_down(heap, index, last);
}

void event_heap_init(struct event_heap *heap)
{
	*heap = (struct event_heap){.capacity = 64};
	heap->entries = malloc(heap->capacity * sizeof(*heap->entries));
	assert(heap->entries);
}

void event_heap_fini(struct event_heap *heap)
{
	free(heap->entries);
}
