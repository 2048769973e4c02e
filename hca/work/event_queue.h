/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_queue: reports events to the driver by an EQE in host memory and an interrupt (MSI-X, also
 * a posted write). If an interrupt is already pending, no further interrupt is raised. The handler
 * takes all EQEs that are visible when it runs.
 *
 *     completion --event_queue_moderation_note()--> moderation --.
 *     transport ------------------------------------- event_queue_*() --EQE, MSI-X--> pcie
 *     pcie --> [latency] --> struct hca_driver
 *
 * Each CQ has its own moderation. An event is due when `count` completions wait for it, or when one
 * completion has waited for `period` (cq_max_count, cq_period of the adapter's CQ context). Only
 * completions after the arming count, because only they would cause an event.
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
	/* `period`: 0 without moderation; `last_event`: SIM_NEVER before the first event */
	sim_time period, last_event;
	uint32_t count, cqn;
	uint32_t waiting; /* completions since the arming, without an event */
	sim_time since;   /* time from which the first of these completions waits for the timer */
	void (*due)(struct moderation *moderation); /* called before the event is sent */
};

/* Creates the queue, which writes EQEs and MSI-X over `pcie` and notifies `driver`. */
struct event_queue *event_queue_create(struct sim *sim, const char *name,
				       const struct event_queue_params *params, struct pcie *pcie,
				       struct hca_driver *driver);
void event_queue_destroy(struct event_queue *queue);
/* Sends an asynchronous event. enum hca_async defines `number`. The driver is notified after the
 * writes of EQE and MSI-X and params.latency. */
void event_queue_async(struct event_queue *queue, enum hca_async what, uint32_t number);
const struct event_queue_counters *event_queue_counters(const struct event_queue *queue);

/* Initialises moderation with the values of the parameters. */
void event_queue_moderation_init(struct moderation *moderation, struct event_queue *queue,
				 void (*due)(struct moderation *moderation));
void event_queue_moderation_set(struct moderation *moderation, uint32_t count, sim_time period);

/* Reports a visible completion that causes an event. The event is sent now, shared with other
 * completions, or later. */
void event_queue_moderation_note(struct moderation *moderation);
void event_queue_moderation_close(struct moderation *moderation); /* cancels the pending event */

#endif
