/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion_state: what the files of the CQE writer share: a CQE on its way, a completion queue, and the CQEs of one that wait to
 * be written together.
 *
 *     completion.c (pipeline, context, room, event) --cqe_session_join()--> cqe_session.c --completion_put()--> PCIe
 */
#ifndef HCA_WORK_COMPLETION_STATE_H
#define HCA_WORK_COMPLETION_STATE_H

#include "hca/work/completion.h"
#include "hca/work/event_queue.h"
#include "sim/gauge.h"
#include "sim/pool.h"

struct cqe_write {
	struct cqe_write *next;
	struct completion_queue *cq;
	struct completion completion;
	sim_time due;
	sim_time since; /* that it is where it is */
	uint32_t tag, index;
	uint32_t number; /* of its CQ, runs on: index is where it is in the ring */
	bool has_stages, has_receive_stages;
	union {
		struct latency_stages stages;
		struct receive_stages receive_stages;
	};
	struct pcie_write write;
	uint8_t bytes[CQE_BYTES_MAX];
	uint8_t data[CQE_DATA_MAX]; /* of a message */
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
	const struct completion_blocks *blocks;
	const struct completion_params *params;
	struct pool writes;
	struct completion_queue *queues; /* all that are not freed */
	struct cqe_list pipeline;
	struct event through;
	sim_time last_due;
	bool grant_taken; /* `through` waits for its grant of writing to host memory */
};

enum arm { ARM_NOTHING, ARM_SOLICITED, ARM_NEXT };

struct completion_queue {
	struct completion_writer *writer;
	struct completion_queue *next, **link; /* of the writer's; what names this one */
	struct hca_cq_attr attr;
	uint32_t number, users;
	uint32_t producer; /* runs on */
	uint32_t consumer; /* as far as is known */
	enum arm arm;
	uint32_t visible;   /* CQEs so far; */
	uint32_t solicited; /* up to the last of them that is solicited, or an error; */
	uint32_t noted;     /* those that were there at the last event */
	bool overrun, closed, record_busy, context_busy;
	bool record_early; /* the read under way began before a CQE waited for it */
	struct context_lookup lookup;
	sim_time context_asked_at;
	struct cqe_list waiting; /* for the record, or the context */
	struct pcie_read record_read;
	uint8_t record[4];
	struct cqe_session *session; /* NULL: CQEs are written one by one */
	struct moderation moderation;
};

struct cqe_session { /* CQEs that are alike, in the order of the ring */
	struct completion_queue *cq;
	struct cqe_list list;
	uint32_t count;
	struct event timeout;
};

void cqe_list_append(struct cqe_list *list, struct cqe_write *write);

/* completion.c: the CQE has its place in the ring, and goes there alone; it is visible; it will not be written. */
void completion_put(struct cqe_write *write);
void completion_visible(struct cqe_write *write);
void completion_lose(struct cqe_write *write);

/* cqe_session.c. false: the CQE is for completion_put(); what came before it is on its way. */
bool cqe_session_join(struct cqe_session *session, struct cqe_write *write);
void cqe_session_end(struct cqe_session *session);
void cqe_session_lose(struct cqe_session *session);
struct cqe_session *cqe_session_create(struct completion_queue *cq);

#endif
