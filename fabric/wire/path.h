/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path: everything of a packet's headers that stays the same from one packet to the next between
 * two ports: addresses, service level, traffic class, UDP source port. Paths are interned: equal
 * paths are one object that lives as long as the run, so a packet carries one pointer, and switches
 * can forward by `destination`.
 *
 * LRH and GRH: IBTA vol. 1, 7.7 and 8.3. RoCEv2: IBTA annex A17 (UDP destination port 4791).
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
	uint32_t source;      /* endpoint (HCA port) numbers, given by the fabric; NO_ENDPOINT: nobody has */
	uint32_t destination; /* that address */
	uint8_t link_layer;   /* enum link_layer */
	uint8_t roce_version; /* enum roce_version */
	bool has_grh;         /* InfiniBand: GRH present; RoCE: always true */
	uint8_t service_level; /* InfiniBand SL; RoCE: PCP */
	uint16_t slid, dlid;   /* InfiniBand */
	uint8_t sgid[16], dgid[16]; /* GRH or IP; IPv4 as ::ffff:a.b.c.d */
	uint8_t smac[6], dmac[6];   /* Ethernet */
	uint8_t traffic_class;      /* GRH TClass or IP DSCP<<2; ECN bits are the packet's */
	uint8_t hop_limit;
	uint16_t udp_source_port; /* RoCEv2 */
	uint16_t vlan;            /* 802.1Q tag control, 0: untagged; see path_vlan_tag() */
	uint32_t flow_label;
};
/* clang-format on */

/* The tag control that goes on the wire: a PCP missing in `vlan` is the service level. 0: no tag. */
static inline uint16_t path_vlan_tag(const struct path *path)
{
	if (!path->vlan)
		return 0;
	return (uint16_t)(path->vlan | path->service_level << 13);
}

#define PATH_FLOW_LABEL_MASK 0xfffffU

/* RoCEv2, so that ECMP hashes see what they would see: the flow label that Linux gives a connection of two queue pairs that asked
 * for none, and the UDP source port, 49152 or more, that it derives from a flow label (include/rdma/ib_verbs.h). */
uint32_t path_flow_label(uint32_t one, uint32_t other);
uint16_t path_udp_source_port(uint32_t flow_label);

struct paths;

struct paths *paths_create(void); /* none */
void paths_destroy(struct paths *paths);

/* The one object equal to *path, byte for byte (zero the struct before filling it). Lives until
 * paths_destroy(). */
const struct path *path_intern(struct paths *paths, const struct path *path);

/* The return path: what responses take to a packet that came by *path. */
const struct path *path_reverse(struct paths *paths, const struct path *path);
size_t paths_count(const struct paths *paths);

/* Bytes of headers before the BTH and behind the payload's pad: LRH [GRH] | Ethernet [GRH | IP
 * UDP], and ICRC + VCRC | FCS. */
uint32_t path_header_bytes(const struct path *path);
uint32_t path_trailer_bytes(const struct path *path);

#endif
