/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cc_unit: what a detailed adapter with congestion control has more: counters, and for each queue pair that sends, or is
 * sent marked packets, the state of its algorithm. An adapter without has no such block, and its queue pairs no such state.
 *
 *     receive --marked packets--> notification.c --CNPs, BECN, telemetry--> port, ACKs
 *     receive, completer --CNPs, ACKs, losses--> reaction_point.c --rate, window--> requester, responder (pace, what may be under way)
 *
 * Connected queue pairs only; of unreliable ones, which have no ACKs, the rate alone counts. Datagrams are not ECN-capable.
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
	const struct congestion *congestion; /* ops NULL: it does not react */
	const struct notification_params *params;
	enum notification_mode notify; /* not auto */
	uint8_t ecn;                   /* of data packets */
	uint32_t gap_bytes;            /* between packets of the link */
	struct cnp_limiter limiter;
	struct paths *paths; /* of CNPs, if they have a service level of their own */
	struct packet *cnp_first, *cnp_last; /* due at their tail_at */
	struct event cnp_due;
	struct pool states;
};

struct qp_congestion {
	struct qp_congestion *next, *previous;
	/* as a receiver */
	sim_time cnp_at;             /* the next CNP may go then */
	sim_time asked_at;           /* when the packet left that the next ACK responds to */
	struct telemetry *telemetry; /* of that packet; ours */
	uint32_t marked;             /* packets since the last ACK */
	uint32_t marks, cnps; /* marked packets that came, CNPs and BECNs, since it was reset */
	/* as a sender */
	bool sends; /* the state has begun */
	bool idle;  /* nothing more was to be sent: time from now on is no credit */
	uint32_t fresh_packets;
	uint64_t fresh_bytes; /* and packets: acknowledged, and the algorithm does not know yet */
	uint64_t sent_bytes, acked_bytes; /* of payload, since it began */
	uint64_t rate_seen;               /* as count.rate_now has it */
	_Alignas(16) char cc[]; /* struct cc_state, and what the algorithm has behind it */
};

/* NULL: the parameters ask for no congestion control. */
struct cc_unit *cc_unit_create(struct transport_block *transport, const char *name,
			       const struct notification_params *params);
void cc_unit_destroy(struct cc_unit *unit); /* NULL: nothing */

/* The queue pair's state, new if need be. Not of datagrams. */
struct qp_congestion *cc_unit_state(struct qp *qp);

/* The queue pair is reset, or goes. */
void cc_unit_forget(struct qp *qp);

static inline struct cc_state *cc_state_of(struct qp_congestion *state)
{
	return (struct cc_state *)(void *)state->cc;
}

const struct cc_unit_counters *cc_unit_counters(const struct cc_unit *unit);

#endif
