/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opcode: the table of opcode.h as arrays, and properties derived from a line. All code that
 * creates or reads a packet uses this table.
 */
#include "fabric/wire/opcode.h"

#include <assert.h>

/* clang-format off */
#define H(header)  (1u << HDR_##header)
#define COLUMN_PAYLOAD true
#define COLUMN_NONE    false

#define HEADER_BYTES(with, name, bytes) [HDR_##name] = bytes,
const uint8_t header_bytes[HDR_COUNT] = { HEADERS(HEADER_BYTES, ) };

#define BYTES_IF(mask, name, bytes) + ((mask) & H(name) ? (bytes) : 0)
#define INFO(code, name, transport, operation, segment, headers, payload)                        \
	[code] = {#name, TRANSPORT_##transport, OP_##operation, SEG_##segment, COLUMN_##payload, \
		  H(BTH) | (headers), 0 HEADERS(BYTES_IF, H(BTH) | (headers))},
const struct opcode_info opcode_info[256] = { OPCODES(INFO) };

/* Code + 1, so that 0 means that there is none. */
#define SUFFIX_OF(headers)                                                                       \
	((headers) & H(IMM) ? SUFFIX_IMM : (headers) & H(IETH) ? SUFFIX_INV : SUFFIX_NONE)
#define FOUND(code, name, transport, operation, segment, headers, payload) \
	[TRANSPORT_##transport][OP_##operation][SEG_##segment][SUFFIX_OF(headers)] = code + 1,
static const uint16_t found[TRANSPORT_COUNT][OP_COUNT][SEG_COUNT][SUFFIX_COUNT] = {
	OPCODES(FOUND)
};
/* clang-format on */

int opcode_find(enum transport transport, enum operation operation, enum segment segment,
		enum suffix suffix)
{
	return found[transport][operation][segment][suffix] - 1;
}

unsigned opcode_header_offset(uint8_t opcode, enum header header)
{
	unsigned offset = 0;

	assert(opcode_known(opcode));
	if (header == HDR_COUNT)
		return opcode_info[opcode].bytes;
	assert(opcode_has(opcode, header));
	for (unsigned before = 0; before < header; before++)
		if (opcode_has(opcode, before))
			offset += header_bytes[before];
	return offset;
}

bool opcode_takes_receive_wqe(uint8_t opcode)
{
	const struct opcode_info *info = &opcode_info[opcode];

	if (!opcode_known(opcode))
		return false;
	/* A SEND needs its buffer at the first byte, a WRITE only where the immediate is reported.
	 */
	return info->operation == OP_SEND
		       ? opcode_starts_message(opcode)
		       : info->operation == OP_WRITE && opcode_has(opcode, HDR_IMM);
}

bool opcode_may_follow(uint8_t opcode, int previous)
{
	const struct opcode_info *info = &opcode_info[opcode];

	assert(previous < 256);
	if (!opcode_known(opcode))
		return false;
	if (previous < 0 || opcode_ends_message((uint8_t)previous))
		return opcode_starts_message(opcode);
	return !opcode_starts_message(opcode) &&
	       opcode_info[previous].transport == info->transport &&
	       opcode_info[previous].operation == info->operation;
}
