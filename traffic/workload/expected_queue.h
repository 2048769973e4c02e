/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expected_queue: what an end of a connection knows of the messages that come to it: told as they are posted at the other end, found by
 * the PSN of their packets. In a parallel run what is told to another LP is there before the first packet is, as packets cross
 * like it.
 *
 *     the other end's host  post() --expected_queue_add()--> queue of the end, in the order of posting
 *     the end's host        a packet, or its CQE --expected_queue_find--> which flow
 */
#ifndef TRAFFIC_WORKLOAD_EXPECTED_QUEUE_H
#define TRAFFIC_WORKLOAD_EXPECTED_QUEUE_H

#include "sim/sim.h"
#include "traffic/workload/workload.h"

struct expected_queue_mailboxes; /* of all ends of a run */

struct expected_message {
	struct expected_message *next; /* of its queue */
	struct expected_queue *of;
	uint32_t flow;
	uint32_t first_psn, packets;
	uint8_t operation; /* enum workload_operation; atomics are not kept */
	bool delivered;
	/* its user's */
	struct expected_message *next_written; /* of those that a core is to see */
	uint32_t cqes_before; /* written: so many CQEs came first, of all that its core gets */
};

struct expected_list {
	struct expected_message *first, *last;
};

struct expected_queue { /* of an end, embedded there */
	struct expected_queue_mailboxes *mailboxes;
	unsigned lp;                /* of the run, that its host is in */
	uint64_t reads_max;         /* that the other end has under way */
	struct expected_list data;  /* writes and sends that are not delivered */
	struct expected_list reads; /* with those that may still be asked for again */
	uint32_t next_psn;          /* of what is told next */
};

/* In the LPs of that run. */
struct expected_queue_mailboxes *expected_queue_mailboxes_create(struct sim *sim);
void expected_queue_mailboxes_destroy(struct expected_queue_mailboxes *mailboxes);

/* Of an end at that host's `sim`. */
void expected_queue_init(struct expected_queue *expected,
			 struct expected_queue_mailboxes *mailboxes, struct sim *sim,
			 uint64_t reads_max);

/* Within an event of the LP `from`. */
void expected_queue_add(struct expected_queue *expected, unsigned from, uint32_t flow,
			enum workload_operation operation, uint32_t packets);

/* NULL: it is over. */
struct expected_message *expected_queue_find_data(const struct expected_queue *expected,
						  uint32_t psn);
struct expected_message *expected_queue_find_read(struct expected_queue *expected, uint32_t psn);
struct expected_message *expected_queue_oldest_send(const struct expected_queue *expected);

/* Told of no more. Does away with it, sooner or later. */
void expected_queue_delivered(struct expected_message *message);

#endif
