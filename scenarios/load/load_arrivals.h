/*
 * load_arrivals: what an end knows of the messages that come to it: told as they are posted at the other end, found by the PSN of
 * their packets. In a divided run what is told to another part is there before the first packet is, as packets cross like it.
 *
 *     the other end's host  post() --load_arrivals_tell()--> queue of the end, in the order of posting
 *     the end's host        a packet, or its CQE --find--> which flow
 */
#ifndef SCENARIOS_LOAD_LOAD_ARRIVALS_H
#define SCENARIOS_LOAD_LOAD_ARRIVALS_H

#include "scenarios/workload/workload.h"
#include "sim/sim.h"

struct load_arrivals; /* of all ends of a run */
struct load_end;

struct load_arrival {
	struct load_arrival *next;         /* of its queue */
	struct load_arrival *next_written; /* of those that a core is to see */
	struct load_end *end;              /* it comes to */
	uint32_t flow;
	uint32_t first_psn, packets;
	uint32_t cqes_before; /* written: so many CQEs came first, of all that its core gets */
	uint8_t operation;    /* enum workload_operation; atomics are not kept */
	bool delivered;
};

struct load_arrival_queue {
	struct load_arrival *first, *last;
};

/* Part of an end. */
struct load_arrivals_of_end {
	struct load_arrival_queue data;  /* writes and sends that are not delivered */
	struct load_arrival_queue reads; /* with those that may still be asked for again */
	uint32_t next_psn;               /* of what is told next */
};

/* In the parts of that run. */
struct load_arrivals *load_arrivals_create(struct sim *sim);
void load_arrivals_destroy(struct load_arrivals *arrivals);

/* Within an event of the part `from`. */
void load_arrivals_tell(unsigned from, struct load_end *end, uint32_t flow,
			enum workload_operation operation, uint32_t packets);

/* NULL: it is over. */
struct load_arrival *load_arrivals_find_write(struct load_end *end, uint32_t psn);
struct load_arrival *load_arrivals_find_read(struct load_end *end, uint32_t psn);
struct load_arrival *load_arrivals_oldest_send(struct load_end *end);

/* Told of no more. Does away with it, sooner or later. */
void load_arrivals_delivered(struct load_arrival *arrival);

#endif
