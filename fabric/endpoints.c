/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoints: see endpoints.h. Addresses depend on the endpoint's number only, so a scenario has the
 * same bytes on the wire in each run. The GID table has the order of Linux: the default (IPv6
 * link-local) GID for each RoCE version, then the interface's IPv4 address for each version.
 */
#include "fabric/endpoints.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/topology.h"

#define GUID_BASE UINT64_C(0x0002c90300000000)
#define LID_UNICAST \
	0xbfff /* last unicast LID; multicast and the permissive LID follow: IBTA vol. 1, 4.1.3 */

struct endpoints {
	struct paths *paths;
	struct groups *groups;
	struct topology *topology; /* NULL if it is not set */
	struct endpoint **list;    /* by number; endpoints do not move */
	uint32_t count, room;
	uint32_t *by_gid; /* open hashing: number + 1, or 0 if free */
	uint32_t slots;   /* a power of two, at least twice the GIDs */
};

static uint32_t hash_gid(const uint8_t gid[16])
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (unsigned i = 0; i < 16; i++)
		hash = (hash ^ gid[i]) * 16777619u;
	return hash ^ hash >> 15;
}

static bool has_gid(const struct endpoint *endpoint, const uint8_t gid[16])
{
	for (uint32_t i = 0; i < endpoint->gid_count; i++)
		if (memcmp(endpoint->gids[i].bytes, gid, 16) == 0)
			return true;
	return false;
}

/* Returns the slot of the endpoint with that GID, or the free slot for it. */
static uint32_t *find_slot(const struct endpoints *endpoints, const uint8_t gid[16])
{
	uint32_t at = hash_gid(gid) & (endpoints->slots - 1);

	while (endpoints->by_gid[at] && !has_gid(endpoints->list[endpoints->by_gid[at] - 1], gid))
		at = (at + 1) & (endpoints->slots - 1);
	return &endpoints->by_gid[at];
}

static void enter_gids(struct endpoints *endpoints, uint32_t number)
{
	const struct endpoint *endpoint = endpoints->list[number];

	for (uint32_t i = 0; i < endpoint->gid_count; i++) {
		uint32_t *slot = find_slot(endpoints, endpoint->gids[i].bytes);

		if (!*slot) /* a duplicate address belongs to its first owner */
			*slot = number + 1;
	}
}

static void grow(struct endpoints *endpoints)
{
	endpoints->room = endpoints->room ? endpoints->room * 2 : 16;
	endpoints->slots = endpoints->room * 2 * ENDPOINT_GIDS;
	endpoints->list = realloc(endpoints->list, endpoints->room * sizeof(endpoints->list[0]));
	free(endpoints->by_gid);
	endpoints->by_gid = calloc(endpoints->slots, sizeof(endpoints->by_gid[0]));
	assert(endpoints->list && endpoints->by_gid);
	for (uint32_t number = 0; number < endpoints->count; number++)
		enter_gids(endpoints, number);
}

static void add_gid(struct endpoint *endpoint, const uint8_t prefix[8], const uint8_t id[8],
		    enum roce_version version)
{
	struct endpoint_gid *gid = &endpoint->gids[endpoint->gid_count++];

	memcpy(gid->bytes, prefix, 8);
	memcpy(gid->bytes + 8, id, 8);
	gid->roce_version = (uint8_t)version;
}

static const uint8_t link_local[8] = {0xfe, 0x80};
static const uint8_t mapped_ipv4[8];

static void make_infiniband(struct endpoint *endpoint, uint32_t number)
{
	uint8_t id[8];

	assert(number < LID_UNICAST);
	endpoint->lid = (uint16_t)(number + 1);
	for (unsigned i = 0; i < 8; i++)
		id[i] = (uint8_t)(endpoint->guid >> (56 - 8 * i));
	add_gid(endpoint, link_local, id, ROCE_NONE);
}

static void make_ethernet(struct endpoint *endpoint)
{
	const uint8_t *mac = endpoint->mac;
	/* the modified EUI-64 of the MAC: RFC 4291, appendix A */
	const uint8_t eui64[8] = {mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]};
	const uint8_t *ip = endpoint->ipv4;
	const uint8_t ipv4[8] = {0, 0, 0xff, 0xff, ip[0], ip[1], ip[2], ip[3]};

	add_gid(endpoint, link_local, eui64, ROCE_V1);
	add_gid(endpoint, link_local, eui64, ROCE_V2_IPV6);
	if (ip[0] | ip[1] | ip[2] | ip[3]) {
		add_gid(endpoint, mapped_ipv4, ipv4, ROCE_V1);
		add_gid(endpoint, mapped_ipv4, ipv4, ROCE_V2_IPV4);
	}
}

uint32_t endpoints_add(struct endpoints *endpoints, const char *name, enum link_layer link_layer,
		       const uint8_t ipv4[4])
{
	uint32_t number = endpoints->count;
	struct endpoint *endpoint = calloc(1, sizeof(*endpoint));

	assert(endpoint && number < 1u << 24 && strlen(name) < sizeof(endpoint->name));
	if (number == endpoints->room)
		grow(endpoints);
	memcpy(endpoint->name, name, strlen(name) + 1);
	endpoint->link_layer = (uint8_t)link_layer;
	endpoint->partitions = &partitions_default;
	endpoint->guid = GUID_BASE + number;
	for (unsigned i = 0; i < 3; i++) { /* the vendor's three bytes, and the number */
		endpoint->mac[i] = (uint8_t)(endpoint->guid >> (56 - 8 * i));
		endpoint->mac[3 + i] = (uint8_t)(endpoint->guid >> (16 - 8 * i));
	}
	if (ipv4)
		memcpy(endpoint->ipv4, ipv4, 4);
	if (link_layer == LINK_INFINIBAND)
		make_infiniband(endpoint, number);
	else
		make_ethernet(endpoint);
	endpoints->list[number] = endpoint;
	endpoints->count++;
	enter_gids(endpoints, number);
	return number;
}

void endpoints_set_partitions(struct endpoints *endpoints, uint32_t number,
			      const struct partitions *partitions)
{
	assert(number < endpoints->count && partitions->count);
	endpoints->list[number]->partitions = partitions;
}

void endpoints_set_manager(struct endpoints *endpoints, uint32_t number, void *manager)
{
	assert(number < endpoints->count);
	endpoints->list[number]->manager = manager;
}

uint32_t endpoints_count(const struct endpoints *endpoints)
{
	return endpoints->count;
}

const struct endpoint *endpoints_get(const struct endpoints *endpoints, uint32_t number)
{
	assert(number < endpoints->count);
	return endpoints->list[number];
}

uint32_t endpoints_by_lid(const struct endpoints *endpoints, uint16_t lid)
{
	uint32_t number = (uint32_t)lid - 1;

	if (lid == 0 || number >= endpoints->count || endpoints->list[number]->lid != lid)
		return NO_ENDPOINT;
	return number;
}

uint32_t endpoints_by_gid(const struct endpoints *endpoints, const uint8_t gid[16])
{
	return endpoints->slots ? *find_slot(endpoints, gid) - 1 : NO_ENDPOINT;
}

struct path endpoints_path(const struct endpoints *endpoints, uint32_t from, uint32_t to,
			   unsigned service_level, unsigned hop_limit, uint16_t udp_source_port)
{
	const struct endpoint *source = endpoints_get(endpoints, from);
	const struct endpoint *target = endpoints_get(endpoints, to);
	bool roce = source->link_layer == LINK_ETHERNET;
	unsigned gid = roce ? target->gid_count - 1 : 0;
	struct path path;

	memset(&path, 0, sizeof(path));
	path.source = from;
	path.destination = to;
	path.link_layer = source->link_layer;
	path.roce_version = target->gids[gid].roce_version;
	path.has_grh = roce;
	path.service_level = (uint8_t)service_level;
	path.slid = source->lid;
	path.dlid = target->lid;
	path.hop_limit = (uint8_t)hop_limit;
	path.udp_source_port = roce ? udp_source_port : 0;
	memcpy(path.sgid, source->gids[gid].bytes, sizeof(path.sgid));
	memcpy(path.dgid, target->gids[gid].bytes, sizeof(path.dgid));
	memcpy(path.smac, source->mac, sizeof(path.smac));
	memcpy(path.dmac, target->mac, sizeof(path.dmac));
	return path;
}

struct paths *endpoints_paths(struct endpoints *endpoints)
{
	return endpoints->paths;
}

struct groups *endpoints_groups(struct endpoints *endpoints)
{
	return endpoints->groups;
}

struct endpoints *endpoints_create(void)
{
	struct endpoints *endpoints = calloc(1, sizeof(*endpoints));

	assert(endpoints);
	endpoints->paths = paths_create();
	endpoints->groups = groups_create();
	return endpoints;
}

void endpoints_destroy(struct endpoints *endpoints)
{
	for (uint32_t number = 0; number < endpoints->count; number++)
		free(endpoints->list[number]);
	free(endpoints->list);
	free(endpoints->by_gid);
	paths_destroy(endpoints->paths);
	groups_destroy(endpoints->groups);
	free(endpoints);
}

void endpoints_set_topology(struct endpoints *endpoints, struct topology *topology)
{
	endpoints->topology = topology;
}

sim_time endpoints_trip(const struct endpoints *endpoints, uint32_t from, uint32_t to,
			uint32_t wire_bytes)
{
	return endpoints->topology ? topology_trip(endpoints->topology, from, to, wire_bytes)
				   : SIM_NEVER;
}
