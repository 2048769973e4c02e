/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoints: the HCA ports of the fabric and their addresses. It replaces the messages of a subnet
 * manager or of ARP.
 */
#ifndef FABRIC_ENDPOINTS_H
#define FABRIC_ENDPOINTS_H

#include "fabric/groups.h"
#include "fabric/partition.h"
#include "fabric/wire/path.h"
#include "sim/sim.h"

#define ENDPOINT_GIDS 4

struct endpoint_gid {
	uint8_t bytes[16];
	uint8_t roce_version; /* enum roce_version; ROCE_NONE on InfiniBand */
};

struct endpoint {
	char name[32]; /* "host0" */
	uint8_t link_layer;
	uint16_t lid;  /* InfiniBand, IBTA vol. 1, 4.1.3; 0 on Ethernet */
	uint64_t guid; /* port GUID: IBTA vol. 1, 4.1 */
	uint8_t mac[6];
	uint8_t ipv4[4]; /* RoCE: address of the network interface */
	/* InfiniBand has index 0 only. The order of RoCE is v1 and v2 of the IPv6 link-local
	 * address, then v1 and v2 of IPv4. */
	struct endpoint_gid gids[ENDPOINT_GIDS];
	uint32_t gid_count;
	const struct partitions *partitions;
	void *manager; /* answers connection requests at this port; may be NULL */
};

struct endpoints;

struct endpoints *endpoints_create(void); /* creates an empty set, without groups and paths */
void endpoints_destroy(struct endpoints *endpoints);

/* Adds a port and returns its number. The addresses follow from the number: LIDs from 1, GUID
 * 0x0002c90300000000 + number, MAC from the GUID, IPv4 as given, GIDs as above. */
uint32_t endpoints_add(struct endpoints *endpoints, const char *name, enum link_layer link_layer,
		       const uint8_t ipv4[4]);

/* Replaces the default partition of a port. The partitions must outlive the endpoints. */
void endpoints_set_partitions(struct endpoints *endpoints, uint32_t number,
			      const struct partitions *partitions);

/* Sets the manager of a port (struct endpoint), which answers connection requests. */
void endpoints_set_manager(struct endpoints *endpoints, uint32_t number, void *manager);

/* Numbers are 0 .. count - 1. */
uint32_t endpoints_count(const struct endpoints *endpoints);
const struct endpoint *endpoints_get(const struct endpoints *endpoints, uint32_t number);

/* Return the number of the port with a LID or GID, or NO_ENDPOINT. */
uint32_t endpoints_by_lid(const struct endpoints *endpoints, uint16_t lid);
uint32_t endpoints_by_gid(const struct endpoints *endpoints, const uint8_t gid[16]);

/* Returns the multicast groups, which are empty at first. */
struct groups *endpoints_groups(struct endpoints *endpoints);

/* Returns the path of a connection from one port to another. RoCE uses the last GID of both ports,
 * which is version 2 over IPv4. The caller interns the path. */
struct path endpoints_path(const struct endpoints *endpoints, uint32_t from, uint32_t to,
			   unsigned service_level, unsigned hop_limit, uint16_t udp_source_port);

/* Sets the topology for endpoints_trip(). It must outlive the endpoints. */
struct topology;
void endpoints_set_topology(struct endpoints *endpoints, struct topology *topology);

/* Returns topology_trip(), or SIM_NEVER if no topology is set. */
sim_time endpoints_trip(const struct endpoints *endpoints, uint32_t from, uint32_t to,
			uint32_t wire_bytes);

/* Returns the table of interned paths. */
struct paths *endpoints_paths(struct endpoints *endpoints);

#endif
