/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packet: one packet of the models: decoded headers, and payload by reference. Bytes are only built
 * when they are needed (pcapng, corruption): see codec_build() and codec_parse() in codec.h.
 *
 * Queues, links and switches use the first cache line. The transport uses the second line.
 */
#ifndef FABRIC_WIRE_PACKET_H
#define FABRIC_WIRE_PACKET_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "fabric/wire/path.h"
#include "fabric/wire/tcp.h"
#include "hcasim/congestion.h"
#include "hcasim/telemetry.h"
#include "sim/carry.h"
#include "sim/sim.h"

/* clang-format off */
/* Kind of a packet for the link. Hosts send DATA (with a BTH), TCP segments, and RAW frames, whose
 * payload is the whole frame but the FCS (UDP of programs). Ports themselves send FLOW_CONTROL and
 * PFC. */
enum packet_kind { PACKET_DATA, PACKET_FLOW_CONTROL /* IB credits */, PACKET_PFC, PACKET_RAW,
                  PACKET_TCP };

enum packet_damage { /* by a fault; the receiver that checks the CRC finds it */
	/* wrong payload or invariant header, so that the HCA drops the packet; TCP: a wrong
	 * checksum */
	DAMAGE_ICRC = 1,
	DAMAGE_VCRC = 2, /* found by the next port, IB VCRC or Ethernet FCS */
	/* no damage: for another receiver. A switch flooded it because the destination MAC address
	 * was unknown, or mirrored it */
	WRONG_MAC = 4,
	MIRRORED = 8, /* with WRONG_MAC: the copy of a mirror (switch/mirror.h) */
};

enum ecn { ECN_NOT_ECT = 0, ECN_ECT1 = 1, ECN_ECT0 = 2, ECN_CE = 3 };

#define PAYLOAD_MAX 4096

/* Payload bytes of one packet, from a pool. Retransmissions and taps share it and count
 * references. */
struct payload {
	struct payload *next_free;
	/* TCP and RAW: the bytes after the first PAYLOAD_MAX; NULL for none */
	struct payload *more;
	uint32_t references;
	uint8_t bytes[PAYLOAD_MAX];
};


struct replica;
struct mirror;

/* Header of leaf switches that balance load, between them only (switch/overlay.h). */
enum overlay_kind {
	OVERLAY_NONE,
	OVERLAY_CONGA,
	OVERLAY_WEAVE, /* ConWeave: data */
	/* ConWeave: control packets to the leaf of path->source, from here on */
	OVERLAY_REPLY,
	OVERLAY_CLEAR,
	OVERLAY_NOTIFY,
};

struct overlay {
	union {
		struct {
			sim_time sent_at; /* by the source's leaf */
			sim_time tail_at; /* departure of the last packet on the former path */
		} weave;
		struct {
			uint8_t metric; /* congestion metric of the most congested link so far */
			/* a next hop of the opposite direction, at the destination's leaf */
			uint8_t feedback_next_hop;
			uint8_t feedback_metric; /* of that next hop */
			bool has_feedback;
		} conga;
	};
	uint32_t epoch; /* ConWeave */
	uint8_t kind;   /* enum overlay_kind */
	uint8_t next_hop;    /* port by which the packet left the source's leaf */
	bool request, tail, rerouted; /* ConWeave: RTT_REQUEST, TAIL, REROUTED */
};

/* TCP header and SACK blocks. The path has the ports. Members as in struct tcp_header. */
struct packet_tcp {
	uint32_t sequence, acknowledgment;
	uint32_t timestamp, timestamp_echo;
	uint16_t window, urgent;
	uint16_t mss;
	uint8_t flags, options;
	uint8_t sack_count, window_scale;
	bool ends_message; /* not on the wire: the payload ends a message of the sender */
	/* not on the wire: the payload of iWARP, see iwarp_packet.h */
	uint8_t iwarp;            /* enum iwarp_content */
	uint8_t rdmap_opcode;     /* enum rdmap_opcode */
	uint8_t reserved;         /* 0, in place of padding: tests compare packets as bytes */
	uint16_t ddp_bytes;       /* DDP payload in the segment */
	uint32_t ddp_key;         /* STag, MSN, or IRD and ORD */
	uint32_t ddp_offset;      /* TO or MO */
};

struct packet {
	/* line 0: queues, links, switches */
	struct packet *next;     /* next packet of the queue */
	const struct path *path; /* NULL only for PACKET_FLOW_CONTROL and PACKET_PFC */
	sim_time head_at;        /* arrival of the first bit at the present receiver */
	/* arrival of the last bit: head_at plus the serialization at the link's rate */
	sim_time tail_at;
	/* LRH..VCRC or Ethernet destination..FCS; no preamble, gap, symbols */
	uint32_t wire_bytes;
	/* in a switch: the input port; the upper byte is the VL on input */
	uint16_t ingress;
	uint8_t vl;              /* virtual lane, or priority in Ethernet */
	uint8_t kind;            /* enum packet_kind */
	uint8_t ecn;             /* enum ecn; InfiniBand FECN as ECN_CE */
	uint8_t hop_limit;       /* remaining hops */
	uint8_t damage;          /* enum packet_damage bits */
	uint8_t opcode;          /* BTH: see opcode.h */
	uint32_t payload_bytes;  /* without pad */
	uint32_t tag;            /* follows one WQE through traces; 0 for none */
	uint32_t dest_qp;        /* 24 bits; TCP: not on the wire, the connection */
	struct telemetry *telemetry; /* NULL if it was not requested */

	/* line 1: transport */
	/* NULL if only lengths are simulated (YAML workloads), or without payload */
	struct payload *payload;
	/* number of the packet at its HCA port; the same in pcapng and traces */
	uint64_t serial;
	union {
		struct {
			uint32_t psn;            /* 24 bits */
			uint16_t pkey;
			bool solicited;
			bool ack_request;
			bool migration;
			bool becn;
			uint8_t syndrome;        /* AETH */
			bool has_fields;         /* not on the wire: `congestion` is set */
			uint32_t msn;            /* AETH, 24 bits */
			/* ImmDt as the number on the wire read big-endian, or IETH R_Key */
			uint32_t immediate;
			union {
				uint64_t remote_address; /* RETH, AtomicETH */
				/* responses, not on the wire: arrival of the last bit of the
				 * request */
				sim_time request_at;
			};
			uint32_t rkey;
			uint32_t dma_length;     /* RETH */
		};
		struct packet_tcp tcp; /* PACKET_TCP; see tcp_packet.h */
	};
	sim_time sent_at;        /* when the HCA handed it to its port */

	/* line 2: rarely used */
	union {
		struct {
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
		};
		struct tcp_sack sack[TCP_SACK_MAX]; /* PACKET_TCP */
		/* WRITEs, SENDs, ACKs and CNPs of endpoint adapters. codec.h builds only the fields
		 * of CNPs, in their reserved bytes */
		struct congestion_fields congestion;
		struct { uint32_t word0, word1, word2, word3; };
	};
	union {
		struct { /* PACKET_PFC */
			uint16_t pause_quanta[8];
			uint8_t pause_enable;   /* one bit per priority */
			uint8_t pause_depth[8]; /* not on the wire: see port_set_pause_depth() */
		};
		/* PACKET_DATA and PACKET_TCP; wire_bytes counts it, codec.h does not build it */
		struct overlay overlay;
	};
	uint16_t ip_identification; /* RoCEv2 and TCP over IPv4 */
	uint16_t credit_total;    /* PACKET_FLOW_CONTROL: FCTBS */
	uint16_t credit_limit;    /* PACKET_FLOW_CONTROL: FCCL */
	/* not on the wire, only with congestion control: departure of the request that this ACK
	 * acknowledges */
	sim_time asked_at;
	union {
		/* in a switch: the multicast packet that this packet is a copy of */
		struct replica *replica;
		struct mirror *mirror; /* MIRRORED */
	};
	/* in an adapter: time of the grant of a packet to send, or of the arrival of a received
	 * packet */
	sim_time since;
	sim_time waits_since; /* in an adapter: start of the wait for a queue pair context */
};

/* clang-format on */
static_assert(offsetof(struct packet, payload) == 64, "line 0 is one cache line");
static_assert(offsetof(struct packet, qkey) == 128, "line 1 is one cache line");

/* A pool of packets. It grows in slabs, and freed packets return to it. */
struct packet_pool;

/* Creates a pool. All functions that create packets abort if memory is exhausted. */
struct packet_pool *packet_pool_create(void);
/* also destroys the pools of other threads beside it */
void packet_pool_destroy(struct packet_pool *pool);

/* Creates a pool beside another, for another thread. Any of these pools may free the packets of
 * each. Payloads return to their own pool. */
struct packet_pool *packet_pool_create_beside(struct packet_pool *pool);

/* Returns a zeroed packet. */
struct packet *packet_new(struct packet_pool *pool);

/* Returns a payload with one reference. Its bytes are not zeroed. */
struct payload *packet_payload_new(struct packet_pool *pool);

/* Returns empty telemetry. packet_free() frees it with its packet. Code that takes it off a packet
 * must free it. */
struct telemetry *packet_telemetry_new(struct packet_pool *pool);
void packet_telemetry_free(struct packet_pool *pool, struct telemetry *telemetry);

/* Returns a copy that shares the payload and has no telemetry. */
struct packet *packet_copy(struct packet_pool *pool, const struct packet *packet);

/* Frees the packet, its reference to the payload, and its telemetry. */
void packet_free(struct packet_pool *pool, struct packet *packet);

/* Return the numbers of packets and payloads in use. Both are 0 at the end of a run without leaks.
 * The number of packets includes all pools beside this one. */
uint64_t packet_pool_in_use(const struct packet_pool *pool);
uint64_t packet_pool_payloads_in_use(const struct packet_pool *pool);

/* Returns the packets of this pool alone. It is exact if no other pool frees them. */
uint64_t packet_pool_in_use_alone(const struct packet_pool *pool);

/* Sets the paths of the packets, of this pool and those beside it, for packet_carry(). */
void packet_pool_set_paths(struct packet_pool *pool, struct paths *paths);

/* Carries a packet without payload to another process, or reads it into a new packet of the pool.
 * Its path must have been interned before the run. */
void packet_carry(struct packet_pool *pool, struct packet *packet, struct carry *carry);

/* Returns payload for any number of bytes, as a chain of payloads, and copies the bytes to it.
 * packet_payload_copy() copies the bytes of a chain. */
struct payload *packet_payload_of(struct packet_pool *pool, const uint8_t *bytes, uint32_t length);
void packet_payload_copy(const struct payload *payload, uint8_t *bytes, uint32_t length);

/* Adds a reference to the payload. */
static inline void payload_hold(struct payload *payload)
{
	payload->references++;
}

/* Drops one reference. The last one returns the payload, with its chain, to the pool of
 * packet_payload_new(). */
void packet_payload_drop(struct packet_pool *pool, struct payload *payload);

/* Returns the pad bytes that extend the payload of a packet with a BTH to a multiple of four. */
static inline uint32_t packet_pad_bytes(const struct packet *packet)
{
	return -packet->payload_bytes & 3;
}

/* Returns wire_bytes by the path, the opcode or TCP header, and payload_bytes with pad. IBTA vol.
 * 1, 9.2 and annex A17. */
uint32_t packet_wire_bytes(const struct packet *packet);

#endif
