/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pace: when a flow that congestion control limits to a rate may send next. A packet is paid for at that rate from when the flow
 * was allowed to send it; what is still owed when the rate changes is paid at the new one.
 *
 *     endpoint (hca/endpoint/departure.c), requester and responder (hca/transport/reaction_point.c) --packets, new rates--> *allowed_at
 *
 * Whoever sends keeps `allowed_at` with the queue pair, and an event for it.
 */
#ifndef HCA_CONGESTION_PACE_H
#define HCA_CONGESTION_PACE_H

#include "hca/congestion/congestion.h"

/* A packet leaves now, at a rate that is not RATE_UNLIMITED. wire_bytes: with what the link has between packets. Who comes late,
 * by less than a packet, keeps its pace. */
void pace_pay(const struct congestion *congestion, struct cc_state *cc, sim_time *allowed_at,
	      sim_time now, uint32_t payload_bytes, uint32_t wire_bytes);

/* The same without credit: the next packet may leave when this one, which leaves now, is paid for. What the new rate
 * is for is all of it. RATE_UNLIMITED counts as line_rate_bps. */
void pace_departed(struct cc_state *cc, sim_time *allowed_at, sim_time now, uint32_t wire_bytes,
		   uint64_t line_rate_bps);
void pace_departed_again(const struct cc_state *cc, sim_time *allowed_at, uint64_t rate_before,
			 uint64_t line_rate_bps);

/* The flow's rate was rate_before until now. */
void pace_rate_changed(const struct congestion *congestion, const struct cc_state *cc,
		       sim_time *allowed_at, sim_time now, uint64_t rate_before);

#endif
