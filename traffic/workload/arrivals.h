/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrivals: what an end of a connection knows of the messages that come to it: told as they are posted at the other end, found by
 * the PSN of their packets. In a divided run what is told to another part is there before the first packet is, as packets cross
 * like it.
 *
 *     the other end's host  post() --arrivals_tell()--> queue of the end, in the order of posting
 *     the end's host        a packet, or its CQE --arrivals_find--> which flow
 */
#ifndef TRAFFIC_WORKLOAD_ARRIVALS_H
#define TRAFFIC_WORKLOAD_ARRIVALS_H

#include "sim/sim.h"
#include "traffic/workload/workload.h"

struct arrivals_desk; /* of all ends of a run */

struct arrival {
	struct arrival *next; /* of its queue */
	struct arrival_book *of;
	uint32_t flow;
	uint32_t first_psn, packets;
	uint8_t operation; /* enum workload_operation; atomics are not kept */
	bool delivered;
	/* its user's */
	struct arrival *next_written; /* of those that a core is to see */
	uint32_t cqes_before; /* written: so many CQEs came first, of all that its core gets */
};

struct arrival_queue {
	struct arrival *first, *last;
};

struct arrival_book { /* of an end, embedded there */
	struct arrivals_desk *desk;
	unsigned part;              /* of the run, that its host is in */
	uint64_t reads_max;         /* that the other end has under way */
	struct arrival_queue data;  /* writes and sends that are not delivered */
	struct arrival_queue reads; /* with those that may still be asked for again */
	uint32_t next_psn;          /* of what is told next */
};

/* In the parts of that run. */
struct arrivals_desk *arrivals_desk_create(struct sim *sim);
void arrivals_desk_destroy(struct arrivals_desk *desk);

/* Of an end at that host's `sim`. */
void arrivals_init(struct arrival_book *arrivals, struct arrivals_desk *desk, struct sim *sim,
		   uint64_t reads_max);

/* Within an event of the part `from`. */
void arrivals_tell(struct arrival_book *arrivals, unsigned from, uint32_t flow,
		   enum workload_operation operation, uint32_t packets);

/* NULL: it is over. */
struct arrival *arrivals_find_data(const struct arrival_book *arrivals, uint32_t psn);
struct arrival *arrivals_find_read(struct arrival_book *arrivals, uint32_t psn);
struct arrival *arrivals_oldest_send(const struct arrival_book *arrivals);

/* Told of no more. Does away with it, sooner or later. */
void arrivals_delivered(struct arrival *arrival);

#endif
