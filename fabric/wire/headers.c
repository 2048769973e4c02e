/* SPDX-License-Identifier: Apache-2.0 */
/*
 * headers: processes the field table. Fields that are not in the table (pad count, transport
 * version, FECN) are handled separately. codec.c calls these functions. decode.c also reads the
 * table.
 */
#include "fabric/wire/headers.h"

#include <string.h>

#include "fabric/wire/bytes.h"

/* Byte 1 of the BTH: SE, MigReq, pad count, transport version. Byte 4: FECN, BECN. */
#define BTH_PAD_SHIFT    4
#define BTH_VERSION_MASK 0x0f
#define BTH_FECN         0x80

/* clang-format off */
#define FIELD(header, member, first_byte, bytes, lowest_bit, bits, meaning)                        \
	{#header, #member, meaning, HDR_##header, first_byte, bytes, lowest_bit,                   \
	 bits ? bits : 8 * bytes, sizeof(((struct packet *)0)->member),                            \
	 offsetof(struct packet, member)},
const struct header_field header_fields[] = { HEADER_FIELDS(FIELD) };
/* clang-format on */
const size_t header_field_count = ARRAY_SIZE(header_fields);

static uint64_t field_mask(const struct header_field *field)
{
	return field->bits == 64 ? UINT64_MAX : (UINT64_C(1) << field->bits) - 1;
}

uint64_t header_field_value(const struct header_field *field, const struct packet *packet)
{
	const uint8_t *member = (const uint8_t *)packet + field->member;
	uint16_t two;
	uint32_t four;
	uint64_t eight;

	switch (field->member_bytes) {
	case 1:
		return *member;
	case 2:
		memcpy(&two, member, 2);
		return two;
	case 4:
		memcpy(&four, member, 4);
		return four;
	default:
		assert(field->member_bytes == 8);
		memcpy(&eight, member, 8);
		return eight;
	}
}

static void field_set(const struct header_field *field, struct packet *packet, uint64_t value)
{
	uint8_t *member = (uint8_t *)packet + field->member;
	uint16_t two = (uint16_t)value;
	uint32_t four = (uint32_t)value;

	switch (field->member_bytes) {
	case 1:
		*member = (uint8_t)value;
		return;
	case 2:
		memcpy(member, &two, 2);
		return;
	case 4:
		memcpy(member, &four, 4);
		return;
	default:
		assert(field->member_bytes == 8);
		memcpy(member, &value, 8);
	}
}

bool headers_fecn_carries_ecn(const struct path *path)
{
	return path->roce_version != ROCE_V2_IPV4 && path->roce_version != ROCE_V2_IPV6;
}

/* Writes the offset of each header of the opcode. Entries of other headers are not changed. */
static void offsets_of(uint8_t opcode, uint8_t offsets[HDR_COUNT])
{
	uint8_t offset = 0;

	for (unsigned header = 0; header < HDR_COUNT; header++) {
		offsets[header] = offset;
		if (opcode_has(opcode, header))
			offset = (uint8_t)(offset + header_bytes[header]);
	}
}

size_t headers_build(const struct packet *packet, uint8_t *bytes)
{
	uint8_t offsets[HDR_COUNT];
	size_t total = opcode_info[packet->opcode].bytes;

	offsets_of(packet->opcode, offsets);
	memset(bytes, 0, total);
	for (const struct header_field *field = header_fields;
	     field < header_fields + header_field_count; field++) {
		uint8_t *at = bytes + offsets[field->header] + field->first_byte;
		uint64_t value = header_field_value(field, packet);

		if (!opcode_has(packet->opcode, field->header))
			continue;
		assert((value & ~field_mask(field)) == 0);
		be_put(at, field->bytes, be_get(at, field->bytes) | value << field->lowest_bit);
	}
	bytes[1] |= (uint8_t)(packet_pad_bytes(packet) << BTH_PAD_SHIFT);
	if (packet->ecn == ECN_CE && headers_fecn_carries_ecn(packet->path))
		bytes[4] |= BTH_FECN;
	return total;
}

enum parse_status headers_parse(const uint8_t *bytes, size_t length, struct packet *packet,
				size_t *total)
{
	uint8_t offsets[HDR_COUNT];
	size_t pad_bytes;

	if (length < header_bytes[HDR_BTH])
		return PARSE_TRUNCATED;
	if (bytes[1] & BTH_VERSION_MASK)
		return PARSE_BTH_VERSION;
	packet->opcode = bytes[0];
	if (!opcode_known(packet->opcode))
		return PARSE_BTH_OPCODE;
	*total = opcode_info[packet->opcode].bytes;
	pad_bytes = bytes[1] >> BTH_PAD_SHIFT & 3;
	if (length < *total + pad_bytes || length % 4)
		return PARSE_BTH_LENGTH;
	packet->payload_bytes = (uint32_t)(length - *total - pad_bytes);
	if ((packet->payload_bytes || pad_bytes) && !opcode_has_payload(packet->opcode))
		return PARSE_BTH_LENGTH;
	if (packet->payload_bytes > PAYLOAD_MAX)
		return PARSE_PAYLOAD_LENGTH;

	offsets_of(packet->opcode, offsets);
	for (const struct header_field *field = header_fields;
	     field < header_fields + header_field_count; field++) {
		const uint8_t *at = bytes + offsets[field->header] + field->first_byte;

		if (opcode_has(packet->opcode, field->header))
			field_set(field, packet,
				  be_get(at, field->bytes) >> field->lowest_bit &
					  field_mask(field));
	}
	if (bytes[4] & BTH_FECN && headers_fecn_carries_ecn(packet->path))
		packet->ecn = ECN_CE;
	return PARSE_OK;
}
