/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qp: one queue pair: what was fixed at its creation, what modify_qp set, its send queue with the
 * WQEs under way, and the state of its requester and its responder.
 *
 *     doorbell, wqe_fetch --slots--> requester --send segments--> scheduler, transmit
 *     receive --packets--> responder --scatter segments--> dma, completion
 *                      \-> completer (ACKs, read and atomic responses for the requester)
 */
#ifndef HCA_TRANSPORT_QP_H
#define HCA_TRANSPORT_QP_H

#include "hca/formats/cqe.h"
#include "hca/formats/wqe.h"
#include "hca/work/receive_queue.h"
#include "hca/work/scheduler.h"
#include "hca/work/send_queue.h"
#include "sim/timer.h"

#define RESPONSES_MAX 64 /* responses that a responder owes, read and atomic resources included */

struct completion_queue;
struct qp_congestion;
struct receive_queue;

enum page_wait { /* of a requester, for pages that come on demand */
		 PAGE_WAIT_NOTHING,
		 PAGE_WAIT_DATA,  /* of the slot at the cursor */
		 PAGE_WAIT_PLACE, /* for a response, which was dropped */
};

struct requester {
	uint32_t cursor_packet; /* of the slot at the cursor: next to send */
	uint32_t next_psn;      /* for the next slot to start */
	uint32_t sent_psn;      /* behind the last PSN that was on its way out */
	uint32_t left_psn;      /* behind the last PSN that left */
	uint32_t unacked_psn;
	uint32_t epoch;       /* segments of an older one are not sent any more */
	uint32_t outstanding; /* reads and atomics */
	uint8_t retries_left, rnr_retries_left;
	bool halted; /* the WQE at the cursor failed: it completes when it is the oldest */
	bool rnr_waiting;
	uint8_t page_wait;  /* enum page_wait */
	bool gap_seen;      /* a response was missing; already rewound for it */
	bool draining;      /* SQD: an event is owed */
	struct timer timer; /* of responses */
	struct event rnr_timer;
	sim_time paced_until; /* rate limit, pace of congestion control, reaction time */
	sim_time held_at;     /* since when that, or a window of congestion control, holds it up */
	bool held;            /* paced_until is no pace: a new rate does not move it */
	struct event pace;
	struct gauge *held_up; /* of transport: what it waits for; NULL: nothing of that kind */
};

/* An accept is a connect's ACK, which no other joins. */
enum response_kind { RESPONSE_ACK, RESPONSE_NAK, RESPONSE_READ, RESPONSE_ATOMIC, RESPONSE_ACCEPT };

struct response { /* what the responder owes, in PSN order */
	struct response *next;
	enum response_kind kind;
	bool ready; /* atomic: the value is known */
	bool duplicate;
	uint8_t syndrome;
	uint32_t psn, msn;
	uint32_t tag;
	uint32_t packets, sent;  /* read */
	uint32_t rkey, length;   /* read */
	uint64_t address;        /* read */
	uint64_t value;          /* atomic: the original */
	sim_time request_at;     /* last bit of what it responds to */
	const struct path *path; /* NULL: the queue pair's; DCT: to who was refused, */
	uint32_t dest_qp;        /* and its initiator */
};

struct atomic_record { /* for duplicates */
	bool valid, ready;
	uint32_t psn;
	uint64_t value;
};

#define ATOMIC_RECORDS 16

struct responder {
	uint32_t expected_psn;
	uint32_t msn;
	int previous_opcode; /* -1: between messages */
	bool nak_sent;       /* sequence error: once until the expected PSN comes */
	bool dropping; /* UC: the rest of a damaged message; all: a fatal error is under way */
	bool fatal;
	uint64_t address; /* of the write under way */
	uint32_t rkey, length, received;
	struct receive_wqe *wqe; /* of the message under way; multi-packet: the one in use */
	uint32_t strides_used;   /* multi-packet: of it */
	struct receive_queue *wqe_queue; /* where it is from; XRC: what the packet names */
	struct completion_queue *cq;     /* of it, and the index for its CQE */
	uint32_t user_index;
	bool failed;             /* the first error took effect: WQEs end as */
	enum work_status ending; /* this, the first; the others as flushed */
	/* Of the message: its first bit, and its WQE, if that was waited for. */
	sim_time begun_at, wqe_at;
	struct packet *waiting_first, *waiting_last; /* received, not yet executed */
	struct scatter_segment *open;                /* still being filled */
	struct scatter_segment *first, *last;        /* not yet committed, in order */
	uint32_t uncommitted_reads;                  /* reads and atomics among them */
	struct receive_waiter waiter;                /* for a receive WQE */
	bool no_wqe, waits_for_segment;
	struct qp *next_segment_waiter; /* in the list of the scatter segments */
	uint32_t generation;            /* counts resets: what is older has no effect */
	bool ack_due;
	uint32_t ack_psn, ack_msn;
	sim_time ack_request_at;
	struct event ack;
	struct response *response_first, *response_last;
	uint32_t response_count, reads_owed;
	struct atomic_record records[ATOMIC_RECORDS];
	uint32_t next_record;
};

struct arrivals { /* packets that came in and wait for a part of the QP's context */
	struct packet *first, *last;
	struct context_lookup lookup;
	sim_time asked_at;
	bool busy;
};

struct qp {
	struct transport_block *transport;
	struct qp *next, **link; /* of all of the transport's; what names this one */
	uint32_t number;
	struct hca_qp_attr attr;
	struct hca_qp_state state;
	struct completion_queue *send_cq, *recv_cq;
	struct receive_queue *rq;
	struct sched_entity request_entity, response_entity;
	struct arrivals requests, responses;
	struct awaited_response *awaited_first, *awaited_last; /* of response_list.c */
	struct send_queue sq;
	struct requester requester;
	struct responder responder;
	struct qp_congestion *congestion; /* NULL: none, or nothing was sent yet */
	struct dc_initiator *dci;         /* of a DCI; NULL: it is none */
	struct dc_responder *dcr;         /* of a DCR; NULL: it is none */
	uint32_t users;                   /* segments, reads and WQEs under way that name it */
	bool destroyed;
	bool flushing; /* ERR: the receive queue is flushed once what was executed is committed */
};

static inline struct send_slot *qp_slot(const struct qp *qp, uint32_t number)
{
	return send_queue_slot(&qp->sq, number);
}

static inline bool qp_is_datagram(const struct qp *qp)
{
	return qp->attr.type == QP_UD || qp->attr.type == QP_GSI;
}

static inline bool qp_is_reliable(const struct qp *qp)
{
	return qp->attr.type == QP_RC || qp->attr.type == QP_XRC_INI ||
	       qp->attr.type == QP_XRC_TGT || qp->attr.type >= QP_DCI;
}

/* May new work requests start? */
static inline bool qp_may_send(const struct qp *qp)
{
	return qp->state.state == STATE_RTS;
}

extern const uint8_t qp_transport[]; /* [enum qp_type]: enum transport, fabric/wire/opcode.h */

/* The CQs exist, and the SRQ if one is named. Not in the table of numbers yet. */
struct qp *qp_create(struct transport_block *transport, const struct hca_qp_attr *attr);
/* Its QPN, once. */
void qp_set_number(struct qp *qp, uint32_t number);

void qp_destroy(struct qp *qp);
void qp_modify(struct qp *qp, const struct hca_qp_state *state);

/* By QPN; NULL: there is none. */
struct qp *qp_find(struct transport_block *transport, uint32_t number);

/* What its driver knows it by: a DCR is its DCT. */
uint32_t qp_known_as(const struct qp *qp);

/* Frees its memory. Nothing names the queue pair any more, or the run is over. */
void qp_free(struct qp *qp);

/* Whoever keeps the QP over an event holds it; it goes when it is destroyed and nobody does. */
void qp_hold(struct qp *qp);
void qp_drop(struct qp *qp);

/* The state of verbs' ERR: both queues are flushed. async: what the driver hears, or -1. */
void qp_enter_error(struct qp *qp, int async);

/* Lists and rights, at the instant of the check. Its cost in time is that of the DMA that follows. pd: the QP's, but for lists of
 * an SRQ, that one's. */
bool qp_key_allows(struct qp *qp, uint32_t pd, uint32_t key, uint64_t address, uint32_t length,
		   uint32_t access);
bool qp_list_allows(struct qp *qp, uint32_t pd, const struct data_segment *segments, uint32_t count,
		    uint32_t offset, uint32_t length, uint32_t access);

/* The protection domain that a request's rkey is checked against: an XRC target has none of its own, the SRQ that the packet
 * names lends it (IBTA vol. 1, 14.2: XRC). What moves the data later goes by the region's, which was found equal to that. */
uint32_t qp_remote_pd(const struct qp *qp, uint32_t key);

/* Do the bytes behind that key exist, or are there lengths only? */
bool qp_key_has_bytes(struct qp *qp, uint32_t key);

#endif
