/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload_core: the core of a host that carries messages of a workload, see detailed_backend.h; the ends of its queue pairs, and what
 * is under way between them.
 *
 *     detailed_backend.c  post() --> message, behind the others of its end --> core, and told to the other end (traffic/workload/expected_queue.h)
 *     load_ends.c     which ends there are, and their queue pairs
 *     workload_core.c  core: build a WQE, ring | take a CQE, or see what was written --> complete, delivered
 *
 * An end is a queue pair with a buffer of its own, from which on all its messages are. A far one is at a host with an adapter of fidelity
 * endpoint, in a workload on both (mixed_backend.h).
 */
#ifndef TRAFFIC_LOAD_WORKLOAD_CORE_H
#define TRAFFIC_LOAD_WORKLOAD_CORE_H

#include "traffic/load/detailed_backend.h"
#include "traffic/load/load_state.h"
#include "traffic/workload/expected_queue.h"

/* clang-format off */
#define WORKLOAD_CORE_COUNTERS(X) \
	X(posted,    "WQEs",     "built and rung for")                                              \
	X(completed, "CQEs",     "taken of send work requests")                                     \
	X(received,  "CQEs",     "taken of receive work requests, which were posted again")         \
	X(seen,      "messages", "seen in memory, as they were written there")
/* clang-format on */

struct workload_core_counters {
	WORKLOAD_CORE_COUNTERS(COUNTER_FIELD)
};

struct load_message {
	struct load_message *next; /* of its end, in the order of posting */
	uint64_t bytes;
	uint32_t flow;
	uint32_t first_psn, packets;
	uint8_t operation; /* enum workload_operation */
	struct backend_report report;
};

struct load_end {
	struct load_qp *qp; /* from detailed_backend's start() on; NULL: it is far */
	uint32_t number;    /* of the queue pair, likewise */
	uint32_t key;       /* of the buffer, likewise */
	struct load_end *peer;
	struct load *load;
	const struct path *path;
	uint32_t host;
	uint32_t index;                    /* of its node's */
	uint64_t address, bytes;           /* its buffer */
	uint64_t messages;                 /* that it asks for, in all */
	bool receives;                     /* sends of the other end */
	struct load_message *first, *last; /* that it asks for, not complete */
	struct load_message *unposted;
	uint32_t next_psn;  /* of the next message */
	uint32_t sent_psn;  /* behind the last that was sent */
	uint32_t acked_psn; /* behind the last that was acknowledged */
	uint64_t acked_bytes;
	struct expected_queue expected; /* that the other end asks for */
};

static inline struct sim *load_end_sim(const struct load_end *end)
{
	return end->load->nodes[end->host].sim;
}

/* ---- detailed_backend.c ---- */

/* Is there a message that is not posted? */
static inline bool load_end_waits(const struct load_end *end)
{
	return end->unposted;
}

/* What is to be posted next, whose turn then is the next one's. */
struct load_target load_end_next(struct load_end *end);

/* The oldest message that is posted is complete; the oldest send of the other end has arrived; a message's data have. */
void load_end_complete(struct load_end *end, bool failed);
void load_end_received(struct load_end *end);
void load_end_delivered(struct expected_message *message);

/* Frees what backends have more. */
void detailed_backend_fini(struct load *load);

/* ---- load_ends.c ---- */

/* Room for the ends of all nodes, of which there are none yet; and frees them. */
void load_ends_create(struct load *load);
void load_ends_destroy(struct load *load);

/* What the next end of that host is called for the choice of ways. */
uint32_t load_ends_next_number(const struct load *load, uint32_t host);

/* The source's, of two that go by these numbers. */
struct load_end *load_ends_add(struct load *load, const struct backend_pair *pair,
			       uint32_t source_number, uint32_t destination_number);

/* Of a node's, by the number of its queue pair; NULL: there is none. */
struct load_end *load_ends_find(const struct load *load, uint32_t node, uint32_t number);

/* Returns the end of that index among the node's, or NULL if the node has fewer. */
struct load_end *load_ends_get(const struct load *load, uint32_t node, uint32_t index);

/* How many queue pairs a node has room for; rings of one of a thread's; buffers of all. */
uint32_t load_ends_room(const struct load_node *node);
void load_ends_plan(struct load_qp *qp, uint32_t index);
void load_ends_place(struct load_node *node);

/* All queue pairs are there: connects them. Or a pair that is joined during the run: makes its queue pairs as well. */
void load_ends_connect(struct load *load);
void load_ends_connect_late(struct load_end *end);

/* ---- workload_core.c ---- */

/* The core that posts and polls for a thread in the place of its cores; a block with counters and gauges. */
void workload_core_init(struct load_thread *thread);
void workload_core_fini(struct load_thread *thread);

/* There is something to do: in an event of its own, at this instant, unless it works already. */
void workload_core_wake(struct workload_core *core);

/* All of its data are visible to the core. */
void workload_core_written(struct workload_core *core, struct expected_message *message);

#endif
