/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcapng: section header, interface descriptions, enhanced packet blocks, all little-endian. A
 * block is built in the writer's buffer and written as a whole.
 */
#include "fabric/wire/pcapng.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/wire/bytes.h"
#include "fabric/wire/codec.h"
#include "fabric/wire/erf.h"
#include "fabric/wire/pcapng_format.h"

#define TEXT_MAX        255
#define FILE_BUFFER     (1 << 20)
#define INTERFACES_MAX  4096
#define TIME_RESOLUTION 9 /* 10^-9 s */

struct pcapng {
	FILE *file;
	int error; /* errno of the first failed write */
	uint32_t interface_count;
	uint8_t link_layers[INTERFACES_MAX]; /* enum link_layer */
	uint64_t packets;
	size_t used; /* bytes of the block being built */
	uint8_t block[PACKET_BYTES_MAX + 512];
	uint32_t snap; /* bytes per packet, 0 for all */
	uint64_t written, max_bytes;
	sim_time full_since;
};

static void put32(struct pcapng *pcapng, uint32_t value)
{
	assert(pcapng->used + 4 <= sizeof(pcapng->block));
	le32_put(pcapng->block + pcapng->used, value);
	pcapng->used += 4;
}

static void put_bytes(struct pcapng *pcapng, const void *bytes, size_t length)
{
	size_t padded = (length + 3) & ~(size_t)3;

	assert(pcapng->used + padded <= sizeof(pcapng->block));
	memcpy(pcapng->block + pcapng->used, bytes, length);
	memset(pcapng->block + pcapng->used + length, 0, padded - length);
	pcapng->used += padded;
}

static void put_option(struct pcapng *pcapng, uint16_t code, const void *value, size_t length)
{
	put32(pcapng, (uint32_t)length << 16 | code);
	put_bytes(pcapng, value, length);
}

static void put_text_option(struct pcapng *pcapng, uint16_t code, const char *text)
{
	put_option(pcapng, code, text, strnlen(text, TEXT_MAX));
}

#define BLOCK_REST 400 /* maximum of lengths, padding and comments */

static void block_begin(struct pcapng *pcapng, uint32_t type)
{
	pcapng->used = 0;
	put32(pcapng, type);
	put32(pcapng, 0); /* length, set by block_end() */
}

static void block_end(struct pcapng *pcapng)
{
	uint32_t length = (uint32_t)pcapng->used + 4;

	le32_put(pcapng->block + 4, length);
	put32(pcapng, length);
	pcapng->written += length;
	if (fwrite(pcapng->block, 1, length, pcapng->file) != length && !pcapng->error)
		pcapng->error = errno ? errno : EIO;
}

struct pcapng *pcapng_create(const char *path)
{
	struct pcapng *pcapng = calloc(1, sizeof(*pcapng));

	if (!pcapng)
		abort();
	pcapng->file = fopen(path, "wb");
	if (!pcapng->file) {
		free(pcapng);
		return NULL;
	}
	setvbuf(pcapng->file, NULL, _IOFBF, FILE_BUFFER);
	pcapng->max_bytes = UINT64_MAX;
	pcapng->full_since = SIM_NEVER;
	block_begin(pcapng, BLOCK_SECTION);
	put32(pcapng, BYTE_ORDER_MAGIC);
	put32(pcapng, 1);                                         /* version 1.0 */
	put_bytes(pcapng, "\xff\xff\xff\xff\xff\xff\xff\xff", 8); /* section length: unknown */
	put_text_option(pcapng, OPTION_SECTION_APPLICATION, "hcasim");
	put32(pcapng, OPTION_END);
	block_end(pcapng);
	return pcapng;
}

void pcapng_limit(struct pcapng *pcapng, uint32_t snap, uint64_t max_bytes)
{
	pcapng->snap = snap;
	pcapng->max_bytes = max_bytes;
}

int pcapng_destroy(struct pcapng *pcapng)
{
	int error = pcapng->error;

	if (fclose(pcapng->file) != 0 && !error)
		error = errno;
	free(pcapng);
	return error;
}

uint32_t pcapng_interface_add(struct pcapng *pcapng, const char *name, enum link_layer link_layer)
{
	uint8_t resolution = TIME_RESOLUTION;

	assert(pcapng->interface_count < INTERFACES_MAX);
	block_begin(pcapng, BLOCK_INTERFACE);
	put32(pcapng, link_layer == LINK_ETHERNET ? LINKTYPE_ETHERNET : LINKTYPE_ERF);
	put32(pcapng, pcapng->snap); /* 0: no limit of a packet's length */
	put_text_option(pcapng, OPTION_INTERFACE_NAME, name);
	put_option(pcapng, OPTION_INTERFACE_RESOLUTION, &resolution, 1);
	put32(pcapng, OPTION_END);
	block_end(pcapng);
	pcapng->link_layers[pcapng->interface_count] = (uint8_t)link_layer;
	return pcapng->interface_count++;
}

/* Writes the packet after its ERF header. Returns the length of both. */
static size_t erf_record_build(uint32_t interface, sim_time at, const struct packet *packet,
			       uint8_t *bytes)
{
	size_t length = codec_build(packet, bytes + ERF_BYTES, PACKET_BYTES_MAX);
	enum erf_type type = ERF_INFINIBAND;

	if (packet->kind == PACKET_FLOW_CONTROL) {
		type = ERF_INFINIBAND_LINK;
		memset(bytes + ERF_BYTES + length, 0, ERF_LINK_BYTES - length);
		length = ERF_LINK_BYTES;
	}
	erf_build(type, interface, at, length, bytes);
	return ERF_BYTES + length;
}

static bool carries_fields(const struct packet *packet)
{
	return packet->kind == PACKET_DATA && packet->has_fields;
}

/* Writes the fields of a congestion control that a packet has outside its bytes. */
static void put_fields(struct pcapng *pcapng, const struct packet *packet)
{
	const uint32_t *words = packet->congestion.words;
	char text[FIELDS_TEXT_BYTES];

	if (!carries_fields(packet))
		return;
	snprintf(text, sizeof(text), FIELDS_FORMAT, words[0], words[1], words[2], words[3]);
	put_option(pcapng, OPTION_COMMENT, text, strlen(text));
}

void pcapng_write(struct pcapng *pcapng, uint32_t interface, sim_time at,
		  const struct packet *packet, const char *comment)
{
	uint64_t nanoseconds = at / NS;
	uint8_t *lengths, *bytes;
	size_t length, kept;

	assert(interface < pcapng->interface_count);
	if (pcapng->full_since != SIM_NEVER)
		return;
	block_begin(pcapng, BLOCK_PACKET);
	put32(pcapng, interface);
	put32(pcapng, (uint32_t)(nanoseconds >> 32));
	put32(pcapng, (uint32_t)nanoseconds);
	lengths = pcapng->block + pcapng->used;
	bytes = lengths + 8;
	length = pcapng->link_layers[interface] == LINK_ETHERNET
			 ? codec_build(packet, bytes, PACKET_BYTES_MAX)
			 : erf_record_build(interface, at, packet, bytes);
	kept = pcapng->snap && pcapng->snap < length ? pcapng->snap : length;
	if (pcapng->written + pcapng->used + kept + BLOCK_REST > pcapng->max_bytes) {
		pcapng->full_since = at;
		return;
	}
	put32(pcapng, (uint32_t)kept);   /* captured bytes */
	put32(pcapng, (uint32_t)length); /* bytes of the packet */
	memset(bytes + kept, 0, -kept & 3);
	pcapng->used += (kept + 3) & ~(size_t)3;
	put_fields(pcapng, packet);
	if (comment)
		put_text_option(pcapng, OPTION_COMMENT, comment);
	if (comment || carries_fields(packet))
		put32(pcapng, OPTION_END);
	block_end(pcapng);
	pcapng->packets++;
}

uint64_t pcapng_packets(const struct pcapng *pcapng)
{
	return pcapng->packets;
}

sim_time pcapng_full_since(const struct pcapng *pcapng)
{
	return pcapng->full_since;
}
