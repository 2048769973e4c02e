/* SPDX-License-Identifier: Apache-2.0 */
/*
 * congestion: the interface between a sender and its congestion control algorithm. An algorithm is
 * a table of functions over the state of one flow. It sets a rate, a window, or both, and has no
 * access to ports and packets.
 *
 *     endpoint --on_send, on_ack, on_cnp, on_loss--> algorithm
 *     algorithm --cc->rate_bps, cc->cwnd_bytes--> endpoint
 *
 * Timers need no events. An algorithm whose rate changes by itself writes the time of the change to
 * cc->next_step. step() then advances the state to any later time in one call. A caller that reads
 * the rate or the window calls congestion_settle() first.
 *
 * congestion_list() holds the built-in algorithms. Any other name with a slash is a shared object
 * that exports `const struct congestion_ops congestion_plugin` (example: tests/hca/plugin/halve.c).
 */
#ifndef HCA_CONGESTION_CONGESTION_H
#define HCA_CONGESTION_CONGESTION_H

#include "sim/block.h"

#define CONGESTION_VERSION 5
#define RATE_UNLIMITED     UINT64_MAX
#define CWND_UNLIMITED     UINT64_MAX

struct telemetry; /* fabric/wire/packet.h */

/* Round-trip time of a path without a known route, as in tests of a block. */
#define CONGESTION_RTT_UNKNOWN (8 * US)

/* Properties of the flow's path that the sender knows. */
struct congestion_path {
	uint64_t line_rate_bps; /* of its port */
	sim_time base_rtt;      /* round-trip time of a full packet on an empty path */
	uint32_t mtu_bytes;     /* payload of a full packet */
	uint32_t hops;          /* links, 0: unknown */
	uint8_t service_level;  /* or priority */
	uint32_t active_flows;  /* others of this sender: with something to send (endpoint), or
				 * that have sent under control (detailed adapter) */
	/* TCP: slow start begins with this window. 0: RDMA, the algorithm chooses. */
	uint32_t initial_window_bytes;
};

/* First member of the state of each algorithm. */
struct cc_state {
	uint64_t rate_bps;   /* bits on the wire per second; RATE_UNLIMITED: link rate */
	uint64_t cwnd_bytes; /* payload in flight; CWND_UNLIMITED: no limit */
	sim_time next_step;  /* time of the next change by a timer; SIM_NEVER: none */
	/* Payload that leaves at line rate and is paced together; 0: one packet. */
	uint32_t burst_bytes;
	/* Sent part of the current burst; written by the sender. */
	uint32_t burst_payload, burst_wire;
	/* The sender's: sent and not acknowledged, before what it tells; 0: not known. */
	uint64_t flight_bytes;
};

struct congestion_ack {
	sim_time rtt;         /* from the packet that asked for this ACK; 0: not known */
	uint64_t acked_bytes; /* of payload, newly acknowledged */
	uint64_t acked_total; /* since the flow began */
	uint64_t sent_total;  /* so far */
	uint32_t packets;     /* newly acknowledged */
	uint32_t marked;      /* data packets that came with ECN CE since the ACK before */
	const struct telemetry *telemetry; /* of the packet that asked for this ACK; NULL: none */
	bool recovering;  /* TCP: a fast recovery is under way, a window does not grow */
	bool cwnd_unused; /* TCP: the window did not limit what is acknowledged */
};

/* Signals that tell an algorithm of congestion. */
enum congestion_signal {
	CONGESTION_ACKS = 1,      /* on_ack(), with their times */
	CONGESTION_MARKS = 2,     /* ECN or FECN: on_cnp(), or `marked` of ACKs */
	CONGESTION_TELEMETRY = 4, /* of ACKs */
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
	const struct param *params; /* ends with a NULL name */
	size_t params_bytes;
	size_t state_bytes; /* of the state of one flow, which begins with struct cc_state */
	/*
	 * Signals that the algorithm needs (CONGESTION_MARKS and so on). A scenario without one of
	 * these signals is refused. With CONGESTION_TELEMETRY, packets gather telemetry. 0: none.
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
	/* TCP: sends again after more than an RTO without a segment. */
	void (*on_idle)(struct cc_state *cc, const void *params, sim_time now);
};

/* An algorithm with its parameters, shared by all flows that run it. */
struct congestion {
	const struct congestion_ops *ops;
	void *params;  /* owned */
	void *library; /* owned; NULL: built-in algorithm */
};

/*
 * Initialises an algorithm with default parameters. `name` is a name of congestion_list() or the
 * path of a shared object. Returns false on failure and writes the reason to `error`.
 */
bool congestion_init(struct congestion *congestion, const char *name, char *error,
		     size_t error_bytes);
void congestion_fini(struct congestion *congestion);

/* Sets one parameter from its text. Returns false on failure and writes the reason to `error`. */
bool congestion_set(struct congestion *congestion, const char *name, const char *value, char *error,
		    size_t error_bytes);

#define CONGESTION_NAME_BYTES 256

/* The user's choice. Zeroed: no choice. Copies share the algorithm's parameters. */
struct congestion_choice {
	char name[CONGESTION_NAME_BYTES]; /* a preset, an algorithm, a file */
	struct congestion congestion;     /* ops NULL: nothing */
};

/*
 * Replaces the choice. Returns false on failure, writes the reason to `error` and keeps the
 * previous choice.
 */
bool congestion_choose(struct congestion_choice *choice, const char *name, char *error,
		       size_t error_bytes);
void congestion_choice_fini(struct congestion_choice *choice);

/*
 * Returns the packets of a message between two ACK requests. The result is `wanted` unless `wanted`
 * is 0. Otherwise it follows from the algorithm's ack_bytes(). It is ACK_INTERVAL for an algorithm
 * that does not depend on ACKs, and without an algorithm (ops NULL).
 */
#define ACK_INTERVAL 64
uint32_t congestion_ack_interval(const struct congestion *congestion, uint64_t wanted,
				 uint64_t mtu_bytes);

/* A published set of values, by name ("dcqcn-paper"): the algorithm and its parameters. */
struct congestion_preset {
	const char *name;
	const char *algorithm;
	const char *source;
	const struct congestion_value {
		const char *name, *value;
	} * values; /* ends with a NULL name */
};

const struct congestion_ops *const *congestion_list(void);           /* ends with NULL */
const struct congestion_preset *congestion_presets(void);            /* ends with a NULL name */
const struct congestion_preset *congestion_preset(const char *name); /* NULL: unknown name */

/* Advances rate and window to `now`. */
static inline void congestion_settle(const struct congestion *congestion, struct cc_state *cc,
				     sim_time now)
{
	if (cc->next_step <= now)
		congestion->ops->step(cc, congestion->params, now);
}

/*
 * Report an event to the algorithm, after the flow is advanced to `now`. Each returns the rate
 * before the event.
 */
uint64_t congestion_on_ack(const struct congestion *congestion, struct cc_state *cc, sim_time now,
			   const struct congestion_ack *ack);
uint64_t congestion_on_cnp(const struct congestion *congestion, struct cc_state *cc, sim_time now);
uint64_t congestion_on_loss(const struct congestion *congestion, struct cc_state *cc, sim_time now,
			    enum congestion_loss loss);

#define CC_STATE_BYTES_MAX 1024

/*
 * Returns the time at which `bytes` are transmitted at the flow's rate, starting at `since`, if
 * only the algorithm's own timers change the rate. Does not modify the flow.
 */
sim_time congestion_paid_at(const struct congestion *congestion, const struct cc_state *cc,
			    sim_time since, uint64_t bytes);

#endif
