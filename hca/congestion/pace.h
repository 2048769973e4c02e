/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pace: computes the time at which a flow with a limited rate may send next. A packet is charged at
 * the flow's rate, from the time at which the flow was allowed to send it. When the rate changes,
 * the remaining bytes are charged at the new rate.
 *
 *     hca/endpoint/departure.c --------.
 *     hca/transport/reaction_point.c --+-- packets, new rates --> *allowed_at
 *
 * The sender stores `allowed_at` with the queue pair, and schedules an event for it.
 */
#ifndef HCA_CONGESTION_PACE_H
#define HCA_CONGESTION_PACE_H

#include "hca/congestion/congestion.h"

/* Charges a packet that leaves now, at a rate other than RATE_UNLIMITED. `wire_bytes` includes
 * the gap between packets on the link. A sender that is late by less than a packet time keeps
 * its pace. */
void pace_pay(const struct congestion *congestion, struct cc_state *cc, sim_time *allowed_at,
	      sim_time now, uint32_t payload_bytes, uint32_t wire_bytes);

/* Charge a packet without credit for lateness: the next packet may leave after the duration of this
 * one from now. pace_departed_again() applies a new rate to the whole duration. RATE_UNLIMITED
 * counts as line_rate_bps. */
void pace_departed(struct cc_state *cc, sim_time *allowed_at, sim_time now, uint32_t wire_bytes,
		   uint64_t line_rate_bps);
void pace_departed_again(const struct cc_state *cc, sim_time *allowed_at, uint64_t rate_before,
			 uint64_t line_rate_bps);

/* Charges the remaining bytes at the new rate. The rate was rate_before until now. */
void pace_rate_changed(const struct congestion *congestion, const struct cc_state *cc,
		       sim_time *allowed_at, sim_time now, uint64_t rate_before);

#endif
