/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cc_unit: congestion control of a detailed adapter: counters, and the state of the algorithm for
 * each queue pair that sends or receives marked packets. An adapter without congestion control has
 * no such block, and its queue pairs no such state.
 *
 *     receive --marked packets--> notification.c --CNPs, BECN, telemetry--> port, ACKs
 *     receive, completer --CNPs, ACKs, losses--> reaction_point.c
 *     reaction_point.c --rate, window--> requester, responder
 *
 * Only connected queue pairs are controlled. Unreliable queue pairs have no ACKs, so only the rate
 * applies to them. Datagrams are not ECN-capable.
 */
#ifndef HCA_TRANSPORT_CC_UNIT_H
#define HCA_TRANSPORT_CC_UNIT_H

#include "hca/congestion/congestion.h"
#include "hca/transport/notification_params.h"
#include "hca/transport/qp.h"

/* clang-format off */
#define CC_UNIT_COUNTERS(X) \
	X(ecn_marked_packets, "packets", \
	  "data packets received with ECN CE or FECN (np_ecn_marked_roce_packets)") \
	X(cnp_sent, "packets", "CNPs sent (np_cnp_sent)") \
	X(cnp_received, "packets", "CNPs and BECNs received (rp_cnp_handled)") \
	X(cnp_ignored, "packets", \
	  "CNPs received for queue pairs without congestion control (rp_cnp_ignored)") \
	X(holds, "times", "a queue pair was held back by its rate or its window") \
	X(held_time, "ps", "total time that queue pairs were held back") \
	X(cc_states, "queue pairs", \
	  "existing queue pairs that have sent under congestion control") \
	X(rate_now, "bit/s", \
	  "sum of the rates of cc_states at their last packet or notification, each at most the " \
	  "rate of the link") \
	X(base_rtt_low, "queue pairs", \
	  "whose base_rtt is below the round-trip time of their empty path") \
	X(empty_rtt_max, "ps", "longest round-trip time on an empty path, over cc_states")

#define CC_UNIT_TRACE(X) \
	X(MARKED, "qpn", "psn", "a marked data packet arrives") \
	X(CNP, "qpn", "rate_mbps", "a CNP or BECN arrives; the new rate") \
	X(RATE, "qpn", "rate_mbps", "an ACK or a loss changes the rate")
/* clang-format on */

enum { CC_UNIT_TRACE(TRACE_ENUM) };

struct cc_unit_counters {
	CC_UNIT_COUNTERS(COUNTER_FIELD)
};

struct cc_unit {
	struct block block;
	struct cc_unit_counters count;
	struct transport_block *transport;
	const struct congestion *congestion; /* `ops` is NULL if the adapter does not react */
	const struct notification_params *params;
	enum notification_mode notify; /* never NOTIFICATION_AUTO */
	uint8_t ecn;                   /* ECN field of data packets */
	uint32_t gap_bytes;            /* gap between packets on the link */
	struct cnp_limiter limiter;
	struct paths *paths; /* paths of CNPs, if CNPs have their own service level */
	struct packet *cnp_first, *cnp_last; /* each due at its tail_at */
	struct event cnp_due;
	struct pool states;
	struct plugin_block *plugin; /* if the algorithm is a plug-in, or NULL */
};

struct qp_congestion {
	struct qp_congestion *next, *previous;
	/* receiver */
	sim_time cnp_at;             /* earliest time of the next CNP */
	sim_time asked_at;           /* departure of the packet that the next ACK acknowledges */
	struct telemetry *telemetry; /* telemetry of that packet; owned by this struct */
	uint32_t marked;             /* marked packets since the last ACK */
	/* marked packets, and CNPs and BECNs, received since the last reset */
	uint32_t marks, cnps;
	/* sender */
	bool sends; /* the state is initialised */
	bool idle;  /* the queue pair has nothing to send; idle time earns no credit for its pace */
	uint32_t fresh_packets;
	/* acknowledged bytes and packets that were not reported to the algorithm yet */
	uint64_t fresh_bytes;
	uint64_t sent_bytes, acked_bytes; /* payload bytes since the state was initialised */
	uint64_t rate_seen;               /* contribution to count.rate_now */
	sim_time rtt;           /* round-trip time of the latest ACK with one; 0: none so far */
	_Alignas(16) char cc[]; /* struct cc_state, followed by the state of the algorithm */
};

/* Creates the block. Returns NULL if the parameters enable no congestion control. */
struct cc_unit *cc_unit_create(struct transport_block *transport, const char *name,
			       const struct notification_params *params);
void cc_unit_destroy(struct cc_unit *unit); /* NULL is allowed */

/* Returns the queue pair's state, and creates it if necessary. Not for datagrams. */
struct qp_congestion *cc_unit_state(struct qp *qp);

/* Frees the state of a queue pair that is reset or destroyed. */
void cc_unit_forget(struct qp *qp);

static inline struct cc_state *cc_state_of(struct qp_congestion *state)
{
	return (struct cc_state *)(void *)state->cc;
}

const struct cc_unit_counters *cc_unit_counters(const struct cc_unit *unit);

#endif
