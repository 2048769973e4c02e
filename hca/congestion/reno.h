/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reno: slow start and congestion avoidance, for the algorithms that share them: newreno, cubic
 * (slow start) and dctcp on TCP. RFC 5681 3.1, RFC 3465 (a window grows by bytes, not by ACKs).
 */
#ifndef HCA_CONGESTION_RENO_H
#define HCA_CONGESTION_RENO_H

#include "hca/congestion/congestion.h"

/* Slow start after a timeout grows by one segment per ACK: RFC 3465 2.3. */
struct reno {
	double cwnd, threshold; /* bytes */
	double acked;           /* bytes towards the next segment of congestion avoidance */
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

/* Returns true if the window may grow for this ACK. Records that the ACK ended a series of
 * timeouts. */
bool reno_may_grow(struct reno *reno, const struct congestion_ack *ack);

/* Grows the window by at most `limit` segments, but not beyond the threshold. 0: no limit. Returns
 * the bytes of `acked` that remain for congestion avoidance. */
double reno_slow_start(struct reno *reno, double acked, uint64_t limit);

/* Grows the window by one segment for each window of acknowledged bytes. */
void reno_avoid(struct reno *reno, double acked);

/* Returns the window after a loss: `share` of the bytes in flight, at least two segments. */
double reno_reduced(const struct reno *reno, const struct cc_state *cc, double share);

/* Reduces threshold and window to `share` of the window, at least two segments. */
void reno_reduce_window(struct reno *reno, double share);

/* Reduces threshold and window, after a fast recovery or a mark. */
void reno_reduce(struct reno *reno, const struct cc_state *cc, double share);

/* Sets the window to one segment after a timeout. The threshold is reduced once in a series of
 * timeouts. RFC 5681 3.1. */
void reno_time_out(struct reno *reno, const struct cc_state *cc, double share);

/* Restarts an idle flow: RFC 5681 4.1. */
void reno_restart(struct reno *reno);

#endif
