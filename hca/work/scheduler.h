/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler: decides which queue pair sends next. A QP has two scheduling entities, requests and responses; one
 * with work stands in the ring of its processing unit and gets a grant for one segment of its message,
 * if what is under way (gathering, or waiting for the port) leaves room. An entity whose QP's context is
 * not at hand leaves the ring until it is; the grants of others go on. A hit costs nothing here: it is
 * part of `latency`. READs, atomics and responses to READs of all units pass one engine besides, in the order of
 * their grants: packets leave when it takes them, and their entity has no grant until they are through, while those of
 * others go on.
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
	struct sched_entity *next; /* in the ring, or the engine of READs */
	struct qp *qp;             /* whose it is */
	struct scheduler *scheduler;
	uint32_t number; /* of the queue pair */
	enum sched_entity_kind kind;
	bool reliable; /* a reliable transport's */
	bool closed;   /* its queue pair is destroyed: it is never in a ring again */
	bool in_ring;
	bool away; /* in no ring until its context is here, or the engine of READs is through with it */
	bool context_ready; /* was fetched for the next grant */
	bool reads_wait;    /* for the engine of READs: its last segment has not left */
	struct context_lookup lookup;
	sim_time context_asked_at;
	sim_time reads_done; /* when the engine of READs is through with it; 0: not there */
	struct send_segment *first, *last; /* gathering, in order */
};

struct scheduler;

/* One segment of an entity's message, as packets. */
struct scheduler_segment {
	uint32_t packets; /* 0: the entity is blocked, nothing was made */
	uint32_t bytes;   /* on the wire */
	uint32_t length;  /* payload */
	uint8_t opcode;   /* of the first packet */
};

/* What the scheduler asks of the transport, which owns the entities. */
struct scheduler_user {
	/* The entity has something to send now. */
	bool (*has_work)(const struct sched_entity *entity);
	/* Makes the packets of the entity's next segment. */
	struct scheduler_segment (*next)(struct sched_entity *entity);
	/* What was made may leave for the port. */
	void (*drain)(struct sched_entity *entity);
	/* The engine of READs took the entity's packets, which waited for it. */
	void (*taken)(struct sched_entity *entity);
	/* The entity's context is here. It was asked for at that time. */
	void (*waited)(struct sched_entity *entity, sim_time asked_at);
	/* A lookup under way keeps the entity's queue pair. It may go with the last drop. */
	void (*hold)(struct sched_entity *entity);
	void (*drop)(struct sched_entity *entity);
};

/* params, contexts and user outlive the block. */
struct scheduler *scheduler_create(struct sim *sim, const char *name,
				   const struct scheduler_params *params,
				   struct context_cache *contexts,
				   const struct scheduler_user *user);
void scheduler_destroy(struct scheduler *scheduler);

/* The entity may have something to send now. */
void scheduler_wake(struct scheduler *scheduler, struct sched_entity *entity);

/* The entity goes: it is in no ring any more. */
void scheduler_forget(struct scheduler *scheduler, struct sched_entity *entity);

/* Bytes that were granted have left for the port, or will not be sent. */
void scheduler_release(struct scheduler *scheduler, uint32_t bytes);

#endif
