/* SPDX-License-Identifier: Apache-2.0 */
/* deadline_heap: see deadline_heap.h. */
#include "hca/endpoint/deadline_heap.h"

#include <stdlib.h>

#include "hca/endpoint/endpoint_state.h"

static bool before(const struct deadline_entry *one, const struct deadline_entry *other)
{
	return one->at != other->at ? one->at < other->at : one->qp->number < other->qp->number;
}

static void put(struct deadline_heap *heap, uint32_t place, struct deadline_entry entry)
{
	heap->entries[place] = entry;
	entry.qp->place[heap->kind] = place;
}

static void sift(struct deadline_heap *heap, uint32_t place)
{
	struct deadline_entry entry = heap->entries[place];

	while (place && before(&entry, &heap->entries[(place - 1) / 2])) {
		put(heap, place, heap->entries[(place - 1) / 2]);
		place = (place - 1) / 2;
	}
	for (;;) {
		uint32_t child = 2 * place + 1;

		if (child >= heap->count)
			break;
		if (child + 1 < heap->count &&
		    before(&heap->entries[child + 1], &heap->entries[child]))
			child++;
		if (!before(&heap->entries[child], &entry))
			break;
		put(heap, place, heap->entries[child]);
		place = child;
	}
	put(heap, place, entry);
}

void deadline_heap_set(struct deadline_heap *heap, struct endpoint_qp *qp, sim_time at)
{
	uint32_t place = qp->place[heap->kind];

	if (place == NOT_IN_HEAP) {
		if (heap->count == heap->capacity) { /* more queue pairs at once than before */
			heap->capacity = heap->capacity ? heap->capacity * 2 : 4;
			heap->entries =
				realloc(heap->entries, heap->capacity * sizeof(heap->entries[0]));
			assert(heap->entries);
		}
		place = heap->count++;
		heap->entries[place].qp = qp;
	}
	heap->entries[place].at = at;
	sift(heap, place);
}

void deadline_heap_remove(struct deadline_heap *heap, struct endpoint_qp *qp)
{
	uint32_t place = qp->place[heap->kind];

	if (place == NOT_IN_HEAP)
		return;
	qp->place[heap->kind] = NOT_IN_HEAP;
	if (place == --heap->count)
		return;
	heap->entries[place] = heap->entries[heap->count];
	sift(heap, place);
}

void deadline_heap_init(struct deadline_heap *heap, enum deadline_kind kind)
{
	*heap = (struct deadline_heap){.kind = kind};
}

void deadline_heap_fini(struct deadline_heap *heap)
{
	free(heap->entries);
}
