/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packet: one packet as the models carry it: headers decoded, payload by reference. Bytes are built
 * only where someone looks (pcapng, corruption): see packet_build() and packet_parse() in codec.h.
 *
 * The first cache line is what queues, links and switches touch; the second is the transport's.
 */
#ifndef FABRIC_WIRE_PACKET_H
#define FABRIC_WIRE_PACKET_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "fabric/wire/path.h"
#include "sim/sim.h"

/* clang-format off */
/* What a packet is to the link: BTH packets are DATA; the rest are the link's own. */
enum packet_kind { PACKET_DATA, PACKET_FLOW_CONTROL /* IB credits */, PACKET_PFC, PACKET_RAW };

enum packet_damage { /* by a fault; found by whoever checks that CRC */
	DAMAGE_ICRC = 1, /* payload or invariant header hit: the HCA drops it */
	DAMAGE_VCRC = 2, /* found by the next port, IB VCRC or Ethernet FCS */
	WRONG_MAC = 4,      /* no damage: flooded with the MAC address of a host that its switch did not know */
};

enum ecn { ECN_NOT_ECT = 0, ECN_ECT1 = 1, ECN_ECT0 = 2, ECN_CE = 3 };

#define PAYLOAD_MAX 4096

/* Bytes of one packet's payload; from a pool, shared by retransmissions and taps through the count. */
struct payload {
	struct payload *next_free;
	uint32_t references;
	uint8_t bytes[PAYLOAD_MAX];
};

#define TELEMETRY_HOPS 8

/* What one switch adds to a packet that leaves it, as in-band telemetry does. */
struct telemetry_hop {
	sim_time at;          /* the packet's first bit leaves */
	uint64_t sent_bytes;  /* of data packets that this port has sent so far, this one included */
	uint64_t rate_bps;    /* of the link */
	uint32_t queue_bytes; /* that wait behind this packet, of its VL */
	uint32_t port;        /* number of the switch's port in the run, port_number(): counters of two ports do not compare */
};

/* Side record of a packet that asks for it; from a pool, one owner: goes with the packet, or on with the ACK. */
struct telemetry {
	struct telemetry *next_free;
	uint32_t count;   /* hops filled */
	uint16_t skipped; /* hops beyond them */
	bool complete;    /* the receiver has it: an ACK carries it back as it is */
	struct telemetry_hop hops[TELEMETRY_HOPS];
};

struct replica;

/* What leaf switches that balance load write on packets between them (switch/overlay.h); no host ever sees one. */
enum overlay_kind {
	OVERLAY_NONE,
	OVERLAY_CONGA,
	OVERLAY_WEAVE, /* ConWeave: data */
	OVERLAY_REPLY, /* ConWeave: the switches' own, back to the leaf of path->source; these and those below */
	OVERLAY_CLEAR,
	OVERLAY_NOTIFY,
};

struct overlay {
	union {
		struct {
			sim_time sent_at; /* by the source's leaf */
			sim_time tail_at; /* when that sent the last packet of the path before */
		} weave;
		struct {
			uint8_t metric;          /* of the most congested link so far */
			uint8_t feedback_next_hop;    /* of the other direction, at the destination's leaf, ... */
			uint8_t feedback_metric; /* ... and how congested that is */
			bool has_feedback;
		} conga;
	};
	uint32_t epoch; /* ConWeave */
	uint8_t kind;   /* enum overlay_kind */
	uint8_t next_hop;    /* the port by which it left the source's leaf */
	bool request, tail, rerouted; /* ConWeave: RTT_REQUEST, TAIL, REROUTED */
};

struct packet {
	/* line 0: queues, links, switches */
	struct packet *next;     /* link of whatever queue holds it */
	const struct path *path; /* NULL only for PACKET_FLOW_CONTROL and PACKET_PFC */
	sim_time head_at;        /* first bit at the receiver that has it now */
	sim_time tail_at;        /* last bit there; equals head_at plus serialization at the link's rate */
	uint32_t wire_bytes;     /* LRH..VCRC or Ethernet destination..FCS; no preamble, gap, symbols */
	uint16_t ingress;        /* the switch's: port it came in by; its VL there in the upper byte */
	uint8_t vl;              /* virtual lane, or priority in Ethernet */
	uint8_t kind;            /* enum packet_kind */
	uint8_t ecn;             /* enum ecn; InfiniBand FECN as ECN_CE */
	uint8_t hop_limit;       /* what is left of it */
	uint8_t damage;          /* enum packet_damage bits */
	uint8_t opcode;          /* BTH: see opcode.h */
	uint32_t payload_bytes;  /* without pad */
	sim_time sent_at;        /* when the HCA handed it to its port */
	uint64_t serial;         /* number in the run, in order of creation per HCA port: ties a pcapng line to a trace */

	/* line 1: transport */
	struct payload *payload; /* NULL: lengths only (YAML workloads), or no payload */
	uint32_t tag;            /* follows one WQE through traces; 0: none */
	uint32_t psn;            /* 24 bits */
	uint32_t dest_qp;        /* 24 bits */
	uint16_t pkey;
	bool solicited;
	bool ack_request;
	bool migration;
	bool becn;
	uint8_t syndrome;        /* AETH */
	uint32_t msn;            /* AETH, 24 bits */
	uint32_t immediate;      /* ImmDt as the number on the wire read big-endian, or IETH R_Key */
	union {
		uint64_t remote_address; /* RETH, AtomicETH */
		sim_time request_at;     /* responses; not on the wire: when the last bit of what they answer came */
	};
	uint32_t rkey;
	uint32_t dma_length;     /* RETH */
	struct telemetry *telemetry; /* NULL: not asked for */

	/* line 2: rarely used */
	uint32_t qkey;           /* DETH */
	uint32_t source_qp;      /* DETH, DCETH */
	union {
		uint64_t swap_or_add; /* AtomicETH */
		uint64_t dc_key;      /* DC connect */
	};
	uint64_t compare;        /* AtomicETH; AtomicAckETH: the original value */
	union {
		uint32_t xrc_srqn;   /* XRCETH */
		uint32_t dc_session; /* DC connect */
	};
	uint16_t ip_identification; /* RoCEv2 over IPv4 */
	union {
		struct { /* PACKET_PFC */
			uint16_t pause_quanta[8];
			uint8_t pause_enable;   /* one bit a priority */
			uint8_t pause_depth[8]; /* not on the wire: see port_set_pause_depth() */
		};
		struct overlay overlay; /* PACKET_DATA; wire_bytes counts it, codec.h does not build it */
	};
	uint16_t credit_total;    /* PACKET_FLOW_CONTROL: FCTBS */
	uint16_t credit_limit;    /* PACKET_FLOW_CONTROL: FCCL */
	sim_time asked_at;        /* not on the wire, with congestion control alone: when the request left that an ACK answers */
	struct replica *replica;  /* the switch's: the packet of multicast that this is a copy of */
};

/* clang-format on */
static_assert(offsetof(struct packet, payload) == 64, "line 0 is one cache line");
static_assert(offsetof(struct packet, qkey) == 128, "line 1 is one cache line");

/* Grows in slabs; freeing returns to the pool. */
struct packet_pool;

/* Aborts if memory is at an end, as all that makes packets does. */
struct packet_pool *packet_pool_create(void);
void packet_pool_destroy(struct packet_pool *pool); /* and those beside it */

/* Another, for another thread: what one has made any of them may free. Payloads stay with their pool. */
struct packet_pool *packet_pool_create_beside(struct packet_pool *pool);

/* Zeroed. */
struct packet *packet_new(struct packet_pool *pool);

/* With one reference; bytes not zeroed. */
struct payload *payload_new(struct packet_pool *pool);

/* Empty. packet_free() gives it back with the packet that holds it; who takes it off a packet must not forget it. */
struct telemetry *telemetry_new(struct packet_pool *pool);
void telemetry_free(struct packet_pool *pool, struct telemetry *telemetry);

/* Shares the payload, and has no telemetry. */
struct packet *packet_copy(struct packet_pool *pool, const struct packet *packet);

/* Drops its payload's reference, and its telemetry. */
void packet_free(struct packet_pool *pool, struct packet *packet);

/* Both are 0 at the end of a run, or it leaked. Packets: of all pools that are beside each other. */
uint64_t packet_pool_in_use(const struct packet_pool *pool);
uint64_t packet_pool_payloads_in_use(const struct packet_pool *pool);

/* One more, one fewer holder of the bytes. */
static inline void payload_hold(struct payload *payload)
{
	payload->references++;
}

/* The last holder gives them back to the pool, which is that of payload_new(). */
void payload_drop(struct packet_pool *pool, struct payload *payload);

/* Bytes behind the payload that bring it to a multiple of four. */
static inline uint32_t packet_pad_bytes(const struct packet *packet)
{
	return -packet->payload_bytes & 3;
}

/* wire_bytes from path, opcode and payload_bytes (pad included). IBTA vol. 1, 9.2 and annex A17. */
uint32_t packet_wire_bytes(const struct packet *packet);

#endif
