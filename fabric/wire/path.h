/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path: the header fields that are the same in all packets between two ports: addresses, service
 * level, traffic class, UDP source port. Paths are interned: equal paths are one object that lives
 * as long as the run. A packet carries one pointer, and switches forward by `destination`.
 *
 * LRH and GRH: IBTA vol. 1, 7.7 and 8.3. RoCEv2: IBTA annex A17 (UDP destination port 4791). A path
 * of TCP segments has the same fields and the two ports of the connection.
 */
#ifndef FABRIC_WIRE_PATH_H
#define FABRIC_WIRE_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum link_layer { LINK_INFINIBAND, LINK_ETHERNET };
enum roce_version { ROCE_NONE, ROCE_V1, ROCE_V2_IPV4, ROCE_V2_IPV6 };

#define NO_ENDPOINT UINT32_MAX

/* clang-format off */
struct path {
	/* endpoint (HCA port) numbers, which the fabric sets; NO_ENDPOINT for an unknown address */
	uint32_t source;
	uint32_t destination; /* endpoint of the destination address */
	uint8_t link_layer;   /* enum link_layer */
	/* enum roce_version; a path of TCP: ROCE_V2_IPV4 or ROCE_V2_IPV6, the IP version */
	uint8_t roce_version;
	bool has_grh;         /* InfiniBand: GRH present; RoCE: always true */
	uint8_t service_level; /* InfiniBand SL; RoCE: PCP */
	uint16_t slid, dlid;   /* InfiniBand */
	uint8_t sgid[16], dgid[16]; /* GRH or IP; IPv4 as ::ffff:a.b.c.d */
	uint8_t smac[6], dmac[6];   /* Ethernet */
	uint8_t traffic_class;      /* GRH TClass or IP DSCP<<2; the packet has the ECN bits */
	uint8_t hop_limit;
	uint16_t udp_source_port; /* RoCEv2 */
	uint16_t vlan;            /* 802.1Q tag control, 0 if untagged; see path_vlan_tag() */
	/* ports of a path of TCP or of a program's UDP; 0 for RDMA */
	uint16_t tcp_source_port, tcp_destination_port;
	uint32_t flow_label;
};
/* clang-format on */

/* Returns the tag control on the wire, or 0 without a tag. If `vlan` has no PCP, the service level
 * is the PCP. */
static inline uint16_t path_vlan_tag(const struct path *path)
{
	if (!path->vlan)
		return 0;
	return (uint16_t)(path->vlan | path->service_level << 13);
}

static inline bool path_is_tcp(const struct path *path)
{
	return path->tcp_destination_port != 0;
}

#define PATH_FLOW_LABEL_MASK 0xfffffU

/* RoCEv2: return the flow label that Linux gives a connection of two queue pairs without one.
 * Return the UDP source port, 49152 or more, that Linux derives from a flow label
 * (include/rdma/ib_verbs.h). ECMP hashes then see real values. */
uint32_t path_flow_label(uint32_t one, uint32_t other);
uint16_t path_udp_source_port(uint32_t flow_label);

struct paths;

struct paths *paths_create(void); /* creates an empty set */
void paths_destroy(struct paths *paths);

/* Returns the interned path that equals *path byte for byte. Set the struct to zero before filling
 * it. The result lives until paths_destroy(). */
const struct path *path_intern(struct paths *paths, const struct path *path);

/* Returns the path of responses to a packet of *path. */
const struct path *path_reverse(struct paths *paths, const struct path *path);
size_t paths_count(const struct paths *paths);

/* Return the number of an interned path, in the order in which paths were interned, and the path
 * with a number. */
#define NO_PATH UINT32_MAX
uint32_t path_number(const struct paths *paths, const struct path *path);
const struct path *path_numbered(const struct paths *paths, uint32_t number);

/* Return the bytes before the BTH or TCP header (LRH [GRH] | Ethernet [GRH | IP [UDP]]). Return the
 * bytes after the payload's pad (ICRC + VCRC | [ICRC] FCS). */
uint32_t path_header_bytes(const struct path *path);
uint32_t path_trailer_bytes(const struct path *path);

#endif
