/* SPDX-License-Identifier: Apache-2.0 */
/* ideal: see ideal.h. */
#include "traffic/workload/ideal.h"

#include "fabric/wire/mpa.h"
#include "fabric/wire/opcode.h"
#include "fabric/wire/rdmap.h"

#define PREAMBLE_BYTES 8 /* and start of frame */
#define GAP_BYTES      12

struct span {
	const struct path *path;
	const struct ideal_route *route;
	uint32_t mtu_bytes;
};

static uint32_t wire_bytes(const struct span *span, uint8_t opcode, uint64_t payload_bytes)
{
	const struct packet packet = {
		.path = span->path, .opcode = opcode, .payload_bytes = (uint32_t)payload_bytes};

	return packet_wire_bytes(&packet);
}

/* Returns the time from the first bit sent to the last bit received. */
static sim_time travel(const struct span *span, uint64_t packets, uint64_t bytes)
{
	bool ethernet = span->path->link_layer == LINK_ETHERNET;

	if (ethernet)
		bytes += packets * PREAMBLE_BYTES + (packets - 1) * GAP_BYTES;
	return (sim_time)((double)bytes * 8 * (double)SEC / (double)span->route->rate_bps) +
	       span->route->latency;
}

static sim_time travel_one(const struct span *span, uint8_t opcode)
{
	return travel(span, 1, wire_bytes(span, opcode, 0));
}

static sim_time travel_data(const struct span *span, const uint8_t opcodes[4], uint64_t bytes)
{
	uint64_t mtu = span->mtu_bytes, packets = bytes ? (bytes + mtu - 1) / mtu : 1;
	uint64_t wire;

	if (packets == 1)
		return travel(span, 1, wire_bytes(span, opcodes[3], bytes));
	wire = wire_bytes(span, opcodes[0], mtu) +
	       (packets - 2) * wire_bytes(span, opcodes[1], mtu) +
	       wire_bytes(span, opcodes[2], bytes - (packets - 1) * mtu);
	return travel(span, packets, wire);
}

sim_time ideal_time(const struct endpoint_params *params, uint32_t mtu_bytes,
		    const struct path *path, const struct ideal_route *route,
		    enum workload_operation operation, uint64_t bytes)
{
	static const uint8_t opcodes[][4] = {
		[WORKLOAD_WRITE] = {RC_WRITE_FIRST, RC_WRITE_MIDDLE, RC_WRITE_LAST, RC_WRITE_ONLY},
		[WORKLOAD_SEND] = {RC_SEND_FIRST, RC_SEND_MIDDLE, RC_SEND_LAST, RC_SEND_ONLY},
		[WORKLOAD_READ] = {RC_READ_RESP_FIRST, RC_READ_RESP_MIDDLE, RC_READ_RESP_LAST,
				   RC_READ_RESP_ONLY},
	};
	const struct span span = {path, route, mtu_bytes};
	sim_time time =
		params->send_latency + 2 * params->receive_latency + params->complete_latency;

	switch (operation) {
	case WORKLOAD_WRITE:
	case WORKLOAD_SEND:
		return time + travel_data(&span, opcodes[operation], bytes) +
		       travel_one(&span, RC_ACK);
	case WORKLOAD_READ:
		return time + travel_one(&span, RC_READ_REQUEST) + params->read_latency +
		       travel_data(&span, opcodes[operation], bytes);
	case WORKLOAD_ATOMIC:
		break;
	}
	return time + travel_one(&span, RC_FETCH_ADD) + params->atomic_latency +
	       travel_one(&span, RC_ATOMIC_ACK);
}

sim_time ideal_tcp_time(const struct endpoint_params *params, const struct packet *segment,
			const struct ideal_route *route, enum workload_operation operation,
			uint64_t bytes)
{
	static const struct mpa_place no_markers;
	const struct span span = {segment->path, route, segment->payload_bytes};
	struct packet last = *segment, other = *segment; /* the ACK, or the Read Request */
	sim_time time =
		params->send_latency + 2 * params->receive_latency + params->complete_latency;
	uint64_t full = (bytes - 1) / segment->payload_bytes;

	last.payload_bytes = (uint32_t)(bytes - full * segment->payload_bytes);
	other.payload_bytes = 0;
	if (operation == WORKLOAD_READ) {
		time += params->read_latency;
		other.payload_bytes =
			mpa_fpdu_bytes(no_markers, rdmap_header_bytes(RDMAP_READ_REQUEST) +
							   RDMAP_READ_REQUEST_BYTES);
	}
	return time +
	       travel(&span, full + 1,
		      full * packet_wire_bytes(segment) + packet_wire_bytes(&last)) +
	       travel(&span, 1, packet_wire_bytes(&other));
}
