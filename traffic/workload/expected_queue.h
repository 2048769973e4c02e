/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expected_queue: messages that an end of a connection expects. They are announced when the other
 * end posts them, and found by the PSN of their packets. In a parallel run the announcement reaches
 * another LP before the first packet, because packets use the same channel.
 *
 *     the other end's host  post() --expected_queue_add()--> queue of the end, in posting order
 *     the end's host        a packet, or its CQE --expected_queue_find--> flow
 */
#ifndef TRAFFIC_WORKLOAD_EXPECTED_QUEUE_H
#define TRAFFIC_WORKLOAD_EXPECTED_QUEUE_H

#include "sim/sim.h"
#include "traffic/workload/workload.h"

struct expected_queue_mailboxes; /* mailboxes of all ends of a run */

struct expected_message {
	struct expected_message *next; /* next in the same queue */
	struct expected_queue *of;
	uint32_t flow;
	uint32_t first_psn, packets;
	uint8_t operation; /* enum workload_operation; atomics are not stored */
	bool delivered;
	/* fields of the user */
	struct expected_message *next_written; /* next message that a core has to see */
	uint32_t cqes_before; /* written messages: number of CQEs of the core that come first */
};

struct expected_list {
	struct expected_message *first, *last;
};

struct expected_queue { /* embedded in an end */
	struct expected_queue_mailboxes *mailboxes;
	unsigned lp;                /* LP of the run that simulates the end's host */
	uint64_t max_rd_atomic;     /* reads that the other end may have in flight */
	struct expected_list data;  /* writes and sends that are not delivered */
	struct expected_list reads; /* reads, including reads that may be requested again */
	uint32_t next_psn;          /* PSN of the next announced message */
};

/* Creates the mailboxes for the LPs of that run. */
struct expected_queue_mailboxes *expected_queue_mailboxes_create(struct sim *sim);
void expected_queue_mailboxes_destroy(struct expected_queue_mailboxes *mailboxes);

/* Initialises the queue of an end. `sim` is the LP of the end's host. */
void expected_queue_init(struct expected_queue *expected,
			 struct expected_queue_mailboxes *mailboxes, struct sim *sim,
			 uint64_t max_rd_atomic);

/* Announces a message. Call it within an event of the LP `from`. */
void expected_queue_add(struct expected_queue *expected, unsigned from, uint32_t flow,
			enum workload_operation operation, uint32_t packets);

/* Return an expected message, or NULL if it is over. */
struct expected_message *expected_queue_find_data(const struct expected_queue *expected,
						  uint32_t psn);
struct expected_message *expected_queue_find_read(struct expected_queue *expected, uint32_t psn);
struct expected_message *expected_queue_oldest_send(const struct expected_queue *expected);

/* Marks a message as delivered. The message may be freed at any later time. */
void expected_queue_delivered(struct expected_message *message);

#endif
