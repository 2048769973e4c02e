/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reno: slow start and congestion avoidance, for the algorithms that share them: newreno, cubic
 * (slow start) and dctcp on TCP. RFC 5681 3.1, RFC 3465 (a window grows by bytes, not by ACKs).
 */
#ifndef HCA_CONGESTION_RENO_H
#define HCA_CONGESTION_RENO_H

#include "hca/congestion/congestion.h"

/* Slow start after a timeout grows by one segment an ACK: RFC 3465 2.3. */
struct reno {
	double cwnd, threshold; /* bytes */
	double acked;           /* bytes that count for the next segment of congestion avoidance */
	double initial;         /* window of a new or idle flow */
	double segment;         /* bytes */
	bool timed_out;         /* no new ACK since the last timeout */
	bool repairing;         /* slow start after a timeout */
};

void reno_init(struct reno *reno, const struct congestion_path *path);

static inline bool reno_in_slow_start(const struct reno *reno)
{
	return reno->cwnd < reno->threshold;
}

/* May the window grow for this ACK? Notes that the ACK ended a row of timeouts. */
bool reno_may_grow(struct reno *reno, const struct congestion_ack *ack);

/* Grows the window by at most `limit` segments, not beyond the threshold; 0: no limit. Returns the
 * bytes of `acked` that are left for congestion avoidance. */
double reno_slow_start(struct reno *reno, double acked, uint64_t limit);

/* One segment for each window of acknowledged bytes. */
void reno_avoid(struct reno *reno, double acked);

/* The window that a loss leaves: `share` of what is in flight, at least two segments. */
double reno_reduced(const struct reno *reno, const struct cc_state *cc, double share);

/* A fast recovery or a mark: threshold and window are reduced. */
void reno_reduce(struct reno *reno, const struct cc_state *cc, double share);

/* A timeout: one segment. The threshold is reduced once in a row of timeouts. RFC 5681 3.1. */
void reno_time_out(struct reno *reno, const struct cc_state *cc, double share);

/* RFC 5681 4.1. */
void reno_restart(struct reno *reno);

#endif
