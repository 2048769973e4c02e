/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_packet: see tcp_packet.h. A packet that a fault has damaged is built with a wrong checksum.
 */
#include "fabric/wire/tcp_packet.h"

#include <string.h>

#include "fabric/wire/ip.h"
#include "fabric/wire/iwarp_packet.h"

void tcp_packet_set(struct packet *packet, const struct tcp_header *header)
{
	packet->kind = PACKET_TCP;
	packet->tcp = (struct packet_tcp){
		.sequence = header->sequence,
		.acknowledgment = header->acknowledgment,
		.timestamp = header->timestamp,
		.timestamp_echo = header->timestamp_echo,
		.window = header->window,
		.urgent = header->urgent,
		.mss = header->mss,
		.flags = header->flags,
		.options = header->options,
		.sack_count = header->sack_count,
		.window_scale = header->window_scale,
	};
	for (unsigned i = 0; i < header->sack_count; i++)
		packet->sack[i] = header->sack[i];
}

void tcp_packet_header(const struct packet *packet, struct tcp_header *header)
{
	const struct packet_tcp *tcp = &packet->tcp;

	assert(packet->kind == PACKET_TCP);
	*header = (struct tcp_header){
		.source_port = packet->path->tcp_source_port,
		.destination_port = packet->path->tcp_destination_port,
		.sequence = tcp->sequence,
		.acknowledgment = tcp->acknowledgment,
		.window = tcp->window,
		.urgent = tcp->urgent,
		.flags = tcp->flags,
		.options = tcp->options,
		.sack_count = tcp->sack_count,
		.window_scale = tcp->window_scale,
		.mss = tcp->mss,
		.timestamp = tcp->timestamp,
		.timestamp_echo = tcp->timestamp_echo,
	};
	for (unsigned i = 0; i < tcp->sack_count; i++)
		header->sack[i] = packet->sack[i];
}

uint32_t tcp_packet_bytes(const struct packet *packet)
{
	struct tcp_header header;

	tcp_packet_header(packet, &header);
	return tcp_header_bytes(&header) + packet->payload_bytes;
}

size_t tcp_packet_build(const struct packet *packet, const uint8_t *ip, uint8_t *bytes)
{
	struct tcp_header header;
	size_t address_bytes, length, header_bytes;
	const uint8_t *addresses = ip_addresses(packet->path, ip, &address_bytes);
	uint16_t checksum;

	tcp_packet_header(packet, &header);
	header_bytes = tcp_header_bytes(&header);
	length = header_bytes + packet->payload_bytes;
	tcp_header_build(&header, bytes);
	if (packet->payload)
		packet_payload_copy(packet->payload, bytes + header_bytes, packet->payload_bytes);
	else if (packet->tcp.iwarp)
		iwarp_packet_build(packet, bytes + header_bytes);
	else
		memset(bytes + header_bytes, 0, packet->payload_bytes);
	checksum = tcp_checksum(addresses, address_bytes, bytes, length);
	tcp_checksum_put(bytes, packet->damage & DAMAGE_ICRC ? (uint16_t)(checksum ^ 1) : checksum);
	return length;
}

enum parse_status tcp_packet_parse(const uint8_t *ip, const uint8_t *bytes, size_t length,
				   struct packet *packet, struct path *path)
{
	struct tcp_header header;
	size_t address_bytes, header_bytes;
	const uint8_t *addresses = ip_addresses(path, ip, &address_bytes);
	enum parse_status status = tcp_header_parse(bytes, length, &header, &header_bytes);

	if (status != PARSE_OK)
		return status;
	path->tcp_source_port = header.source_port;
	path->tcp_destination_port = header.destination_port;
	tcp_packet_set(packet, &header);
	packet->payload_bytes = (uint32_t)(length - header_bytes);
	if (tcp_checksum(addresses, address_bytes, bytes, length) != 0)
		return PARSE_TCP_CHECKSUM;
	if (packet->payload_bytes > (packet->payload ? PAYLOAD_MAX : TCP_PAYLOAD_MAX))
		return PARSE_PAYLOAD_LENGTH;
	if (packet->payload)
		memcpy(packet->payload->bytes, bytes + header_bytes, packet->payload_bytes);
	return PARSE_OK;
}
