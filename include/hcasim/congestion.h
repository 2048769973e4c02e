/* SPDX-License-Identifier: Apache-2.0 */
/*
 * congestion: the interface between a sender and its congestion control algorithm. An algorithm is
 * a table of functions over the state of one flow. It sets a rate, a window, or both, and has no
 * access to ports and packets.
 *
 *     sender --on_send, on_ack, on_cnp, on_loss--> algorithm
 *     algorithm --cc->rate_bps, cc->cwnd_bytes--> sender
 *
 * An algorithm may also act at the receiver, for example to grant credits or to pull packets. Both
 * ends then exchange fields of the algorithm, in data packets, ACKs and control packets:
 *
 *     sender   --on_packet()--> fields of a data packet --on_data()--> receiver
 *     on_ack() <--fields of an ACK-- receiver
 *     on_control() <--fields of a control packet-- receiver, at any time
 *
 * A control packet has the format of a CNP without BECN. Its 16 reserved bytes carry the fields.
 *
 * Timers need no events. An algorithm whose rate changes by itself writes the time of the change to
 * cc->next_step. step() then advances the state to any later time in one call. The sender calls
 * step() before it reads the rate or the window.
 *
 * A shared object exports `const struct congestion_ops congestion_plugin`. A scenario names it by
 * its path (example: halve.c). A program that links libhcasim may attach a table instead
 * (hcasim_attach() of hcasim.h).
 */
#ifndef INCLUDE_HCASIM_CONGESTION_H
#define INCLUDE_HCASIM_CONGESTION_H

#include "hcasim/params.h"
#include "hcasim/plugin.h"
#include "hcasim/telemetry.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CONGESTION_VERSION 6
#define RATE_UNLIMITED     UINT64_MAX
#define CWND_UNLIMITED     UINT64_MAX

/* Round-trip time of a path without a known route, as in tests of a block. */
#define CONGESTION_RTT_UNKNOWN (8 * US)

/* Properties of the flow's path that the sender knows. */
struct congestion_path {
	uint64_t line_rate_bps; /* rate of the sender's port */
	sim_time base_rtt;      /* round-trip time of a full packet on an empty path */
	uint32_t mtu_bytes;     /* payload of a full packet */
	uint32_t hops;          /* number of links, 0 if unknown */
	uint8_t service_level;  /* or priority on Ethernet */
	/* other flows of this sender: flows with data to send (endpoint), or flows that have sent
	 * under control (detailed adapter) */
	uint32_t active_flows;
	/* TCP: window at the start of slow start. 0: RDMA, the algorithm chooses. */
	uint32_t initial_window_bytes;
	uint32_t source, destination; /* end points of the fabric */
	uint32_t flow;                /* number of the sender's queue pair */
	/* Services for a plug-in (plugin.h). A call of a service on a TCP connection ends the
	 * run. */
	const struct plugin_host *host;
};

#define CONGESTION_FIELDS    4
#define CONGESTION_PATHS_MAX 64

/* Fields of the algorithm in a packet. Zeroed before the algorithm writes them. */
struct congestion_fields {
	uint32_t words[CONGESTION_FIELDS];
};

/* Member of the state of an algorithm that needs it, at ops->sending_offset. */
struct congestion_sending {
	/* Written by the algorithm: service level of the next packets, plus 1. 0: the service level
	 * of the flow. */
	uint32_t priority;
	/* Written by the sender before it calls a function: posted payload that was never sent. */
	uint64_t unsent_bytes;
};

/* A data packet before it leaves. */
struct congestion_packet {
	uint64_t message_bytes; /* payload of its message */
	uint64_t sent_total;    /* payload of the flow up to the end of this packet */
	uint32_t payload_bytes;
	bool retransmitted;
	/* Written by the algorithm. */
	uint32_t path; /* below ops->paths; 0: the path of the flow */
	struct congestion_fields fields;
};

/* A data packet that has arrived at the receiver. */
struct congestion_data {
	uint32_t payload_bytes;
	uint32_t wire_bytes;
	bool duplicate; /* the payload has arrived before */
	bool marked;    /* ECN CE or FECN */
	const struct congestion_fields *fields;
};

/* First member of the receiver's state of a flow. */
struct cc_receiver {
	void *host;         /* state that all receivers of the adapter share; set by the adapter */
	sim_time next_step; /* time of the next receiver_step(), or SIM_NEVER */
	/* Written by the algorithm: sends `control` to the sender after the call. */
	bool send_control;
	struct congestion_fields control;
	struct congestion_fields ack; /* fields that the next ACKs carry */
};

/* A value of the flow's state that flow_series.csv shows (record.series_flows). */
struct congestion_gauge {
	const char *name;
	const char *meaning;
	size_t offset; /* offset of a uint64_t in the state */
};

/* First member of the state of each algorithm. */
struct cc_state {
	uint64_t rate_bps; /* bits on the wire per second; RATE_UNLIMITED is the link rate */
	/* Limit of the payload in flight. CWND_UNLIMITED: no limit. 0: sends nothing. Only an
	 * algorithm with on_control() may set 0. */
	uint64_t cwnd_bytes;
	sim_time next_step; /* time of the next change by a timer, or SIM_NEVER */
	/* Payload that leaves at line rate and is paced as a whole. 0: each packet is paced. */
	uint32_t burst_bytes;
	/* Sent part of the current burst; written by the sender. */
	uint32_t burst_payload, burst_wire;
	/* Written by the sender before it reports an event: bytes sent and not acknowledged. 0: not
	 * known. */
	uint64_t flight_bytes;
};

struct congestion_ack {
	sim_time rtt; /* from the departure of the packet that requested this ACK; 0 if unknown */
	uint64_t acked_bytes; /* payload newly acknowledged */
	uint64_t acked_total; /* total since the start of the flow */
	uint64_t sent_total;  /* total so far */
	uint32_t packets;     /* packets newly acknowledged */
	uint32_t marked;      /* data packets that arrived with ECN CE since the previous ACK */
	/* telemetry of the packet that requested this ACK, or NULL */
	const struct telemetry *telemetry;
	/* fields of the receiver's algorithm, or NULL */
	const struct congestion_fields *fields;
	bool recovering;  /* TCP: in fast recovery, in which the window does not grow */
	bool cwnd_unused; /* TCP: the window did not limit the acknowledged data */
};

/* Signals that report congestion to an algorithm. */
enum congestion_signal {
	CONGESTION_ACKS = 1,      /* on_ack(), with the round-trip times */
	CONGESTION_MARKS = 2,     /* ECN or FECN marks: on_cnp(), or `marked` of ACKs */
	CONGESTION_TELEMETRY = 4, /* telemetry of ACKs */
};

enum congestion_loss { LOSS_NAK, LOSS_TIMEOUT };

/*
 * The functions of an algorithm. NULL functions are not called. `params` is the struct that the
 * parameter list describes. The state of a flow is zeroed before state_init().
 */
struct congestion_ops {
	uint32_t version; /* CONGESTION_VERSION */
	const char *name;
	const char *meaning;
	const struct param *params; /* list that ends with a NULL name */
	size_t params_bytes;
	size_t state_bytes; /* size of the state of a flow, which begins with struct cc_state */
	/*
	 * Signals that the algorithm needs (CONGESTION_MARKS and so on), or 0. A scenario without
	 * one of these signals is refused. With CONGESTION_TELEMETRY, packets gather telemetry.
	 */
	uint32_t lives_by;
	/*
	 * Returns the largest number of payload bytes allowed between two ACKs. NULL, or a result
	 * of 0: the algorithm does not depend on ACKs.
	 */
	uint64_t (*ack_bytes)(const void *params);
	/*
	 * Checks the values of the parameters beyond their ranges. Returns false and writes the
	 * reason to `error` if the values are invalid.
	 */
	bool (*check)(const void *params, char *error, size_t error_bytes);
	void (*state_init)(struct cc_state *cc, const void *params,
			   const struct congestion_path *path, sim_time now);
	void (*step)(struct cc_state *cc, const void *params, sim_time now);
	void (*on_send)(struct cc_state *cc, const void *params, sim_time now, uint32_t wire_bytes);
	void (*on_ack)(struct cc_state *cc, const void *params, sim_time now,
		       const struct congestion_ack *ack);
	void (*on_cnp)(struct cc_state *cc, const void *params, sim_time now);
	void (*on_loss)(struct cc_state *cc, const void *params, sim_time now,
			enum congestion_loss loss);
	/* TCP: reports that the sender sends again after more than an RTO without a segment. */
	void (*on_idle)(struct cc_state *cc, const void *params, sim_time now);

	/* ---- the rest needs fidelity: endpoint ---- */

	size_t sending_offset; /* offset of struct congestion_sending in the state; 0: none */
	/* Paths of a flow, by their UDP source ports (RoCEv2) or flow labels. 0 means 1. */
	uint32_t paths;
	uint32_t priorities; /* service levels that sending.priority may name, one bit each */
	/* Bytes of the fields on the wire, at most 16, in a data packet and in an ACK. */
	uint32_t data_field_bytes, ack_field_bytes;
	/* Lists that end with a NULL name; NULL: none. The adapter's block `plugin` has these
	 * counters and trace points. */
	const struct counter *counters;
	const struct trace_point *trace_points;
	const struct congestion_gauge *gauges;
	/* Reports a message of that many bytes that was posted. */
	void (*on_post)(struct cc_state *cc, const void *params, sim_time now, uint64_t bytes);
	/* The sender calls this function for each new data packet, before on_send(). */
	void (*on_packet)(struct cc_state *cc, const void *params, sim_time now,
			  struct congestion_packet *packet);
	/* Reports a control packet of the receiver. */
	void (*on_control)(struct cc_state *cc, const void *params, sim_time now,
			   const struct congestion_fields *fields);
	/* The receiver. Both ends have the same algorithm. The sizes are for the state of a flow,
	 * and for the state of the adapter. Both states are zeroed at first. `path` is the path of
	 * the sender. */
	size_t receiver_bytes, receiver_host_bytes;
	void (*receiver_init)(struct cc_receiver *receiver, const void *params,
			      const struct congestion_path *path, sim_time now);
	void (*on_data)(struct cc_receiver *receiver, const void *params, sim_time now,
			const struct congestion_data *data);
	void (*receiver_step)(struct cc_receiver *receiver, const void *params, sim_time now);
};

static inline bool congestion_has_receiver(const struct congestion_ops *ops)
{
	return ops->receiver_bytes != 0;
}

/* Returns true if the algorithm uses more than rate, window and feedback. */
static inline bool congestion_is_extended(const struct congestion_ops *ops)
{
	return ops->receiver_bytes || ops->sending_offset || ops->on_packet || ops->on_post;
}

/* A shared object exports this table. */
extern const struct congestion_ops congestion_plugin;

#ifdef __cplusplus
}
#endif

#endif
