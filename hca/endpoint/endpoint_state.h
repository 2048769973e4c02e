/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint_state: the declarations that the files of this folder share: the state of an endpoint
 * HCA and of its queue pairs.
 *
 *     endpoint.c    interfaces: posts, completions, packets from the port; creation
 *     arrived.c     payload that has arrived, for measurements
 *     departure.c   which queue pair sends next, and when: pace, windows, host rate
 *     request.c     makes request packets
 *     responder.c   takes requests
 *     response.c    makes ACKs, NAKs, read and atomic responses
 *     requester.c   takes ACKs, NAKs and responses
 *     selective.c   bitmaps of selective repeat
 *     timeout.c     responses that are overdue
 *     notify.c      CNPs, both ends
 *     cc_extension.c  congestion control of shared objects: priorities, paths, fields, receiver
 *     connect.c     queue pairs and their paths
 *     stall.c       an adapter that accepts no packets
 *     rest.c        memory of queue pairs with nothing to do
 *     flow.c        replaces all of these for flows instead of packets
 *     tcp_end.c     replaces the RDMA transport by TCP
 *     iwarp_end.c   messages as FPDUs of iWARP on TCP
 *     iwarp_read.c  READs of iWARP
 *     connection_cache.c   contexts on the chip
 *     connection_memory.c  memory of queue pairs and connections
 *
 * PSNs have 64 bits in these files. The wire has the lower 24 bits.
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

#define FIRST_QP_NUMBER 0x100u /* 0 and 1 are reserved for management */
#define PSN_BITS        24
#define PSN_OF(count)   ((uint32_t)(count)&0xffffffu)

enum { ENDPOINT_TRACE(TRACE_ENUM) };
enum recovery { GO_BACK_N, SELECTIVE_REPEAT, GO_BACK_0 };
enum timeout_retransmits { RETRANSMITS_FIRST, RETRANSMITS_ALL };
enum partial_ack { PARTIAL_SINCE, PARTIAL_ANY };
enum grant_order { GRANTS_BY_TIME, GRANTS_BY_NUMBER, GRANTS_IN_BURSTS };
enum timeout_restart { RESTARTED_BY_PROGRESS, RESTARTED_BY_NAK };
enum timeout_mode { TIMEOUT_SPEC, TIMEOUT_ADAPTIVE, TIMEOUT_FIXED };
enum cwnd_fill { FILL_WHOLE, FILL_PART };

/* the port serves both kinds alternately */
enum source { SOURCE_REQUESTS, SOURCE_RESPONSES, SOURCES };

/* Consequences of an arrived request, which take effect after its last bit. */
enum consequence {
	OWES_ACK = 1,
	OWES_NAK = 2,
	OWES_CNP = 4,
	OWES_RESPONSE = 8,    /* a READ or an atomic */
	DELIVERS = 16,        /* the last packet of a message */
	IS_RESPONSE = 32,     /* a response for the requester */
	DELIVERS_STORED = 64, /* stored packets are in order now and end messages */
	TELLS_RECEIVER = 128, /* the receiver's side of congestion control */
	IS_DUPLICATE = 256,   /* with TELLS_RECEIVER: the payload arrived before */
};

/* A response that waits to be sent. Responses are in a circular list in order of PSN. */
struct response {
	struct response *next;
	uint64_t psn;   /* PSN of the next packet; for an ACK, the acknowledged PSN */
	uint64_t bytes; /* READ: remaining bytes */
	sim_time ready_at;
	sim_time asked_at; /* see packet_line */
	sim_time came_at;  /* last bit of the request */
	uint32_t tag;      /* tag of the request */
	uint8_t kind;      /* enum operation: OP_READ_RESPONSE, OP_ATOMIC_ACK, OP_ACK */
	bool started;
};

enum qp_flag {
	QP_READY = 1, /* the queue pair is on the list of its VL */
	QP_HELD = 2,  /* allowed_at is a reaction time, not a pace */
	QP_FAILED = 4,
	QP_NAK_SENT = 8, /* a NAK was sent, and the missing packet has not arrived */
	QP_READS = 16,   /* a READ or an atomic is among the messages */
	/* a gap in READ responses was found, and no missing response has arrived since */
	QP_GAP = 32,
	QP_FAR = 64,      /* the peer is another kind of adapter */
	QP_RTO_LOW = 128, /* the deadline is the short timeout of selective repeat */
};

struct connection_cache;
struct endpoint_iwarp;
struct endpoint_tcp;
struct selective;
struct tcp_end;

struct endpoint_qp {
	/* line 0: members that each sent packet reads */
	const struct path *path;
	struct endpoint_hca *ep;
	struct qp_cc *cc; /* NULL before the first packet */
	/* message with send_psn, or NULL if there is nothing to send */
	struct endpoint_message *sending;
	uint64_t send_psn; /* PSN of the next packet */
	uint64_t unacked_psn;
	uint64_t made_psn; /* PSN after the last packet that was ever created */
	sim_time allowed_at;
	/* line 1 */
	struct endpoint_qp *next_ready;
	uint32_t place[DEADLINE_KINDS];
	uint32_t number, peer_number;
	uint8_t flags; /* enum qp_flag */
	uint8_t vl;
	uint8_t retries : 6;
	uint8_t is_tcp : 1;  /* tcp_end.h replaces the RDMA transport */
	uint8_t fetched : 1; /* its next packet waits for its context (connection_cache.h) */
	uint8_t reads_outstanding;
	uint32_t marked; /* packets with ECN CE since the last ACK */
	uint64_t sent_bytes, acked_bytes;
	/* newest message, or NULL; newest->next is the oldest incomplete message */
	struct endpoint_message *newest;
	sim_time deadline; /* SIM_NEVER if no response is expected */
	/* line 2: members of the responder, and members that are seldom used */
	uint64_t expected_psn;
	struct response *responses; /* last response, or NULL; responses->next is the first */
	sim_time cnp_at;            /* earliest time of the next CNP */
	struct endpoint_slot *slot; /* its own, which leads to the peer */
	union {
		struct selective *selective; /* NULL before the first packet out of order */
		struct tcp_end *tcp;         /* if is_tcp */
	};
	union {
		uint32_t message_psn; /* lower bits of the first PSN of the current message */
		uint32_t nak_us;      /* after a NAK of go-back-N: its time in us, lower bits */
	};
	uint32_t early_psn; /* lower bits of the PSN of the last packet that came too early */
	uint32_t cnps, marks;
	uint32_t messages; /* MSN */
	/* Lower bits of the PSN after the last message that was reported to the user. */
	uint32_t delivered;
};

_Static_assert(sizeof(struct endpoint_qp) == 192, "three cache lines");
_Static_assert(offsetof(struct endpoint_qp, next_ready) == 64, "line 1");
_Static_assert(offsetof(struct endpoint_qp, expected_psn) == 128, "line 2");

#define SLOTS_PER_CHUNK 8u

/* Place of a queue pair at its HCA, which does not move. An LP may read `peer_and_place` of a slot
 * of another. */
struct endpoint_slot {
	/* address of the queue pair, or number of its first cell at rest, and enum slot_flag */
	uintptr_t where;
	/* address of the peer's slot, or NULL with QP_FAR, and the place in the chunk */
	uintptr_t peer_and_place;
};

enum slot_flag {
	SLOT_AT_REST = 1,
	SLOT_RETIRED = 2, /* nothing will be posted to it any more */
	SLOT_FLAGS = 3,
	SLOT_FLAG_BITS = 2,
};

struct slot_chunk {
	struct endpoint_hca *ep;
	struct endpoint_slot slots[SLOTS_PER_CHUNK];
};

_Static_assert(sizeof(uintptr_t) >= SLOTS_PER_CHUNK, "addresses of slots leave room for a place");

/* Queue pairs that were at rest before, to be examined in turn. */
struct rest_list {
	struct endpoint_slot **slots;
	uint32_t count, capacity, next, to_examine;
};

/* Memory of the bytes at rest. */
struct rest_cells {
	struct rest_cell **chunks;
	uint32_t count;
	uint32_t idle_end; /* number of the first idle cell + 1, or 0 */
};

struct qp_cc {
	const struct congestion *congestion;
	uint32_t ack_interval;   /* from the parameters or the congestion control */
	uint64_t response_bytes; /* payload of READs that has arrived */
	sim_time rtt;            /* round-trip time of the latest ACK with one; 0: none so far */
	struct cc_extension *extension; /* of a plug-in (cc_extension.h), or NULL */
	_Alignas(16) char state[]; /* struct cc_state, followed by the state of the algorithm */
};

/* Packets in a stage that delays all packets equally. Each is handled at its tail_at. One event is
 * pending. */
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

struct flow_queue { /* transfers from a queue pair; the first is in progress */
	struct flow_message *head, *tail;
};

struct endpoint_hca {
	struct port_user port_user;
	struct port *port;
	struct packet_pool *pool;
	const struct endpoint_params *params;
	uint32_t mtu_bytes, gap_bytes;
	uint32_t cwnd_room; /* bytes of a window that must be open to send a packet */
	uint16_t ready_vls;
	bool sends_slowly, receives_slowly; /* the host is slower than the link */
	bool paces_departures;              /* pace_from: departure */
	bool grants_when_free;              /* grant_at: free */
	bool vl_changed;                    /* cc_extension.c chose another VL for a queue pair */
	bool partitioned;                   /* has partitions other than the default partition */
	uint8_t ecn;                        /* ECN field of data packets */
	uint64_t serial;
	struct deadline_heap departures, overdue;
	struct event pace, timeout;
	struct packet_line arrived; /* received packets with consequences */
	struct packet_line naks, cnps;
	struct delay_line doorbells, completions;
	struct slot_chunk **chunks;
	uint32_t qp_count, qp_capacity;
	struct rest_list awake;
	struct rest_cells cells;
	struct endpoint_qp *idle_qps;  /* memory for queue pairs, a list by next_ready */
	struct qp_cc *idle_cc;         /* memory for this HCA's algorithm, a list */
	uint64_t *new_cc;              /* state of this HCA's algorithm at its first use, or NULL */
	struct endpoint_qp *looked_at; /* endpoint_look(); its congestion control follows */
	/* [choice_count] by queue pair: congestion control of its own; NULL: the HCA's */
	const struct congestion **choices;
	uint32_t choice_count;
	sim_time host_send_at, host_receive_at;
	uint32_t last_grant[PORT_VLS]; /* number of the queue pair that was granted last */
	/* time at which a service level may exceed its share of the link again */
	sim_time vl_send_at[PORT_VLS];
	struct cnp_limiter cnp_limiter;
	const struct congestion *congestion;
	struct endpoint_user *user;
	struct endpoints *endpoints;
	uint32_t endpoint;
	enum link_layer link_layer;
	struct pool response_pool;
	struct endpoint_counters count;
	struct flow_fabric *flows;          /* NULL if the fabric carries packets */
	struct flow_queue *flow_queues;     /* [queue pair] */
	struct flow_message *flow_messages; /* head of a circular list of all incomplete messages */
	struct pool flow_pool;
	uint32_t flow_queue_count;
	struct ready_list ready[PORT_VLS];
	struct block block;
	uint32_t active_qps; /* queue pairs with an incomplete message */
	struct read_recoveries read_recoveries;
	struct packet_line stalled;   /* packets received while the adapter accepts none */
	struct endpoint_tcp *tcp;     /* NULL without TCP */
	struct endpoint_iwarp *iwarp; /* NULL without iWARP */
	const struct connection_memory_params *memory; /* NULL: memory is not counted */
	struct connection_cache *cache;                /* NULL: all contexts are on the chip */
	struct cc_plugin *cc_plugins;                  /* congestion control of shared objects */
};

static inline struct cc_state *cc_of(struct endpoint_qp *qp)
{
	return (struct cc_state *)(void *)qp->cc->state;
}

static inline struct endpoint_message *oldest_message(const struct endpoint_qp *qp)
{
	return qp->newest ? qp->newest->next : NULL;
}

/* Returns the slot of the queue pair with a number from FIRST_QP_NUMBER + `index`. */
static inline struct endpoint_slot *slot_of(const struct endpoint_hca *ep, uint32_t index)
{
	return &ep->chunks[index / SLOTS_PER_CHUNK]->slots[index % SLOTS_PER_CHUNK];
}

static inline struct endpoint_slot *slot_peer(const struct endpoint_slot *slot)
{
	uintptr_t place = SLOTS_PER_CHUNK - 1;

	return (struct endpoint_slot *)(slot->peer_and_place & ~place);
}

static inline struct endpoint_hca *slot_ep(const struct endpoint_slot *slot)
{
	const struct endpoint_slot *first = slot - slot->peer_and_place % SLOTS_PER_CHUNK;

	return container_of(first, const struct slot_chunk, slots[0])->ep;
}

/* Returns the queue pair, which must be awake. */
static inline struct endpoint_qp *slot_qp(const struct endpoint_slot *slot)
{
	assert(!(slot->where & SLOT_AT_REST));
	return (struct endpoint_qp *)(slot->where & ~(uintptr_t)SLOT_FLAGS);
}

/* Returns the first cell of a queue pair at rest. */
static inline uint32_t slot_cell(const struct endpoint_slot *slot)
{
	assert(slot->where & SLOT_AT_REST);
	return (uint32_t)(slot->where >> SLOT_FLAG_BITS);
}

/* Returns the peer, which must be awake, or NULL with QP_FAR. */
static inline struct endpoint_qp *peer_of(const struct endpoint_qp *qp)
{
	struct endpoint_slot *peer = slot_peer(qp->slot);

	return peer ? slot_qp(peer) : NULL;
}

/* Returns true for a message that completes by its own response instead of an ACK. */
static inline bool message_is_read_or_atomic(const struct endpoint_message *message)
{
	return message->operation == ENDPOINT_READ || message->operation == ENDPOINT_ATOMIC;
}

/* Returns the P_Key that the packets of the queue pair carry, and that received packets must
 * match. */
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

/* Returns the 64-bit number nearest to `near` whose lower 24 bits are `psn`. */
static inline uint64_t psn_near(uint64_t near, uint32_t psn)
{
	int32_t ahead = (int32_t)((psn - (uint32_t)near) << 8) >> 8;

	return near + (uint64_t)(int64_t)ahead;
}

/* endpoint.c */
void endpoint_receives(struct endpoint_hca *ep); /* accept packets from the port from now on */
void endpoint_complete(struct endpoint_qp *qp, struct endpoint_message *message,
		       enum endpoint_status status);
void endpoint_packet_line_append(struct packet_line *line, struct packet *packet);
void endpoint_packet_line_push(struct packet_line *line,
			       struct packet *packet); /* handled at its tail_at */

/* stall.c */
void stall_init(struct endpoint_hca *ep);
void stall_until(struct endpoint_hca *ep, sim_time until); /* accept no packets until then */

/* connect.c */
void connect_state_init(struct endpoint_qp *qp);
/* Returns the congestion control of the flow that the queue pair sends. */
const struct congestion *connect_congestion(const struct endpoint_qp *qp);
/* Returns the congestion control of the flow that the queue pair receives. Not with QP_FAR. */
const struct congestion *connect_peer_congestion(const struct endpoint_qp *qp);
/* Returns base_rtt of a sender's path. */
sim_time connect_round_trip(const struct endpoint_qp *qp, const struct congestion_ops *ops);
void connect_destroy(struct endpoint_hca *ep);
/* Creates the two ends of a TCP connection, without their struct tcp_end. */
struct endpoint_qp *connect_tcp_pair(struct endpoint_hca *ep, struct endpoint_hca *other,
				     unsigned service_level, uint16_t source_port,
				     uint16_t destination_port);

/* departure.c */
void departure_consider(struct endpoint_qp *qp); /* an event may allow it to send */
void departure_fill(struct endpoint_hca *ep);    /* as many packets as the port accepts */
void departure_begin(struct endpoint_qp *qp);    /* there is data to send after an idle time */
void departure_hold(struct endpoint_qp *qp, sim_time until);
void departure_rate_changed(struct endpoint_qp *qp, uint64_t rate_before);
void departure_init(struct endpoint_hca *ep);
/* charge a packet that was sent */
void departure_pay(struct endpoint_qp *qp, const struct packet *packet);
void departure_pay_host(struct endpoint_qp *qp, uint32_t wire_bytes); /* charge the host only */
/* Returns true if a packet of this queue pair can leave now without passing a packet of another. */
bool departure_has_room(const struct endpoint_qp *qp);

/* request.c */
bool request_possible(struct endpoint_qp *qp);
void request_send(struct endpoint_qp *qp);
void request_rewind(struct endpoint_qp *qp, uint64_t psn);
struct endpoint_message *request_message(const struct endpoint_qp *qp,
					 uint64_t psn); /* incomplete message with that PSN */

/* response.c */
struct packet *response_packet(struct endpoint_qp *qp, uint8_t opcode, uint64_t psn);
void response_set_priority(struct endpoint_qp *qp, struct packet *packet,
			   uint64_t priority); /* 16 keeps the priority */
void response_ack(struct endpoint_qp *qp, uint64_t psn, struct packet *asked);
void response_nak(struct endpoint_qp *qp, uint64_t psn, uint64_t arrived_psn);
void response_owe(struct endpoint_qp *qp, const struct packet *request, uint64_t psn);
sim_time response_ready_at(const struct endpoint_qp *qp); /* the queue pair must owe a response */
void response_send(struct endpoint_qp *qp);
void response_drop_all(struct endpoint_qp *qp);

/* responder.c: responder_arrive() is called at a request's head. responder_act() is called when its
 * last bit is processed. */
void responder_arrive(struct endpoint_qp *qp, struct packet *packet);
void responder_act(struct endpoint_qp *qp, struct packet *packet);

/* requester.c */
void requester_act(struct endpoint_qp *qp, struct packet *packet);

/* selective.c */
void selective_destroy(struct endpoint_qp *qp);
bool selective_store(struct endpoint_qp *qp, uint64_t psn, bool ends,
		     uint32_t tag); /* false if it was already stored */
bool selective_stored(const struct endpoint_qp *qp, uint64_t psn); /* stored and not yet in order */
/* Returns true if a stored packet that is in order now was the last of a message, and writes its
 * tag. Call it once for each such packet, in order, after selective_advance() returned a
 * message. */
bool selective_ended(struct endpoint_qp *qp, uint64_t psn, uint32_t *tag);
void selective_take(struct endpoint_qp *qp,
		    uint64_t from); /* packets from `from` to expected_psn arrived in order */
/* advances expected_psn over stored packets; returns the number of messages that ended */
unsigned selective_advance(struct endpoint_qp *qp);
void selective_sacked(struct endpoint_qp *qp, uint64_t psn,
		      bool stored);          /* it has arrived, and is stored or not */
void selective_lost(struct endpoint_qp *qp); /* reports a timeout */
void selective_acked(struct endpoint_qp *qp, uint64_t from,
		     sim_time asked_at); /* by a response to a packet that left at asked_at */
bool selective_next(struct endpoint_qp *qp,
		    uint64_t *psn); /* next packet to retransmit, until selective_sent() */
/* all packets before `end` were retransmitted */
void selective_sent(struct endpoint_qp *qp, uint64_t end);
bool selective_recovers(const struct endpoint_qp *qp);
/* Carries the PSNs that selective_stored() knows. */
void selective_carry(struct endpoint_qp *qp, struct carry *carry);

/* timeout.c */
void timeout_arm(struct endpoint_qp *qp); /* restarts the timer */
void timeout_disarm(struct endpoint_qp *qp);
void timeout_init(struct endpoint_hca *ep);

/* rest.c */
struct endpoint_qp *rest_take_qp(struct endpoint_hca *ep); /* zeroed */
struct endpoint_qp *rest_wake(struct endpoint_slot *slot); /* must be at rest */
void rest_some(struct endpoint_hca *ep); /* call it where no queue pair is in use */
size_t rest_cc_bytes(const struct congestion *congestion); /* size of struct qp_cc */
struct qp_cc *rest_take_cc(struct endpoint_hca *ep, const struct congestion *congestion);
/* Reports new congestion control, before the queue pair rests. */
void rest_learn_cc(struct endpoint_hca *ep, const struct qp_cc *cc);
void rest_destroy(struct endpoint_hca *ep);

/* flow.c */
void flow_post(struct endpoint_qp *qp, struct endpoint_message *message);
/* includes a share of the transfer in progress */
uint64_t flow_acked_bytes(const struct endpoint_qp *qp);
/* includes a share of the transfer in progress */
uint64_t flow_packets_sent(const struct endpoint_message *message);
void flow_destroy(struct endpoint_hca *ep);

/* notify.c */
void notify_marked(struct endpoint_qp *qp); /* a marked packet was processed */
void notify_receive(struct endpoint_qp *qp);
void notify_loss(struct endpoint_qp *qp, enum congestion_loss loss);

#endif
