/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port_state: what the files that make up a port share: port.c (borders, receive side), transmit.c (departure),
 * arbiter.c (who is next), credits.c (InfiniBand), pause.c (Ethernet), input_space.c (the receive buffer).
 * Private to them.
 *
 *     port_send --> queues --arbiter--> transmit_commit --> peer's `flying` --arrive--> port.c --> user
 *                                ^ may this VL?                                        |
 *                       credits / pause <------- flow-control packets, PFC frames -------'
 *
 * A packet's times are fixed by transmit_commit(): at once when it can start and nobody may overtake it, else by
 * the event `transmit` at the end of what is leaving. Packets in flight need one event, that of the next arrival.
 */
#ifndef FABRIC_PORT_STATE_H
#define FABRIC_PORT_STATE_H

#include <assert.h>

#include "fabric/port.h"
#include "fabric/port_params.h"
#include "fabric/schedule.h"

#define CREDIT_BLOCK_BYTES  64u
#define CREDIT_MASK         0xfffu /* FCTBS and FCCL are 12-bit counters: IBTA vol. 1, 7.9.4 */
#define CREDIT_BLOCKS_MAX   2048u
#define MANAGEMENT_VL       15u /* VL15: no flow control, before all others: IBTA vol. 1, 7.6.3 */
#define ETHERNET_VLS        8u
#define CREDIT_PACKET_BYTES 6u /* operand, FCTBS, VL, FCCL, LPCRC */
#define HEADERS_MAX \
	128u /* LRH or Ethernet to the last check, without payload: 122 with GRH, RETH and ImmDt */
#define PFC_FRAME_BYTES     64u
#define ETHERNET_PREAMBLE   8u
#define ETHERNET_GAP        12u
#define PAUSE_QUANTUM_BITS  512u
#define ENCODED_BITS_A_BYTE (UINT64_C(8) * SEC) /* picoseconds times bits a second */

enum { PORT_TRACE(TRACE_ENUM) };
#define PORT_DROP_ENUM(X, reason, value, where, counter, name, meaning) DROP_##reason = value,
enum drop_reason { PORT_DROPS(PORT_DROP_ENUM, ) };

struct packet_queue { /* linked through packet->next; packet->head_at is when it may start */
	struct packet *head, *tail;
};

struct deferred_release {
	sim_time at;
	uint32_t units;
	uint32_t vl;
};

/* What a packet of a VL touches: one cache line. */
struct vl {
	/* transmit */
	uint64_t source_waiting; /* one bit a source, or a word of them: see port.wide */
	uint32_t queued;
	uint32_t queued_bytes;
	sim_time paused_until; /* Ethernet */
	uint16_t credit_total; /* InfiniBand, what this end may send: FCTBS, ... */
	uint16_t credit_limit; /* ... FCCL */
	uint8_t last_source;
	/* receive */
	uint16_t received;   /* InfiniBand: ABR, blocks received */
	uint16_t advertised; /* InfiniBand: the FCCL that the other end was sent last */
	uint64_t used;       /* blocks or bytes */
	uint64_t deferred_units;
};

/* In cache lines. A packet that comes in touches lines 0 to 2 and 4 and its VL, one that leaves 2 and 4 and its VL. */
struct port {
	/* line 0: the head of the first packet in flight towards here */
	struct event arrive;
	struct packet_queue flying;

	/* line 1: the receive buffer */
	uint32_t capacity;                 /* a VL: blocks or bytes */
	uint32_t xoff;                     /* Ethernet, bytes */
	struct deferred_release *deferred; /* a ring in the order of `at`; doubles when full */
	uint32_t deferred_first, deferred_count, deferred_room;
	uint16_t gained; /* VLs with space back that the other end may not know of */
	uint8_t wanted;  /* Ethernet: priorities that this end's buffer asks to pause */
	uint8_t drains;  /* a fault: input space comes back slowly */
	struct fault *receive_fault;
	uint32_t batch_blocks, low_blocks; /* InfiniBand: when credits are worth a packet */

	/* line 2: what kind of port it is, and the half of the block that every event looks at */
	struct port_user *user __attribute__((aligned(64)));
	uint32_t latency;     /* ps; propagation and error correction */
	uint32_t ps_per_byte; /* 0: not a whole number, see residue */
	uint16_t mtu;
	uint8_t vl_count;
	uint8_t ethernet;
	uint8_t preamble_bytes, gap_bytes;
	uint8_t keeps_leaving; /* the user wants sent() */
	uint8_t down;          /* the link is */
	uint8_t shared_input;  /* the user accounts for the input space */
	uint8_t reorders;      /* the transmit fault does */
	uint8_t faulty;        /* there is a transmit fault */
	uint8_t blocked;       /* as the gauge counts it */
	uint8_t watched;       /* there is a tap */
	uint8_t between_lps;   /* there is an lp_link */
	uint8_t refuses;       /* enum packet_damage: what is dropped on arrival */
	struct block block;

	/* line 4: the departure of any packet, and the first four counters */
	sim_time busy_until __attribute__((aligned(64))); /* the next packet may start then */
	struct port *peer;
	sim_time last_arrival; /* at the other end, of what was sent */
	uint16_t waiting;      /* VLs with a queued packet */
	uint16_t credits_due;  /* VLs whose credits are to be sent */
	uint16_t given_up;     /* VLs, see hoq_timeout.c */
	uint8_t pause_due;     /* priorities whose pause state is to be sent */
	uint8_t wakes;         /* `transmit` is pending */
	struct port_counters count;

	/* waiting for departure */
	/* The end of what is leaving, if somebody waits. */
	struct event transmit __attribute__((aligned(64)));
	struct packet_queue *queues; /* see port_queues_of() */
	uint32_t sources;
	uint32_t transmit_depth;
	struct schedule *schedule; /* NULL: VLs take turns */
	struct port_set *wide;     /* by VL, of more than 64 sources; else NULL */
	uint64_t waiting_bytes;    /* with preamble and gap */
	uint64_t rate_bps;
	uint64_t residue; /* what rounding has left since the link was idle, in ps * bit/s */
	struct packet_pool *pool;
	uint16_t room_again;  /* VLs whose queue was full; the user is to be told */
	uint16_t hoq_blocked; /* VLs, see hoq_timeout.c */
	uint8_t last_vl;      /* served last */

	struct vl vls[PORT_VLS] __attribute__((aligned(64)));

	/* seldom looked at */
	struct fault *transmit_fault;
	struct lp_link *lp_link; /* NULL: both ends are in one LP of the run */
	struct event release;    /* of a deferred release that somebody waits for */
	uint32_t xon;
	struct event refresh; /* credits again, after a loss; or the pause again, before it ends */
	uint16_t refresh_vls;
	uint8_t pausing;  /* Ethernet: priorities that this end has paused: those `wanted`, */
	uint8_t storming; /* ... and those of a fault */
	sim_time drain_ps_per_byte, drained_at;
	struct event react; /* a PFC frame received takes effect */
	struct packet_queue reacting;
	sim_time paused_from[ETHERNET_VLS];
	sim_time paused_before[ETHERNET_VLS]; /* sum of the pauses that are over */
	uint8_t pausing_depth[ETHERNET_VLS];  /* of what it asks for */
	uint8_t paused_depth[ETHERNET_VLS];   /* of what it was asked for last */
	sim_time advertised_at[PORT_VLS];
	sim_time hoq_blocked_since[PORT_VLS];
	sim_time stalled_until[PORT_VLS];
	uint16_t last_drop_at[PORT_VLS]; /* FCTBS then: the same if nothing has left since */
	uint8_t drops_in_a_row[PORT_VLS];
	struct event give_up;
	port_tap_function *tap;
	void *tap_context;
	uint8_t has_tables; /* the schedule is of VL arbitration */
	uint8_t patient;
	struct port_params params;
	struct port_gauges gauge;
	struct packet leaving; /* copy, for sent() */

	/* Of the data packet whose head came last. */
	sim_time arriving_until;
	uint32_t arriving_bytes;
};

_Static_assert(sizeof(struct vl) <= 64, "a VL is one cache line");
_Static_assert(offsetof(struct port, capacity) == 64, "line 0 is full");
_Static_assert(offsetof(struct port, user) == 128, "line 2 is the third");
_Static_assert(offsetof(struct port, block) + offsetof(struct block, type) == 192,
	       "line 2 is full");
_Static_assert(offsetof(struct port, count) + 32 == offsetof(struct port, busy_until) + 64,
	       "four counters share the line of departures");

/* port.c */
void port_drop(struct port *port, struct packet *packet, enum drop_reason reason);

/* transmit.c */
void transmit_init(struct port *port);
void transmit_configure(struct port *port);
void transmit_wake(struct port *port, sim_time at); /* something may be able to leave then */
void transmit_blocked(struct port *port,
		      bool blocked);   /* a packet waits for credits or a pause's end */
void transmit_kick(struct port *port); /* ... now, from within another event */
sim_time transmit_duration(const struct port *port, uint64_t bytes);
/* At the other end, which is of that run, at its head_at. */
void transmit_arrives(struct sim *sim, struct port *port, struct packet *packet);

/* arbiter.c: the packet to leave now, out of its queue. NULL: none; *wake is when one may be ready, or SIM_NEVER */
struct packet *arbiter_next(struct port *port, sim_time now, sim_time *wake);
void arbiter_enqueue(struct port *port, struct packet *packet);

struct packet *
arbiter_remove(struct port *port,
	       unsigned vl); /* any packet of the VL, of the next source; NULL: none */

/* link_state.c */
void link_state_lose(struct port *port, struct packet *packet); /* it was on its way to that end */

/* hoq_timeout.c */
void hoq_timeout_init(struct port *port);
void hoq_timeout_configure(struct port *port);
void hoq_timeout_note(struct port *port, unsigned vl); /* its first packet cannot leave */
void hoq_timeout_progress(struct port *port, unsigned vl);
void hoq_timeout_flush(struct port *port, unsigned vl, enum drop_reason reason);
void hoq_timeout_discard(struct port *port, struct packet *packet, enum drop_reason reason);

/* credits.c */
void credits_restart(struct port *port); /* the link comes up again: what was on the wire is lost */
static inline uint32_t credit_blocks(uint32_t wire_bytes)
{
	return (wire_bytes + CREDIT_BLOCK_BYTES - 1) / CREDIT_BLOCK_BYTES;
}
static inline bool credits_suffice(const struct port *port, unsigned vl, uint32_t wire_bytes)
{
	/* IBTA vol. 1, 7.9.4.4: (FCCL - what would be sent) mod 4096 <= 2048 */
	uint32_t after = port->vls[vl].credit_total + credit_blocks(wire_bytes);

	return ((port->vls[vl].credit_limit - after) & CREDIT_MASK) <= CREDIT_BLOCKS_MAX ||
	       vl == MANAGEMENT_VL;
}
static inline void credits_consume(struct port *port, unsigned vl, uint32_t wire_bytes)
{
	uint32_t blocks = credit_blocks(wire_bytes);

	if (vl == MANAGEMENT_VL)
		return;
	port->vls[vl].credit_total =
		(uint16_t)((port->vls[vl].credit_total + blocks) & CREDIT_MASK);
	port->count.credits_consumed += blocks;
}
void credits_configure(struct port *port);
void credits_start(struct port *port);            /* the link comes up */
struct packet *credits_packet(struct port *port); /* of the first VL due */
void credits_receive(struct port *port, const struct packet *packet);
void credits_arrive(struct port *port, unsigned vl, uint32_t blocks);
bool credits_wanted(const struct port *port, unsigned vl,
		    uint64_t more_blocks); /* by the sender, were these free too */
void credits_consider(struct port *port, unsigned vl);
void credits_lost(struct port *port,
		  unsigned vl); /* a packet of that VL, or its credits, did not arrive */
void credits_refresh(struct port *port);

/* pause.c */
void pause_init(struct port *port);
void pause_configure(struct port *port);
struct packet *pause_frame(struct port *port);
void pause_receive(struct port *port, struct packet *packet);
void pause_consider_stop(struct port *port, unsigned vl);
void pause_consider_go(struct port *port, unsigned vl);
void pause_refresh(struct port *port);

/* input_space.c */
void input_space_init(struct port *port);
void input_space_configure(struct port *port);
void input_space_fini(struct port *port);
bool input_space_take(struct port *port, const struct packet *packet); /* false: it does not fit */

/* Those of a VL, by source; the management VL's are behind those of the VLs for data. */
static inline struct packet_queue *port_queues_of(const struct port *port, unsigned vl)
{
	return &port->queues[(vl < port->vl_count ? vl : port->vl_count) * port->sources];
}

static inline unsigned port_queue_count(const struct port *port)
{
	return (port->vl_count + (port->ethernet ? 0u : 1u)) * port->sources;
}

static inline void packet_queue_push(struct packet_queue *queue, struct packet *packet)
{
	packet->next = NULL;
	if (queue->head)
		queue->tail->next = packet;
	else
		queue->head = packet;
	queue->tail = packet;
}

static inline struct packet *packet_queue_pop(struct packet_queue *queue)
{
	struct packet *packet = queue->head;

	queue->head = packet->next;
	packet->next = NULL;
	return packet;
}

#endif
