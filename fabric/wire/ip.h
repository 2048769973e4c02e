/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip: IPv4 or IPv6, and UDP to port 4791, around a RoCEv2 packet. RFC 791, 8200, 768; IBTA annex A17.3.
 */
#ifndef FABRIC_WIRE_IP_H
#define FABRIC_WIRE_IP_H

#include "fabric/wire/packet.h"
#include "fabric/wire/parse_status.h"

#define UDP_BYTES        8
#define ROCE_V2_UDP_PORT 4791

/* Both headers, IP and UDP; payload_bytes: BTH to ICRC. Bytes written. */
size_t ip_build(const struct packet *packet, size_t payload_bytes, uint8_t *bytes);

/* path->roce_version says which IP. NOT_RDMA: other protocol or port. */
enum parse_status ip_parse(const uint8_t *bytes, size_t length, struct packet *packet,
			   struct path *path, size_t *header_bytes, size_t *payload_bytes);

/* The ones' complement sum of RFC 1071 over the bytes, added to `sum` (0 at first), not yet complemented. */
uint32_t ip_sum(const uint8_t *bytes, size_t length, uint32_t sum);

#endif
