/* SPDX-License-Identifier: Apache-2.0 */
/* pace: see pace.h. */
#include "hca/congestion/pace.h"

/* Charges a packet of a burst. A burst is charged as a whole, from the departure of its first
 * packet. */
static void pay_burst(const struct congestion *congestion, struct cc_state *cc,
		      sim_time *allowed_at, sim_time now, uint32_t payload_bytes,
		      uint32_t wire_bytes)
{
	sim_time paid_at;

	if (!cc->burst_wire)
		*allowed_at = now;
	cc->burst_payload += payload_bytes;
	cc->burst_wire += wire_bytes;
	if (cc->burst_payload < cc->burst_bytes)
		return;
	paid_at = congestion_paid_at(congestion, cc, *allowed_at, cc->burst_wire);
	*allowed_at = paid_at > now ? paid_at : now;
	cc->burst_payload = cc->burst_wire = 0;
}

void pace_pay(const struct congestion *congestion, struct cc_state *cc, sim_time *allowed_at,
	      sim_time now, uint32_t payload_bytes, uint32_t wire_bytes)
{
	sim_time on_time;

	if (cc->burst_bytes) {
		pay_burst(congestion, cc, allowed_at, now, payload_bytes, wire_bytes);
		return;
	}
	on_time = congestion_paid_at(congestion, cc, *allowed_at, wire_bytes);
	*allowed_at = on_time > now ? on_time : congestion_paid_at(congestion, cc, now, wire_bytes);
}

void pace_rate_changed(const struct congestion *congestion, const struct cc_state *cc,
		       sim_time *allowed_at, sim_time now, uint64_t rate_before)
{
	double bytes;

	if (cc->rate_bps == rate_before || *allowed_at <= now)
		return;
	if (cc->rate_bps == RATE_UNLIMITED) {
		*allowed_at = now;
	} else if (rate_before != RATE_UNLIMITED) {
		bytes = (double)(*allowed_at - now) * (double)rate_before / (8.0 * (double)SEC);
		*allowed_at = congestion_paid_at(congestion, cc, now, (uint64_t)bytes);
	}
}

static sim_time duration(uint32_t bytes, uint64_t rate_bps, uint64_t line_rate_bps)
{
	uint64_t rate = rate_bps < line_rate_bps ? rate_bps : line_rate_bps;

	return (sim_time)((double)bytes * 8.0 * (double)SEC / (double)rate);
}

/* burst_wire holds the bytes of the last packet, because there are no bursts. */
void pace_departed(struct cc_state *cc, sim_time *allowed_at, sim_time now, uint32_t wire_bytes,
		   uint64_t line_rate_bps)
{
	cc->burst_wire = wire_bytes;
	*allowed_at = now + duration(wire_bytes, cc->rate_bps, line_rate_bps);
}

void pace_departed_again(const struct cc_state *cc, sim_time *allowed_at, uint64_t rate_before,
			 uint64_t line_rate_bps)
{
	sim_time before = duration(cc->burst_wire, rate_before, line_rate_bps);

	*allowed_at -= *allowed_at < before ? *allowed_at : before;
	*allowed_at += duration(cc->burst_wire, cc->rate_bps, line_rate_bps);
}
