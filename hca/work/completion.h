/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion: writes CQEs into the completion queues of the driver, after the data that they
 * report, and requests an event if a queue is armed. The event is for the next CQE that becomes
 * visible after the arming (IBTA vol. 1, 11.4.2.2). A CQE that is already visible also causes the
 * event, unless the driver has taken it or it caused an earlier event. The doorbell's consumer
 * index shows which CQEs the driver has taken. If the context of a queue is not cached, the CQEs of
 * this queue wait for it, and other queues continue.
 *
 *     requester, scatter_segment --completion_write()--> pcie_write() --> event_queue
 */
#ifndef HCA_WORK_COMPLETION_H
#define HCA_WORK_COMPLETION_H

#include "hca/context/context_cache.h"
#include "hca/formats/contexts.h"
#include "hca/formats/cqe.h"
#include "hca/host/core_clock.h"
#include "hca/work/completion_params.h"
#include "hca/work/dma.h"
#include "hca/work/latency_stages.h"

/* clang-format off */
#define COMPLETION_COUNTERS(X) \
	X(asked, "CQEs", "requested") \
	X(resizes, "CQEs", "resize CQEs written, which report that the queue has moved") \
	X(cqes, "CQEs", "written") \
	X(bytes, "bytes", "written as CQEs") \
	X(with_data, "CQEs", "written with the message data") \
	X(compressed, "CQEs", "written as mini-CQEs, including the first of each group") \
	X(titles, "CQEs", "title CQEs written, one per compressed group") \
	X(arrays, "CQEs", "written as arrays of mini-CQEs behind a title") \
	X(errors, "CQEs", "written with an error status") \
	X(record_reads, "reads", "reads of doorbell records to find free entries of the queue") \
	X(overruns, "CQs", "that overran") \
	X(lost, "CQEs", "for a CQ that had overrun") \
	X(events, "events", "requested") \
	X(context_misses, "times", "the context of a completion queue was not in its cache") \
	X(context_wait_time, "ps", "total time waited for contexts of completion queues")

#define COMPLETION_GAUGES(X) \
	X(writer, BUSY, "CQEs", "CQE writer, which starts one CQE per interval") \
	X(pipeline, QUEUE, "CQEs", "before their write") \
	X(held, QUEUE, "CQEs", "that wait for the context of their queue, or for a free entry") \
	X(session, QUEUE, "CQEs", "that wait for more CQEs of their compressed group") \
	X(writes, QUEUE, "CQEs", "passed to PCIe and not visible yet")

#define COMPLETION_TRACE(X) \
	X(CQE, "cqn", "index", "a CQE is visible to the driver")
/* clang-format on */

struct completion_counters {
	COMPLETION_COUNTERS(COUNTER_FIELD)
};

struct completion_queue;
struct completion_writer;

struct completion_queue;
struct completion_user;

/* Functions of the transport, which owns the work requests of the CQEs. */
struct completion_user {
	/* Reports that a CQE of that queue pair is lost because the queue overran. */
	void (*lost)(const struct completion_user *user, const struct completion_queue *cq,
		     uint32_t qpn);
};

/* Blocks that the writer uses. Filled in before the first CQE; outlives the writer. */
struct completion_blocks {
	struct pcie *pcie;
	const struct core_clock *clock; /* clock of the time stamps */
	struct context_cache *contexts;
	struct dma_engine *dma; /* grants writes of CQEs */
	struct event_queue *events;
	struct latency_block *latency;
	const struct completion_user *user;
};

/* Creates the writer of all CQs of the adapter. */
struct completion_writer *completion_writer_create(struct sim *sim, const char *name,
						   const struct completion_params *params,
						   const struct completion_blocks *blocks);
void completion_writer_destroy(struct completion_writer *writer);
const struct completion_counters *completion_counters(const struct completion_writer *writer);

/* Creates a CQ with one reference. */
struct completion_queue *completion_queue_create(struct completion_writer *writer,
						 const struct hca_cq_attr *attr);
void completion_queue_number(struct completion_queue *cq, uint32_t number);
void completion_queue_hold(struct completion_queue *cq);
void completion_queue_drop(struct completion_queue *cq);
void completion_queue_close(struct completion_queue *cq); /* stops all events of the CQ */
/* Sets moderation, see struct moderation. Until then, the parameters apply. */
void completion_queue_moderate(struct completion_queue *cq, uint32_t count, sim_time period);
uint32_t completion_queue_users(const struct completion_queue *cq);

/* Returns the size of the message data that fits into a CQE. */
uint32_t completion_queue_data_room(const struct completion_queue *cq);

/* Queues a CQE. Copies *completion. CQEs are written in the order of the calls. `tag` names the WQE
 * in the trace. */
void completion_write(struct completion_queue *cq, const struct completion *completion,
		      uint32_t tag);

/* Queues the CQE of a send work request with its latency stages so far, which are copied. */
void completion_write_stages(struct completion_queue *cq, const struct completion *completion,
			     uint32_t tag, const struct latency_stages *stages);

/* Queues the CQE of a receive work request with its latency stages so far, which are copied. */
void completion_write_received(struct completion_queue *cq, const struct completion *completion,
			       uint32_t tag, const struct receive_stages *stages);

/* Arms the queue: its next CQE causes an event. With only_solicited, the CQE must be solicited or
 * report an error. `consumer` is the index of the first CQE that the driver has not taken. */
void completion_arm(struct completion_queue *cq, uint32_t consumer, bool only_solicited);

/* Returns the number of CQEs that the driver has not taken, according to its doorbell record
 * now. */
uint32_t completion_unread(const struct completion_queue *cq);

/* Moves the ring. The last CQE in the old ring reports it. */
void completion_resize(struct completion_queue *cq, uint64_t buffer, uint32_t entries,
		       uint32_t cqe_bytes);

#endif
