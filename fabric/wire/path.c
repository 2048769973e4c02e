/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path: the set of paths of a run, an open-addressing hash over their bytes, and the lengths of
 * their headers. A long run has two paths for each flow: they are stored in chunks, and the hash
 * has their numbers.
 */
#include "fabric/wire/path.h"
#include "sim/hash.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_FIRST     256
#define PATHS_PER_CHUNK 64u

struct paths {
	/* number of a path + 1, or 0; a power of two of slots, at most three of four in use */
	uint32_t *slots;
	size_t slot_count;
	uint32_t used;
	struct path **chunks; /* paths do not move */
};

struct paths *paths_create(void)
{
	struct paths *paths = calloc(1, sizeof(*paths));

	if (!paths)
		abort();
	paths->slot_count = SLOTS_FIRST;
	paths->slots = calloc(paths->slot_count, sizeof(paths->slots[0]));
	if (!paths->slots)
		abort();
	return paths;
}

void paths_destroy(struct paths *paths)
{
	for (uint32_t i = 0; i < paths->used; i += PATHS_PER_CHUNK)
		free(paths->chunks[i / PATHS_PER_CHUNK]);
	free(paths->chunks);
	free(paths->slots);
	free(paths);
}

static struct path *path_at(const struct paths *paths, uint32_t number)
{
	return &paths->chunks[number / PATHS_PER_CHUNK][number % PATHS_PER_CHUNK];
}

static uint32_t *slot_find(const struct paths *paths, const struct path *path)
{
	size_t mask = paths->slot_count - 1;
	size_t slot = hash_bytes(HASH_BEGIN, path, sizeof(*path)) & mask;

	while (paths->slots[slot] &&
	       memcmp(path_at(paths, paths->slots[slot] - 1), path, sizeof(*path)) != 0)
		slot = (slot + 1) & mask;
	return &paths->slots[slot];
}

static void paths_grow(struct paths *paths)
{
	uint32_t *old = paths->slots;
	size_t old_count = paths->slot_count;

	paths->slot_count *= 2;
	paths->slots = calloc(paths->slot_count, sizeof(paths->slots[0]));
	if (!paths->slots)
		abort();
	for (size_t i = 0; i < old_count; i++)
		if (old[i])
			*slot_find(paths, path_at(paths, old[i] - 1)) = old[i];
	free(old);
}

static void add_chunk(struct paths *paths)
{
	uint32_t chunk = paths->used / PATHS_PER_CHUNK;

	paths->chunks = realloc(paths->chunks, (chunk + 1) * sizeof(paths->chunks[0]));
	if (!paths->chunks)
		abort();
	paths->chunks[chunk] = malloc(PATHS_PER_CHUNK * sizeof(struct path));
	if (!paths->chunks[chunk])
		abort();
}

const struct path *path_intern(struct paths *paths, const struct path *path)
{
	uint32_t *slot = slot_find(paths, path);
	struct path *made;

	if (*slot)
		return path_at(paths, *slot - 1);
	if (4 * ((size_t)paths->used + 1) > 3 * paths->slot_count) {
		paths_grow(paths);
		slot = slot_find(paths, path);
	}
	if (paths->used % PATHS_PER_CHUNK == 0)
		add_chunk(paths);
	made = path_at(paths, paths->used++);
	memcpy(made, path, sizeof(*made)); /* including padding, because equality is by bytes */
	*slot = paths->used;
	return made;
}

const struct path *path_reverse(struct paths *paths, const struct path *path)
{
	struct path back;

	memcpy(&back, path, sizeof(back)); /* including padding */
	back.source = path->destination;
	back.destination = path->source;
	back.slid = path->dlid;
	back.dlid = path->slid;
	memcpy(back.sgid, path->dgid, sizeof(back.sgid));
	memcpy(back.dgid, path->sgid, sizeof(back.dgid));
	memcpy(back.smac, path->dmac, sizeof(back.smac));
	memcpy(back.dmac, path->smac, sizeof(back.dmac));
	back.tcp_source_port = path->tcp_destination_port;
	back.tcp_destination_port = path->tcp_source_port;
	return path_intern(paths, &back);
}

uint32_t path_number(const struct paths *paths, const struct path *path)
{
	uint32_t number = *slot_find(paths, path);

	assert(number);
	return number - 1;
}

const struct path *path_numbered(const struct paths *paths, uint32_t number)
{
	assert(number < paths->used);
	return path_at(paths, number);
}

size_t paths_count(const struct paths *paths)
{
	return paths->used;
}

uint32_t path_flow_label(uint32_t one, uint32_t other)
{
	uint64_t mixed = (uint64_t)one * other;

	mixed ^= mixed >> 20;
	mixed ^= mixed >> 40;
	return (uint32_t)(mixed & PATH_FLOW_LABEL_MASK);
}

uint16_t path_udp_source_port(uint32_t flow_label)
{
	return (uint16_t)(((flow_label & 0x3fff) ^ (flow_label >> 14)) | 0xc000);
}

/* clang-format off */
static const uint8_t network_bytes[] = { /* after the Ethernet header */
	[ROCE_V1]      = 40, /* GRH */
	[ROCE_V2_IPV4] = 20, /* IP */
	[ROCE_V2_IPV6] = 40,
};
#define UDP_BYTES 8
/* clang-format on */

uint32_t path_header_bytes(const struct path *path)
{
	if (path->link_layer == LINK_INFINIBAND)
		return 8 + (path->has_grh ? 40u : 0u);
	assert(path->roce_version != ROCE_NONE && path->roce_version <= ROCE_V2_IPV6);
	return 14 + (path_vlan_tag(path) ? 4u : 0u) + network_bytes[path->roce_version] +
	       (path->roce_version != ROCE_V1 && !path_is_tcp(path) ? UDP_BYTES : 0u);
}

uint32_t path_trailer_bytes(const struct path *path)
{
	if (path_is_tcp(path))
		return 4;
	return path->link_layer == LINK_INFINIBAND ? 4 + 2 : 4 + 4;
}
