/*
 * fifo: a bounded queue of fixed-size items between two blocks, as a hardware FIFO.
 *
 *     producer --fifo_push()--> [items] --fifo_pop()--> consumer
 *     producer <--on_space------         ------on_data--> consumer
 *
 * A push that finds no room is refused and counted: the producer stalls until its on_space event, which is
 * scheduled when room appears. on_data is scheduled when an item enters an empty FIFO. Both come at this instant but
 * never inside the call; an event that is pending already is left alone.
 */
#ifndef SIM_FIFO_H
#define SIM_FIFO_H

#include "sim/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fifo {
	unsigned char *items;
	struct event *on_data;  /* the consumer's, NULL: it polls */
	struct event *on_space; /* the producer's, NULL: it polls */
	uint32_t item_bytes;
	uint32_t capacity;
	uint32_t head;
	uint32_t count;
	uint32_t count_max; /* ever reached */
	bool refused;       /* a push since the last on_space */
	uint64_t pushed;
	uint64_t stalls; /* pushes refused */
};

void fifo_init(struct fifo *fifo, size_t item_bytes, uint32_t capacity);
void fifo_fini(struct fifo *fifo);

/* Copies the item in. false: full; on_space will tell when to try again. */
bool fifo_push(struct fifo *fifo, const void *item);

/* Copies the oldest item out. false: empty. */
bool fifo_pop(struct fifo *fifo, void *item);

static inline bool fifo_full(const struct fifo *fifo)
{
	return fifo->count == fifo->capacity;
}

/* The oldest item, which stays; NULL: empty. Valid until it is popped. */
static inline void *fifo_first(const struct fifo *fifo)
{
	return fifo->count != 0 ? fifo->items + (size_t)fifo->head * fifo->item_bytes : NULL;
}

#ifdef __cplusplus
}
#endif
#endif
