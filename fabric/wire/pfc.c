/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pfc: a MAC control frame to the bridge group address: opcode, and one enable bit and one time per
 * priority, in quanta of 512 bit times. A time of 0 ends the pause. codec.c calls these functions.
 */
#include "fabric/wire/pfc.h"

#include <string.h>

#include "fabric/wire/bytes.h"
#include "fabric/wire/ethernet.h"

#define MAC_CONTROL_PFC 0x0101
#define OPCODE_OFFSET   14
#define ENABLE_OFFSET   16
#define QUANTA_OFFSET   18
#define PRIORITIES      8

static const uint8_t group_address[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};

void pfc_build(const struct packet *packet, uint8_t *bytes)
{
	memset(bytes, 0, PFC_BYTES);
	memcpy(bytes, group_address, 6);
	if (packet->path)
		memcpy(bytes + 6, packet->path->smac, 6);
	be16_put(bytes + 12, ETHERTYPE_MAC_CONTROL);
	be16_put(bytes + OPCODE_OFFSET, MAC_CONTROL_PFC);
	be16_put(bytes + ENABLE_OFFSET, packet->pause_enable);
	for (size_t i = 0; i < PRIORITIES; i++)
		be16_put(bytes + QUANTA_OFFSET + 2 * i, packet->pause_quanta[i]);
}

enum parse_status pfc_parse(const uint8_t *bytes, size_t length, struct packet *packet)
{
	if (length < QUANTA_OFFSET + 2 * PRIORITIES)
		return PARSE_TRUNCATED;
	if (be16_get(bytes + OPCODE_OFFSET) != MAC_CONTROL_PFC ||
	    memcmp(bytes, group_address, 6) != 0)
		return PARSE_PFC_OPCODE;
	packet->kind = PACKET_PFC;
	packet->pause_enable = bytes[ENABLE_OFFSET + 1];
	for (size_t i = 0; i < PRIORITIES; i++)
		packet->pause_quanta[i] = be16_get(bytes + QUANTA_OFFSET + 2 * i);
	return PARSE_OK;
}
