/* SPDX-License-Identifier: Apache-2.0 */
/* passages: see passages.h. */
#include "hcasim/report/passages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/wire/capture.h"
#include "fabric/wire/codec.h"
#include "sim/input.h"

#define HOST_PORT ".hca.port"

/* Reads a whole file. Returns NULL and sets errno on failure. */
static uint8_t *read_file(const char *path, size_t *length)
{
	FILE *in = input_open(path);
	uint8_t *bytes = NULL;
	if (!in)
		return NULL;
	if (fseek(in, 0, SEEK_END) == 0) {
		long size = ftell(in);
		rewind(in);
		bytes = malloc((size_t)size + 1);
		if (!bytes)
			abort();
		*length = fread(bytes, 1, (size_t)size, in);
	}
	fclose(in);
	return bytes;
}

/* Returns the address of either end as a number. Two addresses of a run have the same number with a
 * probability of 10^-19. */
static uint64_t address_of(const struct path *path, bool source)
{
	const uint8_t *gid = source ? path->sgid : path->dgid;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	if (path->link_layer == LINK_INFINIBAND)
		return source ? path->slid : path->dlid;
	for (size_t i = 0; i < sizeof(path->sgid); i++)
		hash = (hash ^ gid[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static size_t port_of(struct passages *all, const char *name)
{
	size_t port = 0;
	while (port < all->port_count && strcmp(all->ports[port], name) != 0)
		port++;
	if (port < all->port_count)
		return port;
	all->ports = realloc(all->ports, (port + 1) * sizeof(*all->ports));
	all->addresses = realloc(all->addresses, (port + 1) * sizeof(*all->addresses));
	if (!all->ports || !all->addresses || !(all->ports[port] = strdup(name)))
		abort();
	all->addresses[port] = 0;
	return all->port_count++;
}

static bool is_host_port(const char *name)
{
	size_t length = strlen(name), tail = strlen(HOST_PORT);
	return length > tail && strcmp(name + length - tail, HOST_PORT) == 0;
}

static void add(struct passages *all, const struct passage *passage)
{
	if (all->count == all->room) {
		all->room = all->room ? 2 * all->room : 1024;
		all->list = realloc(all->list, all->room * sizeof(*all->list));
		if (!all->list)
			abort();
	}
	all->list[all->count++] = *passage;
}

/* Headers are enough here. */
static enum parse_status parse(const struct capture_record *record, struct packet *packet,
			       struct path *path)
{
	if (!record->readable)
		return PARSE_NOT_RDMA;
	return codec_parse_cut(record->bytes, record->length, record->whole, record->link_layer,
			       packet, path);
}

static void read_record(struct passages *all, const struct capture_record *record)
{
	struct packet packet = {0};
	struct path path = {0};
	enum parse_status status = parse(record, &packet, &path);
	struct passage passage = {
		.at_ns = record->seconds * UINT64_C(1000000000) + record->nanoseconds,
		.port = (uint32_t)port_of(all, record->interface_name),
		.dest_qp = packet.dest_qp,
		.psn = packet.psn,
		.payload_bytes = packet.payload_bytes,
		.msn = packet.msn,
		.opcode = packet.opcode,
		.syndrome = packet.syndrome,
		.pause = packet.kind == PACKET_PFC,
		.marked = packet.ecn == ECN_CE,
		.becn = packet.becn,
	};
	all->cut += record->cut;
	all->too_short += record->cut && status == PARSE_TRUNCATED;
	if (status != PARSE_OK || (packet.kind != PACKET_DATA && packet.kind != PACKET_PFC))
		return;
	for (unsigned i = 0; passage.pause && i < 8; i++)
		passage.pause_enable |=
			(uint8_t)((packet.pause_enable >> i & 1 && packet.pause_quanta[i] > 0)
				  << i);
	if (!passage.pause) {
		passage.source = address_of(&path, true);
		passage.destination = address_of(&path, false);
		if (is_host_port(record->interface_name) && all->addresses[passage.port] == 0)
			all->addresses[passage.port] = passage.source;
	}
	add(all, &passage);
}

bool passages_read(struct passages *all, const char *path, char *error, size_t error_bytes)
{
	size_t length = 0;
	uint8_t *bytes = read_file(path, &length);
	struct capture *capture = bytes ? capture_create(bytes, length) : NULL;
	struct capture_record record;
	enum capture_status status = CAPTURE_BROKEN;
	*all = (struct passages){0};
	*error = '\0';
	if (!bytes)
		snprintf(error, error_bytes, "%s: %s", path, input_error());
	else if (!capture)
		snprintf(error, error_bytes, "%s: neither a pcap nor a pcapng file", path);
	while (capture && (status = capture_next(capture, &record)) == CAPTURE_RECORD)
		read_record(all, &record);
	if (capture && status == CAPTURE_BROKEN)
		snprintf(error, error_bytes, "%s: %s", path, capture_error(capture));
	capture_destroy(capture);
	free(bytes);
	return *error == '\0';
}

void passages_free(struct passages *all)
{
	for (size_t i = 0; i < all->port_count; i++)
		free(all->ports[i]);
	free(all->ports);
	free(all->addresses);
	free(all->list);
}

size_t passages_host_port(const struct passages *all, const char *host)
{
	size_t port = 0, length = strlen(host);
	while (port < all->port_count && (strncmp(all->ports[port], host, length) != 0 ||
					  strcmp(all->ports[port] + length, HOST_PORT) != 0))
		port++;
	return port;
}

size_t passages_find_address(const struct passages *all, uint64_t address)
{
	size_t port = 0;
	while (port < all->port_count && all->addresses[port] != address)
		port++;
	return port;
}
