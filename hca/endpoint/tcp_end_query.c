/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_end_query: what a TCP connection of an endpoint adapter carries, and how fast.
 */
#include "fabric/wire/tcp_packet.h"
#include "hca/endpoint/iwarp_end.h"
#include "hca/endpoint/tcp_end.h"

uint64_t tcp_end_stream_bytes(const struct endpoint_qp *qp, enum endpoint_operation operation,
			      uint64_t bytes)
{
	return qp->tcp->iwarp ? iwarp_end_stream_bytes(qp, operation, bytes) : bytes;
}

void tcp_end_segment(const struct endpoint_qp *qp, struct packet *segment)
{
	const struct endpoint_tcp_params *params = qp->tcp->host->params;
	struct tcp_header header = {.flags = TCP_ACK};
	uint32_t room = (uint32_t)params->mtu - TCP_END_IP_BYTES;

	if (params->timestamps)
		header.options = TCP_OPTION_TIMESTAMPS;
	*segment = (struct packet){.path = qp->path};
	tcp_packet_set(segment, &header);
	segment->payload_bytes = room - tcp_header_bytes(&header);
	if (qp->tcp->iwarp)
		segment->payload_bytes = qp->tcp->iwarp->fpdu_bytes;
}

bool tcp_end_may_read(const struct endpoint_qp *qp, const struct endpoint_message *message)
{
	return qp->tcp->iwarp && message->operation == ENDPOINT_READ &&
	       message->bytes < READ_RESPONSE;
}

uint64_t tcp_end_read_bytes(const struct endpoint_qp *qp)
{
	return qp->tcp->iwarp ? qp->tcp->iwarp->reads.arrived : 0;
}

uint64_t tcp_end_rate_bps(const struct endpoint_qp *qp, uint64_t line)
{
	struct tcp_report report;
	double rate;

	tcp_report(qp->tcp->connection, &report);
	if (!report.srtt)
		return line;
	rate = (double)report.cwnd_bytes * 8 * (double)SEC / (double)report.srtt;
	return rate < (double)line ? (uint64_t)rate : line;
}
