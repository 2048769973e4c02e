/* SPDX-License-Identifier: Apache-2.0 */
/*
 * credit: Op | FCTBS, VL | FCCL, LPCRC. codec.c calls these functions.
 */
#include "fabric/wire/credit.h"

#include "fabric/wire/bytes.h"
#include "fabric/wire/vcrc.h"

#define CHECKED_BYTES 4

void credit_build(const struct packet *packet, uint8_t *bytes)
{
	assert(packet->opcode < 16 && packet->vl < 16);
	be16_put(bytes, (uint16_t)(packet->opcode << 12 | (packet->credit_total & 0xfff)));
	be16_put(bytes + 2, (uint16_t)(packet->vl << 12 | (packet->credit_limit & 0xfff)));
	le16_put(bytes + CHECKED_BYTES, vcrc_compute(bytes, CHECKED_BYTES));
}

enum parse_status credit_parse(const uint8_t *bytes, size_t length, struct packet *packet)
{
	if (length < CREDIT_BYTES)
		return PARSE_TRUNCATED;
	packet->kind = PACKET_FLOW_CONTROL;
	packet->opcode = bytes[0] >> 4;
	packet->credit_total = be16_get(bytes) & 0xfff;
	packet->vl = bytes[2] >> 4;
	packet->credit_limit = be16_get(bytes + 2) & 0xfff;
	return le16_get(bytes + CHECKED_BYTES) == vcrc_compute(bytes, CHECKED_BYTES) ? PARSE_OK
										     : PARSE_LPCRC;
}
