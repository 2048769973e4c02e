/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip: the IPv4 or IPv6 header of a TCP segment, and the IP and UDP headers (port 4791) of a RoCEv2
 * packet. RFC 791, 8200, 768; IBTA annex A17.3.
 */
#ifndef FABRIC_WIRE_IP_H
#define FABRIC_WIRE_IP_H

#include "fabric/wire/packet.h"
#include "fabric/wire/parse_status.h"

#define UDP_BYTES        8
#define ROCE_V2_UDP_PORT 4791

enum ip_protocol { IP_IGMP = 2, IP_TCP = 6, IP_UDP = 17, IP_GRE = 47 };

/* Writes the IP header. payload_bytes is the length after it. Returns the length of the header. */
size_t ip_build(const struct packet *packet, enum ip_protocol protocol, size_t payload_bytes,
		uint8_t *bytes);

/* Parses the IP header, whose version path->roce_version selects. *protocol is the protocol after
 * the header. */
enum parse_status ip_parse(const uint8_t *bytes, size_t length, struct packet *packet,
			   struct path *path, uint8_t *protocol, size_t *header_bytes,
			   size_t *payload_bytes);

/* Returns the source and destination address of an IP header. */
const uint8_t *ip_addresses(const struct path *path, const uint8_t *bytes, size_t *address_bytes);

/* Writes the UDP header. payload_bytes is the length from BTH to ICRC. Returns the length of the
 * header. */
size_t ip_build_udp(const struct path *path, size_t payload_bytes, uint8_t *bytes);

/* Parses the UDP header. `ip` points to the IP header, `udp` to the datagram of `length` bytes.
 * Returns PARSE_NOT_RDMA for another port. */
enum parse_status ip_parse_udp(const uint8_t *ip, const uint8_t *udp, size_t length,
			       struct path *path, size_t *payload_bytes);

/* Adds the bytes to the ones' complement sum of RFC 1071. `sum` is 0 at first. The caller
 * complements the result. */
uint32_t ip_sum(const uint8_t *bytes, size_t length, uint32_t sum);

#endif
