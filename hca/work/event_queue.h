/*
 * event_queue: tells the driver what happened, after what an EQE and its interrupt cost.
 *
 *     completion, transport --event_queue_*()--> [latency] --> struct hca_driver
 */
#ifndef HCA_WORK_EVENT_QUEUE_H
#define HCA_WORK_EVENT_QUEUE_H

#include "hca/device/adapter.h"

/* clang-format off */
#define EVENT_QUEUE_COUNTERS(X)                                                                    \
	X(completions, "events", "of completion queues")                                           \
	X(asyncs,      "events", "others")

#define EVENT_QUEUE_GAUGES(X)                                                                      \
	X(raiser, SERVER, "events", "raises one each interval")                                    \
	X(queue,  QUEUE,  "events", "on their way to the driver")

#define EVENT_QUEUE_TRACE(X)                                                                       \
	X(EVENT, "kind", "number", "an interrupt reached the CPU; kind 255: a completion")
/* clang-format on */

struct event_queue_counters {
	EVENT_QUEUE_COUNTERS(COUNTER_FIELD)
};

struct event_queue;

struct event_queue *event_queue_create(struct hca *hca, const char *name);
void event_queue_destroy(struct event_queue *queue);
void event_queue_completion(struct event_queue *queue, uint32_t cqn);
void event_queue_async(struct event_queue *queue, enum hca_async what, uint32_t number);
const struct event_queue_counters *event_queue_counters(const struct event_queue *queue);

#endif
