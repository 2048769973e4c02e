/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch_plugins: decisions of a switch that a shared object may make. balance: next hop of a
 * packet. schedule: next VL of an output. marking: congestion marks. buffer: limits of queues in
 * the shared buffer.
 *
 *     packet --balance--> output --buffer--> admitted --marking--> queue --schedule--> link
 *
 * A scenario names the object: switch: {plugins: {balance: ./mine.so, balance_values: "gap=50us"}}.
 * Each switch has one state of the plug-in. A schedule has one state for each port.
 */
#ifndef INCLUDE_HCASIM_SWITCH_PLUGINS_H
#define INCLUDE_HCASIM_SWITCH_PLUGINS_H

#include "hcasim/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SWITCH_PLUGIN_VERSION 1

/* The switch, or the port of a schedule, to which a state belongs. It outlives the state. */
struct switch_identity {
	struct plugin_host host;
	const char *name; /* of the switch */
	uint32_t ports;   /* of the switch */
	uint32_t port;    /* schedule: number of the port; others: 0 */
};

/* First member of each table. NULL functions are not called. */
struct switch_plugin {
	uint32_t version; /* SWITCH_PLUGIN_VERSION */
	const char *name;
	const char *meaning;
	const struct param *params; /* list that ends with a NULL name; NULL: no parameters */
	size_t params_bytes;
	size_t state_bytes; /* zeroed before state_init() */
	/* Lists that end with a NULL name; NULL: none. */
	const struct counter *counters;
	const struct trace_point *trace_points;
	/* Checks the parameters beyond their ranges. Returns false and writes the reason to
	 * `error` if they are invalid. */
	bool (*check)(const void *params, char *error, size_t error_bytes);
	void (*state_init)(void *state, const void *params, const struct switch_identity *identity);
};

/* ---- load balancing ---- */

struct balance_packet {
	uint64_t flow_hash; /* of the addresses and UDP or TCP ports, with the switch's seed */
	uint32_t source, destination; /* end points of the fabric */
	uint32_t wire_bytes;
	uint8_t vl; /* or priority */
	bool data;  /* a data packet, no ACK or CNP */
};

/* An output that leads closest to the destination. */
struct balance_port {
	uint32_t port;
	uint64_t rate_bps;
	uint64_t queued_bytes;  /* of the packet's VL */
	uint64_t leaving_bytes; /* rest of the packet that leaves now */
	bool up;
};

struct balance_ops {
	struct switch_plugin plugin;
	/* Returns the index of the output in `ports`. The switch calls this function if there are
	 * at least two. If the link of the output is down, it is called again without the outputs
	 * that are down. */
	uint32_t (*choose)(void *state, const void *params, sim_time now,
			   const struct balance_packet *packet, const struct balance_port *ports,
			   uint32_t count);
};

/* ---- scheduling ---- */

/* A VL, or priority, with a packet that may leave now. */
struct schedule_queue {
	uint32_t vl;
	uint64_t queued_bytes;
	uint32_t queued_packets;
};

struct schedule_ops {
	struct switch_plugin plugin;
	/* Returns the index of the queue that sends next. VL15 needs no schedule. */
	uint32_t (*choose)(void *state, const void *params, sim_time now,
			   const struct schedule_queue *queues, uint32_t count);
	/* Reports the packet that leaves. `empty`: the queue has no other packet. */
	void (*on_departure)(void *state, const void *params, sim_time now, uint32_t vl,
			     uint32_t wire_bytes, bool empty);
};

/* ---- marking ---- */

struct marking_packet {
	uint32_t port; /* output */
	uint32_t vl;   /* or priority */
	uint32_t wire_bytes;
	uint64_t rate_bps; /* of the link */
	/* On arrival, the bytes before the packet. On departure, the bytes behind it. */
	uint64_t queued_bytes;
	sim_time waited; /* on departure: since the packet could have left an empty switch */
};

/* Both functions return true to mark the packet: ECN CE, or FECN on InfiniBand. On Ethernet, a
 * packet without ECT stays as it is, and `ecn_incapable` counts it. */
struct marking_ops {
	struct switch_plugin plugin;
	bool (*on_arrival)(void *state, const void *params, sim_time now,
			   const struct marking_packet *packet);
	bool (*on_departure)(void *state, const void *params, sim_time now,
			     const struct marking_packet *packet);
};

/* ---- buffer management (Ethernet) ---- */

struct buffer_queue {
	uint32_t port, priority;
	/* true: packets that arrived at the port; the limit pauses lossless senders. false: packets
	 * that leave through the port; the limit drops lossy packets. */
	bool ingress;
	uint64_t used_bytes;  /* ingress: in the shared part; egress: in the queue */
	uint64_t shared_size; /* bytes that all queues share */
	uint64_t shared_used;
};

struct buffer_ops {
	struct switch_plugin plugin;
	/* Returns the largest number of bytes that the queue may use. */
	uint64_t (*limit)(void *state, const void *params, sim_time now,
			  const struct buffer_queue *queue);
	/* Report a packet that the buffer admits, or whose memory is free. */
	void (*on_admit)(void *state, const void *params, sim_time now, uint32_t output,
			 uint32_t priority, uint32_t bytes);
	void (*on_release)(void *state, const void *params, sim_time now, uint32_t output,
			   uint32_t priority, uint32_t bytes);
};

/* A shared object exports one of these tables. */
extern const struct balance_ops balance_plugin;
extern const struct schedule_ops schedule_plugin;
extern const struct marking_ops marking_plugin;
extern const struct buffer_ops buffer_plugin;

#ifdef __cplusplus
}
#endif

#endif
