/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture: reads a file in memory. Every length is checked before it is used. decode.c, tests and
 * fuzz targets call these functions.
 */
#include "fabric/wire/capture.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/wire/bytes.h"
#include "fabric/wire/erf.h"
#include "fabric/wire/pcapng_format.h"

#define BLOCK_BYTES_MIN   12
#define SECTION_BYTES_MIN 28
#define NANOSECONDS       1000000000u

struct interface {
	uint32_t link_type;
	uint32_t snap_bytes;
	bool binary_resolution; /* 2^-exponent instead of 10^-exponent seconds */
	uint8_t exponent;
	uint64_t offset_seconds;
	char name[32];
};

struct capture {
	const uint8_t *bytes;
	size_t length;
	size_t at;
	bool big_endian;
	bool is_pcapng;
	bool nanoseconds; /* pcap: time stamps have nanoseconds */
	uint64_t records;
	struct interface *interfaces; /* pcap: one */
	uint32_t interface_count;
	uint32_t interface_space;
	const char *error;
};

static uint32_t get32(const struct capture *capture, const uint8_t *bytes)
{
	return capture->big_endian ? be32_get(bytes) : le32_get(bytes);
}

static uint16_t get16(const struct capture *capture, const uint8_t *bytes)
{
	return capture->big_endian ? be16_get(bytes) : le16_get(bytes);
}

static struct interface *interface_add(struct capture *capture)
{
	struct interface *interface;

	if (capture->interface_count == capture->interface_space) {
		capture->interface_space =
			capture->interface_space ? 2 * capture->interface_space : 8;
		capture->interfaces = realloc(capture->interfaces,
					      capture->interface_space * sizeof(struct interface));
		if (!capture->interfaces)
			abort();
	}
	interface = &capture->interfaces[capture->interface_count++];
	memset(interface, 0, sizeof(*interface));
	interface->exponent = 6;
	return interface;
}

static enum capture_status broken(struct capture *capture, const char *error)
{
	capture->error = error;
	return CAPTURE_BROKEN;
}

static bool pcap_start(struct capture *capture)
{
	static const uint32_t magics[] = {PCAP_MAGIC_MICRO, PCAP_MAGIC_NANO};

	if (capture->length < PCAP_HEADER_BYTES)
		return false;
	for (unsigned i = 0; i < 2; i++) {
		capture->nanoseconds = magics[i] == PCAP_MAGIC_NANO;
		capture->big_endian = be32_get(capture->bytes) == magics[i];
		if (capture->big_endian || le32_get(capture->bytes) == magics[i]) {
			/* the upper bits tell whether frames have an FCS, which is ignored in both
			 * cases */
			interface_add(capture)->link_type =
				get32(capture, capture->bytes + 20) & 0xffff;
			capture->at = PCAP_HEADER_BYTES;
			return true;
		}
	}
	return false;
}

struct capture *capture_create(const uint8_t *bytes, size_t length)
{
	struct capture *capture = calloc(1, sizeof(*capture));

	if (!capture)
		abort();
	capture->bytes = bytes;
	capture->length = length;
	if (length >= SECTION_BYTES_MIN && be32_get(bytes) == BLOCK_SECTION)
		capture->is_pcapng = true;
	else if (!pcap_start(capture)) {
		capture_destroy(capture);
		return NULL;
	}
	return capture;
}

void capture_destroy(struct capture *capture)
{
	free(capture->interfaces);
	free(capture);
}

const char *capture_error(const struct capture *capture)
{
	return capture->error;
}

/* Removes the headers of the link type from the packet. */
static void record_unwrap(struct capture_record *record, uint32_t link_type, const uint8_t *bytes,
			  size_t length, size_t original)
{
	unsigned type, interface;
	size_t header_bytes, packet_bytes;

	record->bytes = bytes;
	record->length = length;
	record->cut = length < original;
	record->whole = original;
	record->readable = link_type == LINKTYPE_ETHERNET || link_type == LINKTYPE_INFINIBAND;
	record->link_layer = link_type == LINKTYPE_ETHERNET ? LINK_ETHERNET : LINK_INFINIBAND;
	if (link_type != LINKTYPE_ERF ||
	    !erf_parse(bytes, length, &type, &interface, &header_bytes, &packet_bytes))
		return;
	record->readable =
		type == ERF_ETHERNET || type == ERF_INFINIBAND || type == ERF_INFINIBAND_LINK;
	record->link_layer = type == ERF_ETHERNET ? LINK_ETHERNET : LINK_INFINIBAND;
	record->interface += interface;
	record->bytes = bytes + header_bytes;
	record->length = packet_bytes;
	record->whole =
		record->cut && original > header_bytes ? original - header_bytes : packet_bytes;
}

static enum capture_status pcap_next(struct capture *capture, struct capture_record *record)
{
	const uint8_t *header = capture->bytes + capture->at;
	size_t left = capture->length - capture->at;
	uint32_t captured;

	if (left == 0)
		return CAPTURE_END;
	if (left < PCAP_RECORD_BYTES)
		return broken(capture, "the file ends inside a record header");
	captured = get32(capture, header + 8);
	if (captured > left - PCAP_RECORD_BYTES)
		return broken(capture, "the file ends inside a packet");
	record->seconds = get32(capture, header);
	record->nanoseconds = get32(capture, header + 4) % NANOSECONDS;
	if (!capture->nanoseconds)
		record->nanoseconds = record->nanoseconds % 1000000 * 1000;
	record_unwrap(record, capture->interfaces[0].link_type, header + PCAP_RECORD_BYTES,
		      captured, get32(capture, header + 12));
	capture->at += PCAP_RECORD_BYTES + captured;
	record->number = ++capture->records;
	return CAPTURE_RECORD;
}

static void interface_option(struct capture *capture, struct interface *interface, unsigned code,
			     const uint8_t *value, size_t length)
{
	if (code == OPTION_INTERFACE_NAME) {
		size_t kept =
			length < sizeof(interface->name) ? length : sizeof(interface->name) - 1;

		memcpy(interface->name, value, kept);
	} else if (code == OPTION_INTERFACE_RESOLUTION && length == 1) {
		interface->binary_resolution = value[0] & 0x80;
		interface->exponent = value[0] & 0x7f;
	} else if (code == OPTION_INTERFACE_OFFSET && length == 8) {
		interface->offset_seconds =
			capture->big_endian ? be_get(value, 8) : le_get(value, 8);
	}
}

static enum capture_status interface_block(struct capture *capture, const uint8_t *body,
					   size_t length)
{
	struct interface *interface;
	size_t at = 8;

	if (length < 8)
		return broken(capture, "an interface block is too short");
	interface = interface_add(capture);
	interface->link_type = get16(capture, body);
	interface->snap_bytes = get32(capture, body + 4);
	while (at + 4 <= length) {
		unsigned code = get16(capture, body + at);
		size_t bytes = get16(capture, body + at + 2);

		at += 4;
		if (code == OPTION_END)
			break;
		if (bytes > length - at)
			return broken(capture, "an option is longer than its block");
		interface_option(capture, interface, code, body + at, bytes);
		at += (bytes + 3) & ~(size_t)3;
	}
	return CAPTURE_RECORD;
}

static void record_time(struct capture_record *record, const struct interface *interface,
			uint64_t ticks)
{
	uint64_t per_second = 1;

	record->seconds = record->nanoseconds = 0;
	if (interface->binary_resolution) {
		unsigned bits = interface->exponent;

		if (bits < 64) {
			uint64_t fraction = bits ? ticks & ((UINT64_C(1) << bits) - 1) : 0;

			record->seconds = ticks >> bits;
			/* 30 bits of the fraction are enough for nanoseconds */
			fraction = bits > 34 ? fraction >> (bits - 34) : fraction << (34 - bits);
			record->nanoseconds = (uint32_t)((fraction * NANOSECONDS) >> 34);
		}
	} else if (interface->exponent < 20) {
		for (unsigned i = 0; i < interface->exponent; i++)
			per_second *= 10;
		record->seconds = ticks / per_second;
		ticks %= per_second;
		record->nanoseconds = per_second >= NANOSECONDS
					      ? (uint32_t)(ticks / (per_second / NANOSECONDS))
					      : (uint32_t)(ticks * (NANOSECONDS / per_second));
	}
	record->seconds += interface->offset_seconds;
}

/* Reads the options of a packet. Others than a comment with fields have no effect, also if they are
 * damaged. */
static void packet_options(const struct capture *capture, const uint8_t *options, size_t length,
			   struct capture_record *record)
{
	for (size_t at = 0; at + 4 <= length;) {
		unsigned code = get16(capture, options + at);
		size_t bytes = get16(capture, options + at + 2);
		uint32_t *words = record->fields;
		char text[FIELDS_TEXT_BYTES];

		at += 4;
		if (code == OPTION_END || bytes > length - at)
			return;
		if (code == OPTION_COMMENT && bytes < sizeof(text)) {
			memcpy(text, options + at, bytes);
			text[bytes] = '\0';
			record->has_fields |= sscanf(text, FIELDS_SCAN, &words[0], &words[1],
						     &words[2], &words[3]) == 4;
		}
		at += (bytes + 3) & ~(size_t)3;
	}
}

static enum capture_status packet_block(struct capture *capture, const uint8_t *body, size_t length,
					struct capture_record *record)
{
	const struct interface *interface;
	uint32_t captured;

	if (length < 20)
		return broken(capture, "a packet block is too short");
	record->interface = get32(capture, body);
	if (record->interface >= capture->interface_count)
		return broken(capture, "a packet names an interface that is not described");
	interface = &capture->interfaces[record->interface];
	captured = get32(capture, body + 12);
	if (captured > length - 20)
		return broken(capture, "a packet is longer than its block");
	record_time(record, interface,
		    (uint64_t)get32(capture, body + 4) << 32 | get32(capture, body + 8));
	memcpy(record->interface_name, interface->name, sizeof(interface->name));
	record_unwrap(record, interface->link_type, body + 20, captured, get32(capture, body + 16));
	size_t options = 20 + (((size_t)captured + 3) & ~(size_t)3);

	if (options < length)
		packet_options(capture, body + options, length - options, record);
	return CAPTURE_RECORD;
}

static enum capture_status simple_packet_block(struct capture *capture, const uint8_t *body,
					       size_t length, struct capture_record *record)
{
	const struct interface *interface = capture->interfaces;
	size_t captured;
	uint32_t original;

	if (length < 4)
		return broken(capture, "a packet block is too short");
	if (capture->interface_count == 0)
		return broken(capture, "a packet names an interface that is not described");
	original = get32(capture, body);
	captured = interface->snap_bytes && interface->snap_bytes < original ? interface->snap_bytes
									     : original;
	if (captured > length - 4)
		return broken(capture, "a packet is longer than its block");
	memcpy(record->interface_name, interface->name, sizeof(interface->name));
	record_unwrap(record, interface->link_type, body + 4, captured, original);
	return CAPTURE_RECORD;
}

/* A new section has its own byte order and interfaces. */
static bool section_start(struct capture *capture, const uint8_t *block, size_t left)
{
	if (left < SECTION_BYTES_MIN)
		return false;
	capture->big_endian = be32_get(block + 8) == BYTE_ORDER_MAGIC;
	capture->interface_count = 0;
	return capture->big_endian || le32_get(block + 8) == BYTE_ORDER_MAGIC;
}

static enum capture_status pcapng_next(struct capture *capture, struct capture_record *record)
{
	while (capture->at < capture->length) {
		const uint8_t *block = capture->bytes + capture->at;
		size_t left = capture->length - capture->at;
		enum capture_status status = CAPTURE_RECORD;
		uint32_t type, bytes;

		if (left < BLOCK_BYTES_MIN)
			return broken(capture, "the file ends inside a block");
		if (be32_get(block) == BLOCK_SECTION && !section_start(capture, block, left))
			return broken(capture, "a section has no byte-order magic");
		type = get32(capture, block);
		bytes = get32(capture, block + 4);
		if (bytes < BLOCK_BYTES_MIN || bytes % 4)
			return broken(capture, "a block has an impossible length");
		if (bytes > left)
			return broken(capture, "the file ends inside a block");
		if (get32(capture, block + bytes - 4) != bytes)
			return broken(capture, "the two lengths of a block differ");
		capture->at += bytes;
		if (type == BLOCK_INTERFACE)
			status = interface_block(capture, block + 8, bytes - BLOCK_BYTES_MIN);
		else if (type == BLOCK_PACKET)
			status = packet_block(capture, block + 8, bytes - BLOCK_BYTES_MIN, record);
		else if (type == BLOCK_SIMPLE_PACKET)
			status = simple_packet_block(capture, block + 8, bytes - BLOCK_BYTES_MIN,
						     record);
		if (status == CAPTURE_BROKEN)
			return status;
		if (type == BLOCK_PACKET || type == BLOCK_SIMPLE_PACKET) {
			record->number = ++capture->records;
			return CAPTURE_RECORD;
		}
	}
	return CAPTURE_END;
}

enum capture_status capture_next(struct capture *capture, struct capture_record *record)
{
	memset(record, 0, sizeof(*record));
	if (capture->error)
		return CAPTURE_BROKEN;
	return capture->is_pcapng ? pcapng_next(capture, record) : pcap_next(capture, record);
}
