/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_queue: tells the driver what happened: an EQE into host memory, and behind it an interrupt (MSI-X, a posted write
 * as well), unless one is on its way already: the handler that it starts takes all EQEs that are visible by then.
 *
 *     completion --moderation_note()--> moderation --.
 *     transport ------------------------------------- event_queue_*() --EQE, MSI-X--> pcie --> [latency] --> struct hca_driver
 *
 * Moderation is a CQ's own: an event is due when `count` completions wait for it, or one has waited for `period`
 * (cq_max_count, cq_period of the adapter's CQ context). Only what would have caused an event counts: behind the arming.
 */
#ifndef HCA_WORK_EVENT_QUEUE_H
#define HCA_WORK_EVENT_QUEUE_H

#include "hca/formats/services.h"
#include "hca/host/pcie.h"
#include "hca/work/event_queue_params.h"
#include "sim/timer.h"

/* clang-format off */
#define EVENT_QUEUE_COUNTERS(X) \
	X(completions, "events", "completion events") \
	X(asyncs, "events", "asynchronous events") \
	X(interrupts, "interrupts", "raised") \
	X(shared, "events", "whose EQE found an interrupt already raised") \
	X(moderated, "CQEs", "whose event waited for more CQEs or for the moderation period") \
	X(by_count, "events", "moderated events that the completion count released") \
	X(by_period, "events", "moderated events that the moderation period released")

#define EVENT_QUEUE_GAUGES(X) \
	X(raiser, BUSY, "events", "interrupt handler, which handles one event per interval") \
	X(queue, QUEUE, "events", "on their way to the driver") \
	X(moderation, POOL, "CQs", "armed, with completions whose event is held back")

#define EVENT_QUEUE_TRACE(X) \
	X(EVENT, "kind", "number", "the driver handles an event; kind 255: completion event") \
	X(INTERRUPT, "queue", "raised", "MSI-X is written; EQEs in flight, interrupts so far") \
	X(MODERATE, "cqn", "waiting", "a completion waits for its event")
/* clang-format on */

struct event_queue_counters {
	EVENT_QUEUE_COUNTERS(COUNTER_FIELD)
};

struct event_queue;

struct moderation { /* part of a completion queue */
	struct event_queue *queue;
	struct timer timer;
	sim_time period, last_event; /* 0: no moderation; SIM_NEVER: there was none */
	uint32_t count, cqn;
	uint32_t waiting; /* completions since the arming, without an event */
	void (*due)(struct moderation *moderation); /* its event leaves; called before that */
};

/* Writes EQEs and MSI-X over that link; the driver hears of them. */
struct event_queue *event_queue_create(struct sim *sim, const char *name,
				       const struct event_queue_params *params, struct pcie *pcie,
				       struct hca_driver *driver);
void event_queue_destroy(struct event_queue *queue);
/* number: as enum hca_async says. The driver hears of it after params.latency and the writes of EQE and MSI-X. */
void event_queue_async(struct event_queue *queue, enum hca_async what, uint32_t number);
const struct event_queue_counters *event_queue_counters(const struct event_queue *queue);

/* As the parameters say. */
void moderation_init(struct moderation *moderation, struct event_queue *queue,
		     void (*due)(struct moderation *moderation));
void moderation_set(struct moderation *moderation, uint32_t count, sim_time period);

/* A completion is visible that causes an event: now, with others, or later. */
void moderation_note(struct moderation *moderation);
void moderation_close(struct moderation *moderation); /* none is owed any more */

#endif
