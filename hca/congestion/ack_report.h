/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ack_report: reports the ACKs of an RDMA queue pair to its congestion control, and tests its
 * window. Adapters of both fidelities call these functions.
 *
 *     hca/endpoint/requester.c -------------.
 *     hca/transport/reaction_point.c -------+-- ACK packet, byte counts --> ops->on_ack()
 *
 * The functions are inline because an endpoint calls them for each packet.
 */
#ifndef HCA_CONGESTION_ACK_REPORT_H
#define HCA_CONGESTION_ACK_REPORT_H

#include "fabric/wire/packet.h"
#include "hca/congestion/congestion.h"

/* Byte counts of a sending queue pair when an ACK arrives. */
struct ack_report {
	uint64_t acked_bytes; /* payload newly acknowledged */
	uint64_t acked_total; /* total since the start of the flow */
	uint64_t sent_total;  /* total so far */
	uint64_t packets;     /* packets newly acknowledged */
	sim_time asked_at;    /* departure of the packet that requested the ACK; 0: unknown */
};

/*
 * Reports an ACK. Stores the round-trip time in *rtt unless it is unknown, and the rate before the
 * ACK in *rate_before. Returns false, and leaves *rate_before as it is, if the algorithm does not
 * react to ACKs.
 */
static inline bool ack_report(const struct congestion *congestion, struct cc_state *cc,
			      sim_time now, const struct packet *packet,
			      const struct ack_report *report, sim_time *rtt, uint64_t *rate_before)
{
	const struct congestion_ack ack = {
		.rtt = report->asked_at ? now - report->asked_at : 0,
		.acked_bytes = report->acked_bytes,
		.acked_total = report->acked_total,
		.sent_total = report->sent_total,
		.packets = (uint32_t)report->packets,
		.marked = packet->immediate,
		.telemetry = packet->telemetry,
		.fields = congestion_has_receiver(congestion->ops) ? &packet->congestion : NULL,
	};

	if (ack.rtt)
		*rtt = ack.rtt;
	if (!congestion->ops->on_ack)
		return false;
	*rate_before = congestion_on_ack(congestion, cc, now, &ack);
	return true;
}

/* Returns true if another `room` bytes would exceed the window. With nothing in flight, a packet
 * may be sent even if the window is smaller than a packet. A window of 0 is closed. */
static inline bool ack_report_cwnd_full(const struct cc_state *cc, uint64_t in_flight,
					uint64_t room)
{
	return (in_flight || !cc->cwnd_bytes) && in_flight + room > cc->cwnd_bytes;
}

#endif
