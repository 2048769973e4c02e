/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload_core: processor core of a host that carries messages of a workload, see
 * detailed_backend.h; the ends of its queue pairs, and the messages in flight between them.
 *
 *     detailed_backend.c  post() --> message, queued at its end --> core; also announced to the
 *                         other end (traffic/workload/expected_queue.h)
 *     load_ends.c         creates the ends and their queue pairs
 *     workload_core.c     core: build a WQE, ring | take a CQE, or see data --> complete, delivered
 *
 * An end is a queue pair with its own buffer, which all its messages use from its start. A far end
 * is at a host whose adapter has fidelity endpoint, in a workload on both fidelities
 * (mixed_backend.h).
 */
#ifndef TRAFFIC_LOAD_WORKLOAD_CORE_H
#define TRAFFIC_LOAD_WORKLOAD_CORE_H

#include "traffic/load/detailed_backend.h"
#include "traffic/load/load_state.h"
#include "traffic/workload/expected_queue.h"

/* clang-format off */
#define WORKLOAD_CORE_COUNTERS(X) \
	X(posted, "WQEs", \
	  "WQEs built and posted.") \
	X(completed, "CQEs", \
	  "CQEs of send work requests taken.") \
	X(received, "CQEs", \
	  "CQEs of receive work requests taken. Each receive work request is posted again.") \
	X(seen,      "messages", "Messages found in memory after the peer wrote them.")
/* clang-format on */

struct workload_core_counters {
	WORKLOAD_CORE_COUNTERS(COUNTER_FIELD)
};

struct load_message {
	struct load_message *next; /* next message of the same end, in posting order */
	uint64_t bytes;
	uint32_t flow;
	uint32_t first_psn, packets;
	uint8_t operation; /* enum workload_operation */
	struct backend_report report;
};

struct load_end {
	struct load_qp *qp; /* valid after detailed_backend's start(); NULL: far end */
	uint32_t number;    /* queue pair number, valid after start() */
	uint32_t key;       /* key of the buffer, valid after start() */
	struct load_end *peer;
	struct load *load;
	const struct path *path;
	uint32_t host;
	uint32_t index;                    /* among the ends of its node */
	uint64_t address, bytes;           /* its buffer */
	uint64_t messages;                 /* messages requested by this end in total */
	bool receives;                     /* the other end posts sends */
	struct load_message *first, *last; /* incomplete messages requested by this end */
	struct load_message *unposted;
	uint32_t next_psn;  /* PSN of the next message */
	uint32_t sent_psn;  /* PSN after the last packet sent */
	uint32_t acked_psn; /* PSN after the last packet acknowledged */
	uint64_t acked_bytes;
	struct expected_queue expected; /* messages requested by the other end */
};

static inline struct sim *load_end_sim(const struct load_end *end)
{
	return end->load->nodes[end->host].sim;
}

/* ---- detailed_backend.c ---- */

/* Returns true if a message waits to be posted. */
static inline bool load_end_waits(const struct load_end *end)
{
	return end->unposted;
}

/* Returns the next message to post and advances to the one after it. */
struct load_target load_end_next(struct load_end *end);

/* Report progress of messages. The oldest posted message is complete, the oldest send of the other
 * end has arrived, or all data of a written message have arrived. */
void load_end_complete(struct load_end *end, bool failed);
void load_end_received(struct load_end *end);
void load_end_delivered(struct expected_message *message);

/* Frees what the backend allocated in the load. */
void detailed_backend_fini(struct load *load);

/* ---- load_ends.c ---- */

/* Allocate and free the table of ends of all nodes. It is empty at first. */
void load_ends_create(struct load *load);
void load_ends_destroy(struct load *load);

/* Returns the queue pair number that the next end of a host uses for path selection. */
uint32_t load_ends_next_number(const struct load *load, uint32_t host);

/* Adds the two ends of a pair, with these queue pair numbers. Returns the end at the source. */
struct load_end *load_ends_add(struct load *load, const struct backend_pair *pair,
			       uint32_t source_number, uint32_t destination_number);

/* Returns the end of a node by queue pair number, or NULL if there is none. */
struct load_end *load_ends_find(const struct load *load, uint32_t node, uint32_t number);

/* Returns the node's end with that index, or NULL if the node has fewer ends. */
struct load_end *load_ends_get(const struct load *load, uint32_t node, uint32_t index);

/* Plan queue pairs and buffers: return the number of queue pairs of a node, set the ring sizes of
 * one queue pair, and place the buffers of all ends. */
uint32_t load_ends_room(const struct load_node *node);
void load_ends_plan(struct load_qp *qp, uint32_t index);
void load_ends_place(struct load_node *node);

/* Connect ends. load_ends_connect() connects all ends after all queue pairs exist.
 * load_ends_connect_late() creates and connects the queue pairs of a pair during the run. */
void load_ends_connect(struct load *load);
void load_ends_connect_late(struct load_end *end);

/* ---- workload_core.c ---- */

/* Creates and frees the core that posts and polls for a thread, in place of its load cores. It is a
 * block with counters and gauges. */
void workload_core_init(struct load_thread *thread);
void workload_core_fini(struct load_thread *thread);

/* Tells the core that it has work. It starts in its own event at the current time, unless it
 * already works. */
void workload_core_wake(struct workload_core *core);

/* Tells the core that all data of a message are visible to it. */
void workload_core_written(struct workload_core *core, struct expected_message *message);

#endif
