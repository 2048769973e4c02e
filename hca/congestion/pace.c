/* SPDX-License-Identifier: Apache-2.0 */
/* pace: see pace.h. */
#include "hca/congestion/pace.h"

/* A burst begins when its first packet leaves, and is paid for from then on. */
static void pay_burst(const struct congestion *congestion, struct congestion_flow *flow,
		      sim_time *allowed_at, sim_time now, uint32_t payload_bytes,
		      uint32_t wire_bytes)
{
	sim_time paid_at;

	if (!flow->burst_wire)
		*allowed_at = now;
	flow->burst_payload += payload_bytes;
	flow->burst_wire += wire_bytes;
	if (flow->burst_payload < flow->burst_bytes)
		return;
	paid_at = congestion_paid_at(congestion, flow, *allowed_at, flow->burst_wire);
	*allowed_at = paid_at > now ? paid_at : now;
	flow->burst_payload = flow->burst_wire = 0;
}

void pace_pay(const struct congestion *congestion, struct congestion_flow *flow,
	      sim_time *allowed_at, sim_time now, uint32_t payload_bytes, uint32_t wire_bytes)
{
	sim_time on_time;

	if (flow->burst_bytes) {
		pay_burst(congestion, flow, allowed_at, now, payload_bytes, wire_bytes);
		return;
	}
	on_time = congestion_paid_at(congestion, flow, *allowed_at, wire_bytes);
	*allowed_at =
		on_time > now ? on_time : congestion_paid_at(congestion, flow, now, wire_bytes);
}

void pace_rate_changed(const struct congestion *congestion, const struct congestion_flow *flow,
		       sim_time *allowed_at, sim_time now, uint64_t rate_before)
{
	double bytes;

	if (flow->rate_bps == rate_before || *allowed_at <= now)
		return;
	if (flow->rate_bps == RATE_UNLIMITED) {
		*allowed_at = now;
	} else if (rate_before != RATE_UNLIMITED) {
		bytes = (double)(*allowed_at - now) * (double)rate_before / (8.0 * (double)SEC);
		*allowed_at = congestion_paid_at(congestion, flow, now, (uint64_t)bytes);
	}
}

static sim_time duration(uint32_t bytes, uint64_t rate_bps, uint64_t line_rate_bps)
{
	uint64_t rate = rate_bps < line_rate_bps ? rate_bps : line_rate_bps;

	return (sim_time)((double)bytes * 8.0 * (double)SEC / (double)rate);
}

/* burst_wire: the last packet's bytes, for there are no bursts. */
void pace_departed(struct congestion_flow *flow, sim_time *allowed_at, sim_time now,
		   uint32_t wire_bytes, uint64_t line_rate_bps)
{
	flow->burst_wire = wire_bytes;
	*allowed_at = now + duration(wire_bytes, flow->rate_bps, line_rate_bps);
}

void pace_departed_again(const struct congestion_flow *flow, sim_time *allowed_at,
			 uint64_t rate_before, uint64_t line_rate_bps)
{
	sim_time before = duration(flow->burst_wire, rate_before, line_rate_bps);

	*allowed_at -= *allowed_at < before ? *allowed_at : before;
	*allowed_at += duration(flow->burst_wire, flow->rate_bps, line_rate_bps);
}
