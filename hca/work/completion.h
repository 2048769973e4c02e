/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion: writes CQEs into the completion queues of the driver, behind the data they speak of,
 * and asks for an event where a queue is armed. An event is for the next CQE that becomes visible
 * after the arming (IBTA vol. 1, 11.4.2.2), or that was visible by then, and neither taken nor the cause of an event: the index
 * that the doorbell brings tells. CQEs of a queue whose context is not
 * at hand wait for it, and with them only those of that queue.
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

/* What the writer asks of the transport, whose work requests the CQEs are of. */
struct completion_user {
	/* A CQE of that queue pair is lost, since the queue overran. */
	void (*lost)(const struct completion_user *user, const struct completion_queue *cq,
		     uint32_t qpn);
};

/* What the writer is connected with: filled before the first CQE, and outlives it. */
struct completion_blocks {
	struct pcie *pcie;
	const struct core_clock *clock; /* of the time stamps */
	struct context_cache *contexts;
	struct dma_engine *dma; /* whose grants of writing CQEs take */
	struct event_queue *events;
	struct latency_block *latency;
	const struct completion_user *user;
};

/* One for all CQs of the adapter. */
struct completion_writer *completion_writer_create(struct sim *sim, const char *name,
						   const struct completion_params *params,
						   const struct completion_blocks *blocks);
void completion_writer_destroy(struct completion_writer *writer);
const struct completion_counters *completion_counters(const struct completion_writer *writer);

/* Held once. */
struct completion_queue *completion_queue_create(struct completion_writer *writer,
						 const struct hca_cq_attr *attr);
void completion_queue_number(struct completion_queue *cq, uint32_t number);
void completion_queue_hold(struct completion_queue *cq);
void completion_queue_drop(struct completion_queue *cq);
void completion_queue_close(struct completion_queue *cq); /* no event any more */
/* See struct moderation; as the parameters say until then. */
void completion_queue_moderate(struct completion_queue *cq, uint32_t count, sim_time period);
uint32_t completion_queue_users(const struct completion_queue *cq);

/* Of a message that goes into a CQE. */
uint32_t completion_queue_data_room(const struct completion_queue *cq);

/* *completion is copied; its CQE is written in the order of the calls. tag: the WQE it is of, in the trace. */
void completion_write(struct completion_queue *cq, const struct completion *completion,
		      uint32_t tag);

/* Of a send work request: with where its time went so far, which is copied. */
void completion_write_stages(struct completion_queue *cq, const struct completion *completion,
			     uint32_t tag, const struct latency_stages *stages);

/* Of a receive work request, as well. */
void completion_write_received(struct completion_queue *cq, const struct completion *completion,
			       uint32_t tag, const struct receive_stages *stages);

/* The next new CQE (only_solicited: that is solicited, or an error) causes an event; consumer: of the first that the driver has not taken. */
void completion_arm(struct completion_queue *cq, uint32_t consumer, bool only_solicited);

/* CQEs that the driver has not taken, as its doorbell record says now. */
uint32_t completion_unread(const struct completion_queue *cq);

/* The ring moves: the last CQE in the old one says so. */
void completion_resize(struct completion_queue *cq, uint64_t buffer, uint32_t entries,
		       uint32_t cqe_bytes);

#endif
