/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iwarp_packet: the payload of a TCP segment of iWARP whose bytes are not simulated. The packet
 * describes the payload, and tcp_packet.c builds its bytes when they are needed. DDP payload is
 * zeros, and there are no markers.
 */
#ifndef FABRIC_WIRE_IWARP_PACKET_H
#define FABRIC_WIRE_IWARP_PACKET_H

#include "fabric/wire/packet.h"
#include "fabric/wire/rdmap.h"

enum iwarp_content {
	IWARP_NONE,    /* other bytes, or the packet has payload */
	IWARP_FPDU,    /* one FPDU */
	IWARP_REQUEST, /* MPA request of revision 2 without private data */
	IWARP_REPLY,
};

/* Sets the payload to one FPDU with `ddp_bytes` of data. `key` and `offset`: STag and TO, or MSN
 * and MO. packet->tcp.ends_message says whether it is the last of its message. */
void iwarp_packet_set_fpdu(struct packet *packet, enum rdmap_opcode opcode, uint32_t key,
			   uint32_t offset, uint32_t ddp_bytes);

/* Sets the payload to an MPA request or reply. */
void iwarp_packet_set_startup(struct packet *packet, bool reply, uint16_t ird, uint16_t ord);

/* Writes packet->payload_bytes bytes. */
void iwarp_packet_build(const struct packet *packet, uint8_t *bytes);

#endif
