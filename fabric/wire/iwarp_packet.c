/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iwarp_packet: see iwarp_packet.h.
 */
#include "fabric/wire/iwarp_packet.h"

#include <string.h>

#include "fabric/wire/mpa.h"
#include "fabric/wire/tcp_packet.h"

static const struct mpa_place no_markers;

void iwarp_packet_set_fpdu(struct packet *packet, enum rdmap_opcode opcode, uint32_t key,
			   uint32_t offset, uint32_t ddp_bytes)
{
	packet->tcp.iwarp = IWARP_FPDU;
	packet->tcp.rdmap_opcode = (uint8_t)opcode;
	packet->tcp.ddp_bytes = (uint16_t)ddp_bytes;
	packet->tcp.ddp_key = key;
	packet->tcp.ddp_offset = offset;
	assert(packet->payload_bytes ==
	       mpa_fpdu_bytes(no_markers, rdmap_header_bytes(opcode) + ddp_bytes));
}

void iwarp_packet_set_startup(struct packet *packet, bool reply, uint16_t ird, uint16_t ord)
{
	packet->tcp.iwarp = reply ? IWARP_REPLY : IWARP_REQUEST;
	packet->tcp.ddp_key = (uint32_t)ird << 16 | ord;
	assert(packet->payload_bytes == MPA_STARTUP_BYTES + MPA_DEPTHS_BYTES);
}

static void startup_build(const struct packet *packet, uint8_t *bytes)
{
	const struct mpa_startup startup = {
		.reply = packet->tcp.iwarp == IWARP_REPLY,
		.crc = true,
		.enhanced = true,
		.revision = 2,
		.ird = (uint16_t)(packet->tcp.ddp_key >> 16),
		.ord = (uint16_t)packet->tcp.ddp_key,
	};

	mpa_startup_build(&startup, bytes);
}

static void fpdu_build(const struct packet *packet, uint8_t *bytes)
{
	const struct packet_tcp *tcp = &packet->tcp;
	enum rdmap_opcode opcode = (enum rdmap_opcode)tcp->rdmap_opcode;
	struct rdmap_header header = {.opcode = opcode, .last = tcp->ends_message};
	uint32_t header_bytes = rdmap_header_bytes(opcode);
	uint8_t ulpdu[DDP_HEADER_MAX + TCP_PAYLOAD_MAX];

	if (rdmap_is_tagged(opcode)) {
		header.stag = tcp->ddp_key;
		header.tagged_offset = tcp->ddp_offset;
	} else {
		header.msn = tcp->ddp_key;
		header.message_offset = tcp->ddp_offset;
	}
	rdmap_header_build(&header, ulpdu);
	memset(ulpdu + header_bytes, 0, tcp->ddp_bytes);
	mpa_fpdu_build(no_markers, ulpdu, header_bytes + tcp->ddp_bytes, bytes);
}

void iwarp_packet_build(const struct packet *packet, uint8_t *bytes)
{
	if (packet->tcp.iwarp == IWARP_FPDU)
		fpdu_build(packet, bytes);
	else
		startup_build(packet, bytes);
}
