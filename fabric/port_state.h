/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port_state: the private declarations that the files of a port share: port.c (interface, receive
 * side), transmit.c (departure), arbiter.c (arbitration), credits.c (InfiniBand), pause.c
 * (Ethernet), input_space.c (receive buffer), link_state.c and hoq_timeout.c.
 *
 *     port_send -> queues -arbiter-> transmit_commit -> peer's `flying` -arrive-> port.c -> user
 *                            ^ may this VL?                                    |
 *                   credits / pause <----- flow-control packets, PFC frames ----'
 *
 * transmit_commit() fixes the times of a packet: at once if it can start and no other packet may
 * overtake it, otherwise in the event `transmit` at the end of the departing packet. All packets in
 * flight share one event, for the next arrival.
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
#define MANAGEMENT_VL       15u /* VL15: no flow control, ahead of all others: IBTA vol. 1, 7.6.3 */
#define ETHERNET_VLS        8u
#define CREDIT_PACKET_BYTES 6u /* operand, FCTBS, VL, FCCL, LPCRC */
/* all headers and checks without payload: 122 with GRH, RETH and ImmDt */
#define HEADERS_MAX         128u
#define PFC_FRAME_BYTES     64u
#define ETHERNET_GAP        12u
#define PAUSE_QUANTUM_BITS  512u
#define ENCODED_BITS_A_BYTE (UINT64_C(8) * SEC) /* picoseconds times bits per second */

enum { PORT_TRACE(TRACE_ENUM) };
#define PORT_DROP_ENUM(X, reason, value, where, counter, name, meaning) DROP_##reason = value,
enum drop_reason { PORT_DROPS(PORT_DROP_ENUM, ) };

struct packet_queue { /* linked through packet->next; packet->head_at is the earliest start */
	struct packet *head, *tail;
};

/* Releases that a port keeps without an allocation: one cache line. */
#define DEFERRED_ROOM 4u

struct deferred_release {
	sim_time at;
	uint32_t units;
	uint32_t vl;
};

/* Data packets in the order of departure. The list grows as needed. */
struct departure_list {
	struct departure {
		sim_time until; /* departure of the last bit */
		uint32_t bytes;
	} * departures;
	uint32_t first, count, room;
};

/* Members that a packet of a VL uses: one cache line. */
struct vl {
	/* transmit */
	uint64_t source_waiting; /* one bit per source, or per word of sources: see port.wide */
	uint32_t queued;
	uint32_t queued_bytes;
	sim_time paused_until; /* Ethernet */
	uint16_t credit_total; /* InfiniBand: FCTBS of this end */
	uint16_t credit_limit; /* InfiniBand: FCCL for this end */
	uint8_t last_source;
	/* receive */
	uint16_t received;   /* InfiniBand: ABR, blocks received */
	uint16_t advertised; /* InfiniBand: FCCL that was sent to the other end last */
	uint32_t depth;      /* packets that may wait */
	uint64_t used;       /* blocks or bytes */
	/* InfiniBand: blocks in the ring of releases. Ethernet leaves it 0, so that a release does
	 * not use this line. */
	uint64_t deferred_units;
	/* by source; NULL before the first packet that waits */
	struct packet_queue *queues;
};

/* hoq_timeout.c: by VL */
struct hoq_state {
	sim_time blocked_since[PORT_VLS];
	sim_time stalled_until[PORT_VLS];
	/* FCTBS at the last drop; unchanged if no packet has left since */
	uint16_t last_drop_at[PORT_VLS];
	uint8_t drops_in_a_row[PORT_VLS];
};

/* Ordered by cache lines. An arriving packet uses lines 0, 1, 3 and 5 and its VL. A departing
 * packet uses lines 3, 5 and 6 and its VL, and lines 1 and 2 of the port by which it came. */
struct port {
	/* line 0: the first packet in flight to this port */
	struct event arrive;
	struct packet_queue flying;

	/* line 1: the receive buffer */
	uint32_t capacity; /* per VL: blocks or bytes */
	uint32_t xoff;     /* Ethernet, bytes */
	/* a ring ordered by `at`, which doubles when it is full */
	struct deferred_release *deferred;
	uint32_t deferred_first, deferred_count, deferred_room;
	uint16_t gained; /* VLs with free space that the other end may not know of */
	uint8_t wanted;  /* Ethernet: priorities that this end's buffer wants to pause */
	uint8_t drains;  /* a fault limits the release of input space */
	struct fault *receive_fault;
	/* End and bytes of the data packet whose head arrived last. */
	sim_time arriving_until;
	uint32_t arriving_bytes;
	sim_time deferred_last; /* `at` of the last release of the ring */

	/* line 2 */
	struct deferred_release deferred_inline[DEFERRED_ROOM] __attribute__((aligned(64)));

	/* line 3: the kind of port, and the members of the block that each event uses */
	struct port_user *user __attribute__((aligned(64)));
	uint32_t latency;     /* ps; propagation and error correction */
	uint32_t ps_per_byte; /* 0 if it is not a whole number, see residue */
	uint16_t mtu;
	uint8_t vl_count;
	uint8_t ethernet;
	uint8_t preamble_bytes, gap_bytes;
	uint8_t keeps_leaving; /* the user has a function sent() */
	uint8_t down;          /* the link is down */
	uint8_t shared_input;  /* the user accounts for the input space */
	uint8_t reorders;      /* the transmit fault reorders packets */
	uint8_t faulty;        /* a transmit fault is set */
	uint8_t blocked;       /* state that the gauge `blocked` counts */
	uint8_t closed;        /* the last arbitration found a VL paused or without credits */
	uint8_t watched;       /* a tap is set */
	uint8_t between_lps;   /* an lp_link is set */
	uint8_t refuses; /* enum packet_damage: damage for which packets are dropped on arrival */
	struct block block;

	/* line 5: the departure of a packet, and the first four counters */
	sim_time busy_until __attribute__((aligned(64))); /* earliest start of the next packet */
	struct port *peer;
	sim_time last_arrival; /* arrival at the other end of the last packet sent */
	uint16_t waiting;      /* VLs with a queued packet */
	uint16_t credits_due;  /* VLs whose credits are to be sent */
	uint16_t given_up;     /* VLs, see hoq_timeout.c */
	uint8_t pause_due;     /* priorities whose pause state is to be sent */
	uint8_t wakes;         /* `transmit` is pending */
	struct port_counters count;

	/* line 6: waiting for departure */
	/* End of the departing packet, if a packet waits for it. */
	struct event transmit __attribute__((aligned(64)));
	uint64_t waiting_bytes; /* includes preamble and gap */
	uint16_t sources;
	uint16_t room_again;  /* VLs whose queue was full, for a call of room() */
	uint16_t hoq_blocked; /* VLs, see hoq_timeout.c */
	uint8_t scheduled;    /* a schedule is set */
	uint8_t last_vl;      /* VL served last */

	/* seldom used */
	/* NULL for round robin among VLs */
	struct schedule *schedule __attribute__((aligned(64)));
	struct port_set *wide; /* by VL, for more than 64 sources; otherwise NULL */
	uint64_t rate_bps;
	uint64_t residue; /* remainder of rounding since the link was idle, in ps * bit/s */
	struct packet_pool *pool;
	uint32_t batch_blocks, low_blocks; /* InfiniBand: thresholds for a flow-control packet */
	struct fault *transmit_fault;
	struct lp_link *lp_link; /* NULL if both ends are in one LP of the run */
	struct event release;    /* a deferred release that the other end waits for */
	uint32_t xon;
	struct event refresh; /* credits again after a loss, or the pause again before it ends */
	uint16_t refresh_vls;
	/* Ethernet: priorities that this end has paused: `wanted` ones with PFC ... */
	uint8_t pausing;
	uint8_t storming; /* ... and priorities of a fault */
	sim_time drain_ps_per_byte, drained_at;
	struct event react; /* a received PFC frame takes effect */
	struct packet_queue reacting;
	union {
		struct { /* Ethernet */
			sim_time paused_from[ETHERNET_VLS];
			/* total duration of ended pauses */
			sim_time paused_before[ETHERNET_VLS];
		};
		sim_time advertised_at[PORT_VLS]; /* InfiniBand */
	};
	uint8_t pausing_depth[ETHERNET_VLS]; /* depth of the requested pause */
	uint8_t paused_depth[ETHERNET_VLS];  /* depth of the pause received last */
	struct hoq_state *hoq;               /* NULL unless `patient` */
	struct event give_up;
	port_tap_function *tap;
	void *tap_context;
	uint8_t has_tables; /* the schedule has VL arbitration tables */
	uint8_t patient;
	struct port_params params;
	struct port_gauges gauge;
	sim_time blocked_since;
	struct packet *leaving; /* copy of the packet in departure, for sent(); otherwise NULL */

	/* bytes_out.c: data packets that left while the port was faulty or down. The second list
	 * has packets in flight to this port that were lost because the link went down. */
	struct departure_list departures, lost_arriving;

	struct vl vls[] __attribute__((aligned(64))); /* [port_vl_room()] */
};

_Static_assert(sizeof(struct vl) <= 64, "a VL is one cache line");
_Static_assert(offsetof(struct port, capacity) == 64, "line 0 is full");
_Static_assert(offsetof(struct port, deferred_inline) == 128, "line 1 is full");
_Static_assert(offsetof(struct port, user) == 192, "line 2 is full");
_Static_assert(offsetof(struct port, block) + offsetof(struct block, type) == 256,
	       "line 3 is full");
_Static_assert(offsetof(struct port, count) + 32 == offsetof(struct port, busy_until) + 64,
	       "four counters share the line of departures");
_Static_assert(offsetof(struct port, schedule) == offsetof(struct port, transmit) + 64,
	       "line 6 is full");

/* port.c */
void port_drop(struct port *port, struct packet *packet, enum drop_reason reason);
void port_drop_at(struct port *port, struct packet *packet, enum drop_reason reason, sim_time at);

/* bytes_out.c: keeps a departure for port_bytes_out() */
void bytes_out_keep(const struct port *port, struct departure_list *list, sim_time until,
		    uint32_t bytes);
void bytes_out_carry(struct port *port, struct carry *carry);
void bytes_out_fini(struct port *port);

/* port_fetch.c */
void port_fetch_init(struct port *port);

/* transmit.c */
void transmit_init(struct port *port);
void transmit_configure(struct port *port);
void transmit_wake(struct port *port, sim_time at); /* a packet may be able to leave then */
/* Sets whether a packet waits for credits or the end of a pause, for the gauge `blocked`. */
void transmit_blocked(struct port *port, bool blocked);
/* a packet may be able to leave now; called within another event */
void transmit_kick(struct port *port);
sim_time transmit_duration(const struct port *port, uint64_t bytes);
/* Delivers a packet to the other end, which belongs to `sim`, at its head_at. */
void transmit_arrives(struct sim *sim, struct port *port, struct packet *packet);

/* arbiter.c: removes the packet to send now from its queue. Returns NULL if there is none; *wake is
 * then the time at which a packet may be ready, or SIM_NEVER. */
struct packet *arbiter_next(struct port *port, sim_time now, sim_time *wake);
void arbiter_enqueue(struct port *port, struct packet *packet);

/* removes a packet of the VL from the next source; returns NULL if there is none */
struct packet *arbiter_remove(struct port *port, unsigned vl);

/* link_state.c */
/* the packet was in flight to that end */
void link_state_lose(struct port *port, struct packet *packet);

/* hoq_timeout.c */
void hoq_timeout_init(struct port *port);
void hoq_timeout_configure(struct port *port);
void hoq_timeout_note(struct port *port, unsigned vl); /* the VL's first packet cannot leave */
void hoq_timeout_progress(struct port *port, unsigned vl);
void hoq_timeout_flush(struct port *port, unsigned vl, enum drop_reason reason);
void hoq_timeout_discard(struct port *port, struct packet *packet, enum drop_reason reason);

/* credits.c */
void credits_restart(struct port *port); /* the link comes up again; packets in flight were lost */
static inline uint32_t credit_blocks(uint32_t wire_bytes)
{
	return (wire_bytes + CREDIT_BLOCK_BYTES - 1) / CREDIT_BLOCK_BYTES;
}
static inline bool credits_suffice(const struct port *port, unsigned vl, uint32_t wire_bytes)
{
	/* IBTA vol. 1, 7.9.4.4: (FCCL - total after sending) mod 4096 <= 2048 */
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
struct packet *credits_packet(struct port *port); /* for the first VL that is due */
void credits_receive(struct port *port, const struct packet *packet);
static inline void credits_arrive(struct port *port, unsigned vl, uint32_t blocks)
{
	port->vls[vl].received = (uint16_t)((port->vls[vl].received + blocks) & CREDIT_MASK);
	port->count.credits_received += blocks;
}
/* returns true if the sender needs credits, with more_blocks counted as free */
bool credits_wanted(const struct port *port, unsigned vl, uint64_t more_blocks);
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
void input_space_carry(struct port *port, struct carry *carry);
void input_space_fini(struct port *port);
/* returns false if the packet does not fit */
bool input_space_take(struct port *port, const struct packet *packet);

/* Returns the number of VLs that a port has memory for. */
static inline unsigned port_vl_room(const struct port *port)
{
	return port->ethernet ? ETHERNET_VLS : PORT_VLS;
}

/* Returns the queues of a VL, by source, or NULL if no packet has waited in the VL. */
static inline struct packet_queue *port_queues_of(const struct port *port, unsigned vl)
{
	return port->vls[vl].queues;
}

/* Creates the queues of a VL. */
static inline void port_add_queues(struct port *port, unsigned vl)
{
	port->vls[vl].queues =
		sim_arena(port->block.sim, port->sources * sizeof(struct packet_queue));
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
