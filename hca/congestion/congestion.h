/* SPDX-License-Identifier: Apache-2.0 */
/*
 * congestion: the one interface between a sender and the algorithm that controls it. An algorithm is a table of
 * functions over the state of one flow; it says a rate, a window, or both, and knows nothing of ports and packets.
 *
 *     endpoint --on_send, on_ack, on_cnp, on_loss--> algorithm --cc->rate_bps, cc->cwnd_bytes--> endpoint
 *
 * Timers are lazy: an algorithm whose rate changes by itself says when in cc->next_step, and step() brings it to
 * any later time in one call. Nobody schedules an event for that; whoever reads rate or window calls
 * congestion_settle() first.
 *
 * Built in are the names of congestion_list(). Any other name with a slash is a shared object that exports
 * `const struct congestion_ops congestion_plugin` (tests/hca/plugin/halve.c is an example).
 */
#ifndef HCA_CONGESTION_CONGESTION_H
#define HCA_CONGESTION_CONGESTION_H

#include "sim/block.h"

#define CONGESTION_VERSION 5
#define RATE_UNLIMITED     UINT64_MAX
#define CWND_UNLIMITED     UINT64_MAX

struct telemetry; /* fabric/wire/packet.h */

/* Of a path of which nobody says how it goes, as in tests of a block. */
#define CONGESTION_RTT_UNKNOWN (8 * US)

/* What the sender knows of the flow's path. */
struct congestion_path {
	uint64_t line_rate_bps; /* of its port */
	sim_time base_rtt;      /* of a full packet, nothing in the way */
	uint32_t mtu_bytes;     /* payload of a full packet */
	uint32_t hops;          /* links, 0: unknown */
	uint8_t service_level;  /* or priority */
	uint32_t active_flows;  /* others of this sender: with something to send (endpoint), or
				 * that have sent under control (detailed adapter) */
	/* TCP: slow start begins with this window. 0: RDMA, the algorithm chooses. */
	uint32_t initial_window_bytes;
};

/* The head of each algorithm's own state. */
struct cc_state {
	uint64_t rate_bps;   /* bits on the wire a second, RATE_UNLIMITED: as the link goes */
	uint64_t cwnd_bytes; /* of payload in flight, CWND_UNLIMITED: none */
	sim_time next_step;  /* rate or state changes by itself then; SIM_NEVER */
	/* Of payload, leave at line rate and are paid for together; 0: each packet. */
	uint32_t burst_bytes;
	/* The sender's: of the burst under way, what has left. */
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

/* What tells an algorithm of congestion, or of its end. */
enum congestion_signal {
	CONGESTION_ACKS = 1,      /* on_ack(), with their times */
	CONGESTION_MARKS = 2,     /* ECN or FECN: on_cnp(), or `marked` of ACKs */
	CONGESTION_TELEMETRY = 4, /* of ACKs */
};

enum congestion_loss { LOSS_NAK, LOSS_TIMEOUT };

/* NULL functions are not called. `params` is the struct that the list describes, filled; a flow is all zero before state_init(). */
struct congestion_ops {
	uint32_t version; /* CONGESTION_VERSION */
	const char *name;
	const char *meaning;
	const struct param *params; /* ends with a NULL name */
	size_t params_bytes;
	size_t state_bytes; /* of the state of one flow, which begins with struct cc_state */
	/* Signals of which it needs each (CONGESTION_MARKS ..): without one it would be `none`, and a scenario that has not
	 * got it is refused. CONGESTION_TELEMETRY: packets gather it. 0: nobody looks. */
	uint32_t lives_by;
	/* An ACK at least so often, in payload; 0 or NULL: it does not live by ACKs. */
	uint64_t (*ack_bytes)(const void *params);
	/* false: *error, the values cannot be. What the list's ranges do not say. */
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
	void *params;  /* ours */
	void *library; /* ours; NULL: built in */
};

/* A name of the list, or a path to a shared object. Parameters have their defaults. false: *error says what is wrong. */
bool congestion_init(struct congestion *congestion, const char *name, char *error,
		     size_t error_bytes);
void congestion_fini(struct congestion *congestion);

/* One parameter, as a user writes it. */
bool congestion_set(struct congestion *congestion, const char *name, const char *value, char *error,
		    size_t error_bytes);

#define CONGESTION_NAME_BYTES 256

/* What a user has chosen. Zeroed: nothing. Copies share what it points to. */
struct congestion_choice {
	char name[CONGESTION_NAME_BYTES]; /* a preset, an algorithm, a file */
	struct congestion congestion;     /* ops NULL: nothing */
};

/* In the place of what was chosen before. false: *error, and that stays. */
bool congestion_choose(struct congestion_choice *choice, const char *name, char *error,
		       size_t error_bytes);
void congestion_choice_fini(struct congestion_choice *choice);

/* Packets of a message between two requests for an ACK: `wanted`, or, if that is 0, what the algorithm lives by, and
 * ACK_INTERVAL for one that does not, or none (ops NULL). */
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
const struct congestion_preset *congestion_preset(const char *name); /* NULL: no such */

/* Brings rate and window to `now`. */
static inline void congestion_settle(const struct congestion *congestion, struct cc_state *cc,
				     sim_time now)
{
	if (cc->next_step <= now)
		congestion->ops->step(cc, congestion->params, now);
}

/* What happened to the flow, which is brought to `now` first. Each returns the rate that it had until then. */
uint64_t congestion_on_ack(const struct congestion *congestion, struct cc_state *cc, sim_time now,
			   const struct congestion_ack *ack);
uint64_t congestion_on_cnp(const struct congestion *congestion, struct cc_state *cc, sim_time now);
uint64_t congestion_on_loss(const struct congestion *congestion, struct cc_state *cc, sim_time now,
			    enum congestion_loss loss);

#define CC_STATE_BYTES_MAX 1024

/* When have `bytes` been paid for at the flow's rate, from `since` on, if nothing but its own timers changes it? The
 * flow stays as it is. */
sim_time congestion_paid_at(const struct congestion *congestion, const struct cc_state *cc,
			    sim_time since, uint64_t bytes);

#endif
