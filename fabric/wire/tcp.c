/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp: see tcp.h. Options are written in the order and with the padding that Linux uses: MSS, SACK
 * permitted, time stamps, window scale; time stamps, SACK.
 */
#include "fabric/wire/tcp.h"

#include <assert.h>
#include <string.h>

#include "fabric/wire/bytes.h"
#include "fabric/wire/ip.h"

/* Numbers and lengths of the options. */
enum {
	KIND_END = 0,
	KIND_NOP = 1,
	KIND_MSS = 2,
	KIND_WINDOW_SCALE = 3,
	KIND_SACK_PERMITTED = 4,
	KIND_SACK = 5,
	KIND_TIMESTAMPS = 8,
	MSS_BYTES = 4,
	WINDOW_SCALE_BYTES = 3,
	SACK_PERMITTED_BYTES = 2,
	TIMESTAMPS_BYTES = 10,
	SACK_BLOCK_BYTES = 8,
	OPTIONS_BYTES_MAX = TCP_HEADER_BYTES_MAX - TCP_HEADER_BYTES,
	CHECKSUM_AT = 16,
};

/* Returns the length of all options but SACK, padded. */
static uint32_t fixed_options_bytes(const struct tcp_header *header)
{
	uint32_t bytes = 0;

	if (header->options & TCP_OPTION_MSS)
		bytes += MSS_BYTES;
	if (header->options &
	    TCP_OPTION_TIMESTAMPS) /* SACK permitted replaces the NOPs of the time stamps */
		bytes += TCP_TIMESTAMP_BYTES;
	else if (header->options & TCP_OPTION_SACK_PERMITTED)
		bytes += 4;
	if (header->options & TCP_OPTION_WINDOW_SCALE)
		bytes += 4;
	return bytes;
}

unsigned tcp_sack_room(const struct tcp_header *header)
{
	uint32_t left = OPTIONS_BYTES_MAX - fixed_options_bytes(header);

	return left < 4 ? 0 : (left - 4) / SACK_BLOCK_BYTES;
}

uint32_t tcp_header_bytes(const struct tcp_header *header)
{
	uint32_t bytes = TCP_HEADER_BYTES + fixed_options_bytes(header);

	assert(header->sack_count <= tcp_sack_room(header));
	return header->sack_count ? bytes + 4 + SACK_BLOCK_BYTES * header->sack_count : bytes;
}

static uint8_t *option_put(uint8_t *at, unsigned nops, uint8_t kind, unsigned bytes)
{
	memset(at, KIND_NOP, nops);
	at += nops;
	at[0] = kind;
	at[1] = (uint8_t)bytes;
	return at + 2;
}

static void options_build(const struct tcp_header *header, uint8_t *at)
{
	bool permitted = header->options & TCP_OPTION_SACK_PERMITTED;

	if (header->options & TCP_OPTION_MSS) {
		at = option_put(at, 0, KIND_MSS, MSS_BYTES);
		be16_put(at, header->mss);
		at += 2;
	}
	if (header->options & TCP_OPTION_TIMESTAMPS) {
		if (permitted)
			at = option_put(at, 0, KIND_SACK_PERMITTED, SACK_PERMITTED_BYTES);
		at = option_put(at, permitted ? 0 : 2, KIND_TIMESTAMPS, TIMESTAMPS_BYTES);
		be32_put(at, header->timestamp);
		be32_put(at + 4, header->timestamp_echo);
		at += 8;
	} else if (permitted) {
		at = option_put(at, 2, KIND_SACK_PERMITTED, SACK_PERMITTED_BYTES);
	}
	if (header->options & TCP_OPTION_WINDOW_SCALE) {
		at = option_put(at, 1, KIND_WINDOW_SCALE, WINDOW_SCALE_BYTES);
		*at++ = header->window_scale;
	}
	if (!header->sack_count)
		return;
	at = option_put(at, 2, KIND_SACK, 2u + SACK_BLOCK_BYTES * header->sack_count);
	for (unsigned i = 0; i < header->sack_count; i++, at += SACK_BLOCK_BYTES) {
		be32_put(at, header->sack[i].left);
		be32_put(at + 4, header->sack[i].right);
	}
}

void tcp_header_build(const struct tcp_header *header, uint8_t *bytes)
{
	be16_put(bytes, header->source_port);
	be16_put(bytes + 2, header->destination_port);
	be32_put(bytes + 4, header->sequence);
	be32_put(bytes + 8, header->acknowledgment);
	bytes[12] = (uint8_t)(tcp_header_bytes(header) / 4 << 4);
	bytes[13] = header->flags;
	be16_put(bytes + 14, header->window);
	be16_put(bytes + CHECKSUM_AT, 0);
	be16_put(bytes + 18, header->urgent);
	options_build(header, bytes + TCP_HEADER_BYTES);
}

/* Parses an option of known length, after its kind and length. */
static void option_parse(uint8_t kind, unsigned bytes, const uint8_t *at, struct tcp_header *header)
{
	bool syn = header->flags & TCP_SYN;

	if (kind == KIND_MSS && bytes == MSS_BYTES && syn) {
		header->options |= TCP_OPTION_MSS;
		header->mss = be16_get(at);
	} else if (kind == KIND_WINDOW_SCALE && bytes == WINDOW_SCALE_BYTES && syn) {
		header->options |= TCP_OPTION_WINDOW_SCALE;
		header->window_scale = at[0];
	} else if (kind == KIND_SACK_PERMITTED && bytes == SACK_PERMITTED_BYTES && syn) {
		header->options |= TCP_OPTION_SACK_PERMITTED;
	} else if (kind == KIND_TIMESTAMPS && bytes == TIMESTAMPS_BYTES) {
		header->options |= TCP_OPTION_TIMESTAMPS;
		header->timestamp = be32_get(at);
		header->timestamp_echo = be32_get(at + 4);
	} else if (kind == KIND_SACK && bytes > 2 && (bytes - 2) % SACK_BLOCK_BYTES == 0 && !syn) {
		header->sack_count = (uint8_t)((bytes - 2) / SACK_BLOCK_BYTES);
		for (unsigned i = 0; i < header->sack_count; i++, at += SACK_BLOCK_BYTES)
			header->sack[i] = (struct tcp_sack){be32_get(at), be32_get(at + 4)};
	}
}

static enum parse_status options_parse(const uint8_t *at, size_t left, struct tcp_header *header)
{
	while (left > 0 && at[0] != KIND_END) {
		unsigned bytes = 1;

		if (at[0] != KIND_NOP) {
			if (left < 2 || at[1] < 2 || at[1] > left)
				return PARSE_TCP_OPTION;
			bytes = at[1];
			option_parse(at[0], bytes, at + 2, header);
		}
		at += bytes;
		left -= bytes;
	}
	return PARSE_OK;
}

enum parse_status tcp_header_parse(const uint8_t *bytes, size_t length, struct tcp_header *header,
				   size_t *header_bytes)
{
	memset(header, 0, sizeof(*header));
	if (length < TCP_HEADER_BYTES)
		return PARSE_TRUNCATED;
	*header_bytes = (size_t)(bytes[12] >> 4) * 4;
	if (*header_bytes < TCP_HEADER_BYTES || *header_bytes > length)
		return PARSE_TCP_HEADER;
	header->source_port = be16_get(bytes);
	header->destination_port = be16_get(bytes + 2);
	header->sequence = be32_get(bytes + 4);
	header->acknowledgment = be32_get(bytes + 8);
	header->flags = bytes[13];
	header->window = be16_get(bytes + 14);
	header->urgent = be16_get(bytes + 18);
	return options_parse(bytes + TCP_HEADER_BYTES, *header_bytes - TCP_HEADER_BYTES, header);
}

uint16_t tcp_checksum(const uint8_t *addresses, size_t address_bytes, const uint8_t *segment,
		      size_t length)
{
	uint32_t sum = ip_sum(addresses, 2 * address_bytes, IP_TCP + (uint32_t)length);

	return (uint16_t)~ip_sum(segment, length, sum);
}

void tcp_checksum_put(uint8_t *segment, uint16_t checksum)
{
	be16_put(segment + CHECKSUM_AT, checksum);
}
