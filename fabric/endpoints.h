/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoints: who is on the fabric: one entry a HCA port, with its addresses. It stands for what a subnet
 * manager or ARP would have told everybody.
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
	uint16_t lid;  /* InfiniBand, IBTA vol. 1, 4.1.3; 0 in Ethernet */
	uint64_t guid; /* of the port: IBTA vol. 1, 4.1 */
	uint8_t mac[6];
	uint8_t ipv4[4]; /* RoCE: the address of its network interface */
	/* InfiniBand: 0 only. RoCE: v1 and v2 of the IPv6 link-local, v1 and v2 of IPv4. */
	struct endpoint_gid gids[ENDPOINT_GIDS];
	uint32_t gid_count;
	const struct partitions *partitions;
	void *manager; /* who answers requests for connections there; NULL: nobody */
};

struct endpoints;

struct endpoints *endpoints_create(void); /* nobody; with it, no groups and no paths */
void endpoints_destroy(struct endpoints *endpoints);

/* Makes up the addresses of the next port from its number: LIDs from 1, GUID 0x0002c90300000000 + number, MAC from the GUID,
 * IPv4 as given, GIDs as above. Returns its number. */
uint32_t endpoints_add(struct endpoints *endpoints, const char *name, enum link_layer link_layer,
		       const uint8_t ipv4[4]);

/* In place of the default partition alone; they outlive the endpoints. */
void endpoints_set_partitions(struct endpoints *endpoints, uint32_t number,
			      const struct partitions *partitions);

/* Who answers requests for connections at that port (struct endpoint, manager). */
void endpoints_set_manager(struct endpoints *endpoints, uint32_t number, void *manager);

/* Numbers are 0 .. count - 1. */
uint32_t endpoints_count(const struct endpoints *endpoints);
const struct endpoint *endpoints_get(const struct endpoints *endpoints, uint32_t number);

/* The number of the port with that LID or GID; NO_ENDPOINT: nobody has it. */
uint32_t endpoints_by_lid(const struct endpoints *endpoints, uint16_t lid);
uint32_t endpoints_by_gid(const struct endpoints *endpoints, const uint8_t gid[16]);

/* Of multicast: none unless added. */
struct groups *endpoints_groups(struct endpoints *endpoints);

/* From one to another, as connections go; RoCE: by the last of their GIDs, version 2 over IPv4. The caller interns it. */
struct path endpoints_path(const struct endpoints *endpoints, uint32_t from, uint32_t to,
			   unsigned service_level, unsigned hop_limit, uint16_t udp_source_port);

/* How they are joined, which they do not outlive: for endpoints_trip(). */
struct topology;
void endpoints_set_topology(struct endpoints *endpoints, struct topology *topology);

/* topology_trip(); SIM_NEVER: nobody has said how they are joined, too. */
sim_time endpoints_trip(const struct endpoints *endpoints, uint32_t from, uint32_t to,
			uint32_t wire_bytes);

/* Where paths between them are interned. */
struct paths *endpoints_paths(struct endpoints *endpoints);

#endif
