/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qp: one queue pair: its attributes from creation and from modify_qp, its send queue with the WQEs
 * in progress, and the state of its requester and responder.
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

/* responses that a responder may owe, including READ and atomic resources */
#define RESPONSES_MAX 64

struct atomic_records;
struct completion_queue;
struct qp_congestion;
struct receive_queue;

enum page_wait { /* wait of a requester for a page */
		 PAGE_WAIT_NOTHING,
		 PAGE_WAIT_DATA,  /* page of the data of the slot at the cursor */
		 PAGE_WAIT_PLACE, /* page for a response that was dropped */
};

struct requester {
	uint32_t cursor_packet; /* next packet of the slot at the cursor */
	uint32_t next_psn;      /* first PSN of the next slot */
	uint32_t sent_psn;      /* PSN after the last packet that was created */
	uint32_t left_psn;      /* PSN after the last packet that left */
	uint32_t unacked_psn;
	uint32_t epoch;       /* segments of an earlier epoch are not sent */
	uint32_t outstanding; /* READs and atomics in progress */
	uint8_t retries_left, rnr_retries_left;
	bool halted; /* the WQE at the cursor failed; it completes when it is the oldest */
	bool rnr_waiting;
	uint8_t page_wait; /* enum page_wait */
	bool gap_seen;     /* a response was missing, and the requester has gone back for it */
	bool draining;     /* SQD: an event is to be reported */
	bool held;         /* paced_until is a reaction time, which a new rate does not change */
	uint32_t complete_block; /* of the ring: behind the last WQE that completed */
	struct timer timer;      /* timer for responses */
	struct event rnr_timer;
	/* end of the rate limit, of the pace of congestion control, or of a reaction time */
	sim_time paced_until;
	sim_time held_at; /* start of the wait that held_up counts */
	struct event pace;
	struct gauge *held_up; /* gauge of transport for the current wait, or NULL */
};

/* RESPONSE_ACCEPT is the ACK of a connect. It is never coalesced with another ACK. */
enum response_kind { RESPONSE_ACK, RESPONSE_NAK, RESPONSE_READ, RESPONSE_ATOMIC, RESPONSE_ACCEPT };

struct response { /* a response that the responder owes, in PSN order */
	struct response *next;
	enum response_kind kind;
	bool ready; /* atomic: the value is known */
	bool duplicate;
	uint8_t syndrome;
	uint32_t psn, msn;
	uint32_t tag;
	uint32_t packets, sent; /* read */
	uint32_t rkey, length;  /* read */
	uint64_t address;       /* read */
	uint64_t value;         /* atomic: the original value */
	sim_time request_at;    /* last bit of the request */
	/* NULL for the path of the queue pair; DCT: the path to a refused initiator */
	const struct path *path;
	uint32_t dest_qp; /* QPN of that initiator */
};

struct responder {
	uint32_t expected_psn;
	uint32_t msn;
	int previous_opcode; /* -1 between messages */
	/* a NAK for a sequence error was sent, and the expected PSN has not arrived */
	bool nak_sent;
	/* UC: drops the rest of a damaged message; all transports: a fatal error is pending */
	bool dropping;
	bool fatal;
	/* the first error took effect: one WQE ends as `ending`, the following WQEs as flushed */
	bool failed;
	enum work_status ending;
	bool no_wqe, waits_for_segment;
	bool ack_due;
	uint64_t address; /* of the WRITE in progress */
	uint32_t rkey, length, received;
	uint32_t strides_used; /* multi-packet: strides of `wqe` in use */
	/* receive WQE of the current message; multi-packet: the current WQE */
	struct receive_wqe *wqe;
	struct receive_queue *wqe_queue; /* queue of `wqe`; XRC: the SRQ that the packet names */
	struct completion_queue *cq;     /* CQ of `wqe` and the user index of its CQE */
	uint32_t user_index;
	/* READs and atomics among the segments that are not committed */
	uint32_t uncommitted_reads;
	/* Times of the current message: arrival of its first bit, and of its WQE if the message
	 * waited for it. */
	sim_time begun_at, wqe_at;
	struct packet *waiting_first, *waiting_last; /* received but not executed */
	struct scatter_segment *open;                /* segment that is being filled */
	struct scatter_segment *first, *last;        /* segments that are not committed, in order */
	struct receive_waiter waiter;                /* wait for a receive WQE */
	struct qp *next_segment_waiter; /* next in the list that waits for a scatter segment */
	uint32_t generation; /* number of resets; objects of an earlier generation have no effect */
	uint32_t ack_psn, ack_msn;
	sim_time ack_request_at;
	struct event ack;
	struct response *response_first, *response_last;
	uint32_t response_count, reads_owed;
	struct atomic_records *atomics; /* NULL before the first atomic */
};

struct arrivals { /* packets that wait for a part of the QP's context */
	struct packet *first, *last;
	struct context_lookup lookup;
	sim_time asked_at;
	bool busy;
};

struct qp {
	struct transport_block *transport;
	/* list of the transport's queue pairs; `link` points to the pointer to this one */
	struct qp *next, **link;
	uint32_t number;
	struct hca_qp_attr attr;
	struct hca_qp_state state;
	struct completion_queue *send_cq, *recv_cq;
	struct receive_queue *rq;
	struct sched_entity request_entity, response_entity;
	struct arrivals requests, responses;
	struct awaited_response *awaited_first, *awaited_last; /* private to response_list.c */
	struct send_queue sq;
	struct requester requester;
	struct responder responder;
	/* NULL without congestion control, and before the first packet */
	struct qp_congestion *congestion;
	struct dc_initiator *dci; /* NULL if the queue pair is not a DCI */
	struct dc_responder *dcr; /* NULL if the queue pair is not a DCR */
	uint32_t users; /* segments, reads and WQEs in progress that refer to the queue pair */
	bool destroyed;
	/* ERR: the receive queue is flushed after all executed requests are committed */
	bool flushing;
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

/* Returns true if new work requests may start. */
static inline bool qp_may_send(const struct qp *qp)
{
	return qp->state.state == STATE_RTS;
}

extern const uint8_t qp_transport[]; /* [enum qp_type]: enum transport of fabric/wire/opcode.h */

/* Creates a queue pair without a number. The CQs, and an SRQ that the attributes name, must
 * exist. */
struct qp *qp_create(struct transport_block *transport, const struct hca_qp_attr *attr);
/* Sets the number of a new queue pair. */
void qp_set_number(struct qp *qp, uint32_t number);

void qp_destroy(struct qp *qp);
void qp_modify(struct qp *qp, const struct hca_qp_state *state);

/* Returns the queue pair with that number, or NULL if there is none. */
struct qp *qp_find(struct transport_block *transport, uint32_t number);

/* Returns the number that the driver knows. For a DCR it is the number of its DCT. */
uint32_t qp_known_as(const struct qp *qp);

/* Frees the memory of a queue pair that nothing refers to, or after the run. */
void qp_free(struct qp *qp);

/* Ends the use of a queue pair whose last reference is released. */
void qp_unused(struct qp *qp);

/* Add and release a reference. Every event that refers to the QP must hold one. The QP is freed
 * when it is destroyed and the last reference is released. */
static inline void qp_hold(struct qp *qp)
{
	qp->users++;
}
static inline void qp_drop(struct qp *qp)
{
	assert(qp->users);
	if (--qp->users == 0)
		qp_unused(qp);
}

/* Enters the ERR state of verbs and flushes both queues. `async` is the event for the driver, or
 * -1. */
void qp_enter_error(struct qp *qp, int async);

/* Return true if the key, or all keys of the list, allow the access now. Take no time: the DMA that
 * follows simulates it. `pd` is the protection domain of the QP, or of the SRQ for a list of an
 * SRQ. */
bool qp_key_allows(struct qp *qp, uint32_t pd, uint32_t key, uint64_t address, uint32_t length,
		   uint32_t access);
bool qp_list_allows(struct qp *qp, uint32_t pd, const struct data_segment *segments, uint32_t count,
		    uint32_t offset, uint32_t length, uint32_t access);

/* Returns the protection domain for the check of a request's R_Key. An XRC target has none; the
 * check uses the SRQ that the packet names (IBTA vol. 1, 14.2: XRC). The later transfer uses the
 * region's domain, which equals it. */
uint32_t qp_remote_pd(const struct qp *qp, uint32_t key);

/* Returns true if the memory of that key has bytes, false if only lengths are simulated. */
bool qp_key_has_bytes(struct qp *qp, uint32_t key);

#endif
