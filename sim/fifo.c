/* fifo: see fifo.h. */
#include "sim/fifo.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void wake(struct event *event)
{
	if (event != NULL && !event_pending(event))
		sim_schedule(event, 0);
}

bool fifo_push(struct fifo *fifo, const void *item)
{
	uint32_t tail;

	if (fifo_full(fifo)) {
		fifo->stalls++;
		fifo->refused = true;
		return false;
	}
	tail = fifo->head + fifo->count;
	if (tail >= fifo->capacity)
		tail -= fifo->capacity;
	memcpy(fifo->items + (size_t)tail * fifo->item_bytes, item, fifo->item_bytes);
	fifo->pushed++;
	if (++fifo->count > fifo->count_max)
		fifo->count_max = fifo->count;
	if (fifo->count == 1)
		wake(fifo->on_data);
	return true;
}

bool fifo_pop(struct fifo *fifo, void *item)
{
	if (fifo->count == 0)
		return false;
	memcpy(item, fifo_first(fifo), fifo->item_bytes);
	fifo->count--;
	if (++fifo->head == fifo->capacity)
		fifo->head = 0;
	if (fifo->refused) {
		fifo->refused = false;
		wake(fifo->on_space);
	}
	return true;
}

void fifo_init(struct fifo *fifo, size_t item_bytes, uint32_t capacity)
{
	assert(item_bytes > 0 && item_bytes <= UINT32_MAX && capacity > 0 &&
	       capacity <= UINT32_MAX / 2);
	*fifo = (struct fifo){.item_bytes = (uint32_t)item_bytes, .capacity = capacity};
	fifo->items = calloc(capacity, item_bytes);
	assert(fifo->items != NULL);
}

void fifo_fini(struct fifo *fifo)
{
	free(fifo->items);
	fifo->items = NULL;
}
