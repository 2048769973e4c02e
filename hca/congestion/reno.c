/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reno: see reno.h.
 */
#include "hca/congestion/reno.h"

#include <math.h>

#define INITIAL_SEGMENTS 10 /* RFC 6928, if the sender sets no initial window */
#define LEAST_SEGMENTS   2

void reno_init(struct reno *reno, const struct congestion_path *path)
{
	double segment = path->mtu_bytes;
	double initial = path->initial_window_bytes ? path->initial_window_bytes
						    : INITIAL_SEGMENTS * segment;

	*reno = (struct reno){
		.cwnd = initial, .threshold = 1e18, .initial = initial, .segment = segment};
}

bool reno_may_grow(struct reno *reno, const struct congestion_ack *ack)
{
	if (ack->acked_bytes)
		reno->timed_out = false;
	return ack->acked_bytes && !ack->recovering && !ack->cwnd_unused;
}

double reno_slow_start(struct reno *reno, double acked, uint64_t limit)
{
	double growth = acked, most = (double)limit * reno->segment;

	if (!reno_in_slow_start(reno)) {
		reno->repairing = false;
		return acked;
	}
	if (reno->repairing)
		most = reno->segment;
	if (most > 0 && growth > most)
		growth = most;
	if (reno->cwnd + growth <= reno->threshold) {
		reno->cwnd += growth;
		return 0;
	}
	growth = reno->threshold - reno->cwnd;
	reno->cwnd = reno->threshold;
	return acked - growth;
}

void reno_avoid(struct reno *reno, double acked)
{
	reno->acked += acked;
	while (reno->acked >= reno->cwnd) {
		reno->acked -= reno->cwnd;
		reno->cwnd += reno->segment;
	}
}

void reno_reduce_window(struct reno *reno, double share)
{
	double least = LEAST_SEGMENTS * reno->segment;

	reno->threshold = reno->cwnd = fmax(reno->cwnd * share, least);
	reno->acked = 0;
}

double reno_reduced(const struct reno *reno, const struct cc_state *cc, double share)
{
	double flight = (double)cc->flight_bytes, least = LEAST_SEGMENTS * reno->segment;

	if (flight <= 0 || flight > reno->cwnd)
		flight = reno->cwnd;
	return flight * share > least ? flight * share : least;
}

void reno_reduce(struct reno *reno, const struct cc_state *cc, double share)
{
	reno->threshold = reno->cwnd = reno_reduced(reno, cc, share);
	reno->acked = 0;
}

void reno_time_out(struct reno *reno, const struct cc_state *cc, double share)
{
	if (!reno->timed_out)
		reno->threshold = reno_reduced(reno, cc, share);
	reno->timed_out = reno->repairing = true;
	reno->cwnd = reno->segment;
	reno->acked = 0;
}

void reno_restart(struct reno *reno)
{
	if (reno->cwnd > reno->initial)
		reno->cwnd = reno->initial;
}
