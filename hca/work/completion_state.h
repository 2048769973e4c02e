/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion_state: the declarations that the files of the CQE writer share: a CQE in progress, a
 * completion queue, and a group of CQEs to be compressed.
 *
 *     completion.c (pipeline, context, room, event) --cqe_session_join()--> cqe_session.c
 *     cqe_session.c --completion_put()--> PCIe
 */
#ifndef HCA_WORK_COMPLETION_STATE_H
#define HCA_WORK_COMPLETION_STATE_H

#include "hca/module/module_host.h"
#include "hca/work/completion.h"
#include "hca/work/completion_module.h"
#include "hca/work/event_queue.h"
#include "sim/audit.h"
#include "sim/pool.h"

struct cqe_write {
	struct cqe_write *next;
	struct cqe_entry entry; /* in the pipeline */
	struct completion_queue *cq;
	struct completion completion;
	uint64_t sequence; /* order among the CQEs of its CQ in the pipeline */
	sim_time grant_at; /* earliest time of the write, if it is granted */
	sim_time since;    /* start of the current wait */
	uint32_t tag, index;
	/* number within its CQ, keeps counting; `index` is the place in the ring */
	uint32_t number;
	bool has_stages, has_receive_stages, granted;
	union {
		struct latency_stages stages;
		struct receive_stages receive_stages;
	};
	struct pcie_write write;
	uint8_t bytes[CQE_BYTES_MAX];
	uint8_t data[CQE_DATA_MAX]; /* data of a message */
};

struct cqe_list {
	struct cqe_write *first, *last;
};

struct completion_gauges {
	COMPLETION_GAUGES(GAUGE_FIELD)
};

struct completion_writer {
	struct block block;
	struct completion_counters count;
	struct completion_gauges gauge;
	struct audit_order order; /* of CQEs in their CQ */
	const struct completion_blocks *blocks;
	const struct completion_params *params;
	struct pool writes;
	struct completion_queue *queues; /* all queues that are not freed */
	const struct completion_module *pipeline;
	struct module_host host; /* of the pipeline */
	struct event due;
};

enum arm { ARM_NOTHING, ARM_SOLICITED, ARM_NEXT };

struct completion_queue {
	struct completion_writer *writer;
	/* list of the writer's queues; `link` points to the pointer to this one */
	struct completion_queue *next, **link;
	struct hca_cq_attr attr;
	uint32_t number, users;
	uint32_t producer;    /* keeps counting */
	uint32_t consumer;    /* latest known index */
	uint64_t pushed, put; /* CQEs that entered and left the pipeline */
	enum arm arm;
	uint32_t visible;   /* number of visible CQEs */
	uint32_t solicited; /* number of CQEs up to the last solicited or failed CQE */
	uint32_t noted;     /* number of visible CQEs at the last event */
	bool overrun, closed, record_busy, context_busy;
	bool record_early; /* the read in progress started before a CQE waited for it */
	struct context_lookup lookup;
	sim_time context_asked_at;
	struct cqe_list waiting; /* CQEs that wait for the record or the context */
	struct pcie_read record_read;
	uint8_t record[4];
	struct cqe_session *session; /* NULL if CQEs are written one by one */
	struct moderation moderation;
};

struct cqe_session { /* similar CQEs, in the order of the ring */
	struct completion_queue *cq;
	struct cqe_list list;
	uint32_t count;
	struct event timeout;
};

void completion_cqe_list_append(struct cqe_list *list, struct cqe_write *write);

/* completion.c: completion_put() writes a CQE alone to its place in the ring. completion_visible()
 * reports that it is visible. completion_lose() drops it. */
void completion_put(struct cqe_write *write);
void completion_visible(struct cqe_write *write);
void completion_lose(struct cqe_write *write);

/* cqe_session.c: adds a CQE to the group. Returns false if the CQE must be written by
 * completion_put(); earlier CQEs of the group are then already being written. */
bool cqe_session_join(struct cqe_session *session, struct cqe_write *write);
void cqe_session_end(struct cqe_session *session);
void cqe_session_lose(struct cqe_session *session);
struct cqe_session *cqe_session_create(struct completion_queue *cq);

#endif
