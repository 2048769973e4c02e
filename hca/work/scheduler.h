/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler: decides which queue pair sends next. A QP has two scheduling entities, for requests
 * and for responses. An entity with work is in the ring of its processing unit. It gets a grant for
 * one segment of its message if the bytes in flight (gathered, or waiting for the port) leave room.
 * If the context of its QP is not cached, the entity leaves the ring until the context arrives.
 * Other entities get grants meanwhile. A hit has no cost of its own: it is part of `latency`.
 *
 * READs, atomics and READ responses of all units pass a shared READ engine in the order of their
 * grants. Their packets leave when the engine takes them. The entity has no further grant until the
 * engine has finished its packets.
 *
 *     doorbell, completer --scheduler_wake()--> ring --grant--> requester_next(), responder_next()
 */
#ifndef HCA_WORK_SCHEDULER_H
#define HCA_WORK_SCHEDULER_H

#include "hca/context/context_cache.h"
#include "hca/work/scheduler_params.h"
#include "sim/gauge.h"

/* clang-format off */
#define SCHEDULER_COUNTERS(X) \
	X(grants, "grants", "given to an entity with packets to send") \
	X(idle, "grants", "given to an entity that was blocked or had no packets") \
	X(packets, "packets", "granted") \
	X(throttled, "times", "all entities waited because inflight_bytes was reached") \
	X(context_waits, "grants", \
	  "postponed because the context of the queue pair was not in its cache") \
	X(context_wait_time, "ps", "total time that grants waited for contexts")

#define SCHEDULER_GAUGES(X) \
	X(unit, BUSY, "packets", "busiest processing unit") \
	X(reads, BUSY, "packets", "READs, atomics and READ responses of all units") \
	X(inflight, POOL, "bytes", \
	  "granted and not yet passed to the port; all entities wait for it") \
	X(ring, QUEUE, "entities", "in a ring, waiting for a grant") \
	X(contexts, QUEUE, "entities", \
	  "outside the ring, waiting for the context of their queue pair")

#define SCHEDULER_TRACE(X) \
	X(GRANT, "qpn", "packets", "an entity gets a grant")
/* clang-format on */

struct scheduler_counters {
	SCHEDULER_COUNTERS(COUNTER_FIELD)
};

struct scheduler_gauges {
	SCHEDULER_GAUGES(GAUGE_FIELD)
};

struct qp;
struct send_segment;

enum sched_entity_kind { SCHED_REQUESTS, SCHED_RESPONSES };

struct sched_entity {
	struct sched_entity *next; /* in the ring or in the list of the READ engine */
	struct qp *qp;             /* owner */
	struct scheduler *scheduler;
	uint32_t number; /* number of the queue pair */
	enum sched_entity_kind kind;
	bool reliable; /* true for a reliable transport */
	bool closed;   /* the queue pair is destroyed; the entity never enters a ring again */
	bool in_ring;
	/* outside the ring until its context arrives or the READ engine has finished its packets */
	bool away;
	bool context_ready; /* the context was fetched for the next grant */
	bool reads_wait;    /* waits for the READ engine; its last segment has not left */
	struct context_lookup lookup;
	/* entry into the ring, or start of the wait for the context outside it */
	sim_time since;
	/* time at which the READ engine finishes; 0 if the entity is not there */
	sim_time reads_done;
	struct send_segment *first, *last; /* segments being gathered, in order */
};

struct scheduler;

/* One segment of an entity's message, as packets. */
struct scheduler_segment {
	uint32_t packets; /* 0 if the entity is blocked and no packet was created */
	uint32_t bytes;   /* bytes on the wire */
	uint32_t length;  /* bytes of payload */
	uint8_t opcode;   /* opcode of the first packet */
};

/* Functions of the transport, which owns the entities. */
struct scheduler_user {
	/* Returns true if the entity has data to send now. */
	bool (*has_work)(const struct sched_entity *entity);
	/* Creates the packets of the entity's next segment. */
	struct scheduler_segment (*next)(struct sched_entity *entity);
	/* Allows the created packets to leave for the port. */
	void (*drain)(struct sched_entity *entity);
	/* Reports that the READ engine took the entity's waiting packets. */
	void (*taken)(struct sched_entity *entity);
	/* Reports that the entity's context has arrived. `asked_at` is the time of the request. */
	void (*waited)(struct sched_entity *entity, sim_time asked_at);
	/* Keep and release the entity's queue pair during a lookup. The last release may destroy
	 * it. */
	void (*hold)(struct sched_entity *entity);
	void (*drop)(struct sched_entity *entity);
};

/* Creates the block. `params`, `contexts` and `user` must outlive it. */
struct scheduler *scheduler_create(struct sim *sim, const char *name,
				   const struct scheduler_params *params,
				   struct context_cache *contexts,
				   const struct scheduler_user *user);
void scheduler_destroy(struct scheduler *scheduler);

/* Reports that the entity may have data to send now. */
void scheduler_wake(struct scheduler *scheduler, struct sched_entity *entity);

/* Occupies the READ engine for one WQE that is read again for its response. */
void scheduler_read_list(struct scheduler *scheduler);

/* Removes the entity from all rings, because its queue pair is destroyed. */
void scheduler_forget(struct scheduler *scheduler, struct sched_entity *entity);

/* Reports that bytes granted at that time have left for the port, or will not be sent. */
void scheduler_release(struct scheduler *scheduler, sim_time granted_at, uint32_t bytes);

#endif
