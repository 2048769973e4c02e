/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint_state: what the files of this folder share: the state of an endpoint HCA and of its queue pairs.
 *
 *     endpoint.c    its borders: posts, completions, what the port delivers; life
 *     departure.c   which queue pair sends next, and when: pace, windows, host rate
 *     request.c     makes request packets                response.c   makes ACKs, NAKs, read and atomic responses
 *     responder.c   takes requests                       requester.c takes ACKs, NAKs and responses
 *     selective.c   bitmaps of selective repeat          timeout.c  responses that are overdue
 *     notify.c      CNPs, both ends                      connect.c  queue pairs and their paths
 *     stall.c       an adapter that takes in nothing
 *     flow.c        all of it where flows take the place of packets
 *
 * PSNs are counted in 64 bits here; the wire has the lower 24.
 */
#ifndef HCA_ENDPOINT_ENDPOINT_STATE_H
#define HCA_ENDPOINT_ENDPOINT_STATE_H

#include <assert.h>

#include "fabric/wire/aeth.h"
#include "fabric/wire/opcode.h"
#include "hca/congestion/pace.h"
#include "hca/endpoint/deadline_heap.h"
#include "hca/endpoint/endpoint.h"
#include "sim/pool.h"

#define FIRST_QP_NUMBER 0x100u /* 0 and 1 are management's */
#define PSN_BITS        24
#define PSN_OF(count)   ((uint32_t)(count)&0xffffffu)

enum { ENDPOINT_TRACE(TRACE_ENUM) };
enum recovery { GO_BACK_N, SELECTIVE_REPEAT, GO_BACK_0 };
enum timeout_retransmits { RETRANSMITS_FIRST, RETRANSMITS_ALL };
enum partial_ack { PARTIAL_SINCE, PARTIAL_ANY };
enum grant_order { GRANTS_BY_TIME, GRANTS_BY_NUMBER };
enum timeout_restart { RESTARTED_BY_PROGRESS, RESTARTED_BY_NAK };
enum timeout_mode { TIMEOUT_SPEC, TIMEOUT_ADAPTIVE, TIMEOUT_FIXED };
enum cwnd_fill { FILL_WHOLE, FILL_PART };

enum source { SOURCE_REQUESTS, SOURCE_RESPONSES, SOURCES }; /* the port serves them in turn */

/* What a request that has arrived still leads to, once its last bit is in. */
enum consequence {
	OWES_ACK = 1,
	OWES_NAK = 2,
	OWES_CNP = 4,
	OWES_RESPONSE = 8,    /* a read or an atomic */
	DELIVERS = 16,        /* the last of a message */
	IS_RESPONSE = 32,     /* for the requester */
	DELIVERS_STORED = 64, /* early packets are in order now, and end messages */
};

/* A response that waits for its grant; on a list that ends in itself, in order of PSN. */
struct response {
	struct response *next;
	uint64_t psn;   /* of the next packet; of an ACK: the one it names */
	uint64_t bytes; /* of a read: that are left */
	sim_time ready_at;
	sim_time asked_at; /* see packet_line */
	sim_time came_at;  /* the last bit of what it responds to */
	uint32_t tag;      /* of the request */
	uint8_t kind;      /* enum operation: OP_READ_RESPONSE, OP_ATOMIC_ACK, OP_ACK */
	bool started;
};

enum qp_flag {
	QP_READY = 1, /* is on its VL's list */
	QP_HELD = 2,  /* allowed_at is no pace: a reaction time */
	QP_FAILED = 4,
	QP_NAK_SENT = 8, /* and what was missing has not come yet */
	QP_READS = 16,   /* a read or an atomic is among the messages */
	QP_GAP =
		32, /* a gap in read responses was found, and nothing has come since that it lacked */
	QP_FAR = 64,      /* its peer is an adapter of another kind */
	QP_RTO_LOW = 128, /* the deadline is the short one of selective repeat */
};

struct selective;

struct endpoint_qp {
	/* line 0: what each packet sent reads */
	const struct path *path;
	struct endpoint_hca *ep;
	struct qp_cc *cc;                 /* NULL: has sent nothing yet */
	struct endpoint_message *sending; /* holds send_psn, NULL: nothing to send */
	uint64_t send_psn;                /* next to make */
	uint64_t unacked_psn;
	uint64_t made_psn; /* behind the last ever made */
	sim_time allowed_at;
	/* line 1 */
	struct endpoint_qp *next_ready;
	uint32_t place[DEADLINE_KINDS];
	uint32_t number, peer_number;
	uint8_t flags; /* enum qp_flag */
	uint8_t vl;
	uint8_t retries;
	uint8_t reads_outstanding;
	uint32_t marked; /* packets with ECN CE since the last ACK */
	uint64_t sent_bytes, acked_bytes;
	struct endpoint_message *newest; /* ->next is the oldest not complete; NULL: none */
	sim_time deadline;               /* SIM_NEVER: nothing is awaited */
	/* line 2: the responder's, and what is rare */
	uint64_t expected_psn;
	struct response *responses;  /* the last; ->next is the first; NULL: none */
	sim_time cnp_at;             /* the next CNP may go then */
	struct endpoint_qp *peer;    /* NULL: QP_FAR */
	struct selective *selective; /* NULL: nothing was ever out of order */
	uint32_t message_psn;        /* first of the message that arrives, its lower bits */
	uint32_t early_psn;          /* the last that came too early, likewise */
	uint32_t cnps, marks;
	uint32_t messages; /* MSN */
	/* PSN behind the last message that the user was told of, its lower bits. */
	uint32_t delivered;
};

_Static_assert(sizeof(struct endpoint_qp) == 192, "three cache lines");
_Static_assert(offsetof(struct endpoint_qp, next_ready) == 64, "line 1");
_Static_assert(offsetof(struct endpoint_qp, expected_psn) == 128, "line 2");

struct qp_cc {
	const struct congestion *congestion;
	uint64_t response_bytes;   /* payload of reads that has come back */
	_Alignas(16) char state[]; /* struct cc_state, and what the algorithm has behind it */
};

/* Packets on their way through a part that delays all of them alike: handled at their tail_at. One event. */
struct packet_line {
	struct event event;
	struct packet *head, *tail;
	struct endpoint_hca *ep;
	void (*handle)(struct endpoint_hca *ep, struct packet *packet);
};

struct ready_list {
	struct endpoint_qp *head, *tail;
};

struct flow_message;

struct flow_queue { /* of a queue pair as a source: the first is under way */
	struct flow_message *head, *tail;
};

struct endpoint_hca {
	struct port_user port_user;
	struct port *port;
	struct packet_pool *pool;
	const struct endpoint_params *params;
	uint32_t mtu_bytes, gap_bytes;
	uint32_t ack_interval; /* of the parameters, or of congestion control */
	uint32_t cwnd_room;    /* bytes of a window that must be open for a packet */
	uint16_t ready_vls;
	bool sends_slowly, receives_slowly; /* the host, slower than the link */
	bool paces_departures;              /* pace_from: departure */
	bool partitioned;                   /* not the default partition alone */
	uint8_t ecn;                        /* of data packets */
	uint64_t serial;
	struct deadline_heap departures, overdue;
	struct event pace, timeout;
	struct packet_line arrived; /* what came and has consequences */
	struct packet_line naks, cnps;
	struct delay_line doorbells, completions;
	struct endpoint_qp **qps;
	uint32_t qp_count, qp_capacity;
	sim_time host_send_at, host_receive_at;
	uint32_t last_grant[PORT_VLS]; /* the queue pair's number that had it */
	sim_time vl_send_at[PORT_VLS]; /* a service level that has used up its share */
	struct cnp_limiter cnp_limiter;
	const struct congestion *congestion;
	struct endpoint_user *user;
	struct endpoints *endpoints;
	uint32_t endpoint;
	enum link_layer link_layer;
	struct pool response_pool;
	struct endpoint_counters count;
	struct flow_fabric *flows;          /* NULL: the fabric carries packets */
	struct flow_queue *flow_queues;     /* by queue pair */
	struct flow_message *flow_messages; /* the head of a ring: all that are not complete */
	struct pool flow_pool;
	uint32_t flow_queue_count;
	struct ready_list ready[PORT_VLS];
	struct block block;
	uint32_t active_qps; /* with a message that is not complete */
	struct read_recoveries read_recoveries;
	struct packet_line stalled; /* what has come while nothing is taken in */
};

static inline struct cc_state *cc_of(struct endpoint_qp *qp)
{
	return (struct cc_state *)(void *)qp->cc->state;
}

static inline struct endpoint_message *oldest_message(const struct endpoint_qp *qp)
{
	return qp->newest ? qp->newest->next : NULL;
}

/* By a response of its own, not by an ACK. */
static inline bool message_is_read_or_atomic(const struct endpoint_message *message)
{
	return message->operation == ENDPOINT_READ || message->operation == ENDPOINT_ATOMIC;
}

/* What packets of the queue pair carry, and what those that come to it must match. */
static inline uint16_t endpoint_pkey(const struct endpoint_qp *qp)
{
	const struct endpoints *endpoints = qp->ep->endpoints;

	if (__builtin_expect(!qp->ep->partitioned, 1))
		return PKEY_DEFAULT;
	return partitions_towards(endpoints_get(endpoints, qp->path->source)->partitions,
				  endpoints_get(endpoints, qp->path->destination)->partitions);
}

static inline sim_time endpoint_now(const struct endpoint_hca *ep)
{
	return sim_now(ep->block.sim);
}

/* The 64-bit number nearest to `near` that the wire shows as `psn`. */
static inline uint64_t psn_near(uint64_t near, uint32_t psn)
{
	int32_t ahead = (int32_t)((psn - (uint32_t)near) << 8) >> 8;

	return near + (uint64_t)(int64_t)ahead;
}

/* endpoint.c */
void endpoint_receives(struct endpoint_hca *ep); /* what comes from the port from now on */
void endpoint_complete(struct endpoint_qp *qp, struct endpoint_message *message,
		       enum endpoint_status status);
void packet_line_append(struct packet_line *line, struct packet *packet);
void packet_line_push(struct packet_line *line, struct packet *packet); /* due at its tail_at */

/* stall.c */
void stall_init(struct endpoint_hca *ep);
void stall_until(struct endpoint_hca *ep, sim_time until); /* nothing is taken in until then */

/* connect.c */
void connect_state_init(struct endpoint_qp *qp, const struct congestion *congestion);
void connect_destroy(struct endpoint_hca *ep);

/* departure.c */
void departure_consider(struct endpoint_qp *qp); /* something has changed that may let it send */
void departure_fill(struct endpoint_hca *ep);    /* as much as the port takes */
void departure_begin(
	struct endpoint_qp *qp); /* there is something to send after a while with nothing */
void departure_hold(struct endpoint_qp *qp, sim_time until);
void departure_rate_changed(struct endpoint_qp *qp, uint64_t rate_before);
void departure_init(struct endpoint_hca *ep);
void departure_pay(struct endpoint_qp *qp, const struct packet *packet); /* it was sent */

/* request.c */
bool request_possible(struct endpoint_qp *qp);
void request_send(struct endpoint_qp *qp);
void request_rewind(struct endpoint_qp *qp, uint64_t psn);
struct endpoint_message *request_message(const struct endpoint_qp *qp,
					 uint64_t psn); /* that it is of, not complete */

/* response.c */
struct packet *response_packet(struct endpoint_qp *qp, uint8_t opcode, uint64_t psn);
void response_set_priority(struct endpoint_qp *qp, struct packet *packet,
			   uint64_t priority); /* 16: as it is */
void response_ack(struct endpoint_qp *qp, uint64_t psn, struct packet *asked);
void response_nak(struct endpoint_qp *qp, uint64_t psn, uint64_t arrived_psn);
void response_owe(struct endpoint_qp *qp, const struct packet *request, uint64_t psn);
sim_time response_ready_at(const struct endpoint_qp *qp); /* SIM_NEVER: none */
void response_send(struct endpoint_qp *qp);
void response_drop_all(struct endpoint_qp *qp);

/* responder.c: at a request's head, and when its last bit has had its effect */
void responder_arrive(struct endpoint_qp *qp, struct packet *packet);
void responder_act(struct endpoint_qp *qp, struct packet *packet);

/* requester.c */
void requester_act(struct endpoint_qp *qp, struct packet *packet);

/* selective.c */
void selective_destroy(struct endpoint_qp *qp);
bool selective_store(struct endpoint_qp *qp, uint64_t psn, bool ends,
		     uint32_t tag);                                /* false: had it */
bool selective_stored(const struct endpoint_qp *qp, uint64_t psn); /* is it, and not passed */
/* Was it, stored and passed, the last of a message? Asked once for each of them, in order, where one was. */
bool selective_ended(struct endpoint_qp *qp, uint64_t psn, uint32_t *tag);
void selective_take(struct endpoint_qp *qp,
		    uint64_t from); /* in order, from there to expected_psn */
unsigned selective_advance(
	struct endpoint_qp *qp); /* expected_psn, over what is there; messages that ended */
void selective_sacked(struct endpoint_qp *qp, uint64_t psn,
		      bool stored);          /* it came, and is kept or not */
void selective_lost(struct endpoint_qp *qp); /* by timeout */
void selective_acked(struct endpoint_qp *qp, uint64_t from,
		     sim_time asked_at); /* by a response to a packet that left then */
bool selective_next(struct endpoint_qp *qp,
		    uint64_t *psn); /* to retransmit; stays until selective_sent() */
void selective_sent(struct endpoint_qp *qp, uint64_t end); /* again, all before `end` */
bool selective_recovers(const struct endpoint_qp *qp);

/* timeout.c */
void timeout_arm(struct endpoint_qp *qp); /* from now on */
void timeout_disarm(struct endpoint_qp *qp);
void timeout_init(struct endpoint_hca *ep);

/* flow.c */
void flow_post(struct endpoint_qp *qp, struct endpoint_message *message);
uint64_t flow_acked_bytes(const struct endpoint_qp *qp); /* what is under way counts by its share */
uint64_t flow_packets_sent(const struct endpoint_message *message); /* likewise */
void flow_destroy(struct endpoint_hca *ep);

/* notify.c */
void notify_marked(struct endpoint_qp *qp); /* a marked packet has had its effect */
void notify_receive(struct endpoint_qp *qp);
void notify_loss(struct endpoint_qp *qp, enum congestion_loss loss);

#endif
