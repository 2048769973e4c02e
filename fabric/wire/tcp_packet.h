/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_packet: a TCP segment as a packet of kind PACKET_TCP. The packet's path has the ports of the
 * header, and the packet has the other fields. codec.c and code that carries the segments of tcp/
 * over the fabric use these functions.
 */
#ifndef FABRIC_WIRE_TCP_PACKET_H
#define FABRIC_WIRE_TCP_PACKET_H

#include "fabric/wire/packet.h"

/* Payload of a segment without options in the largest frame: MTU 9216 less IPv4 and TCP header. */
#define TCP_PAYLOAD_MAX (9216 - 20 - TCP_HEADER_BYTES)

/* Sets the kind PACKET_TCP and the header fields. The caller sets path, ECN field and payload. */
void tcp_packet_set(struct packet *packet, const struct tcp_header *header);

/* Returns the header, with the ports of the path. */
void tcp_packet_header(const struct packet *packet, struct tcp_header *header);

/* Returns the length of header and payload. */
uint32_t tcp_packet_bytes(const struct packet *packet);

/* Writes header and payload with their checksum, after the IP header at `ip`. Returns the
 * length. */
size_t tcp_packet_build(const struct packet *packet, const uint8_t *ip, uint8_t *bytes);

/* Fills packet and path from the `length` bytes of a segment, after the IP header at `ip`. */
enum parse_status tcp_packet_parse(const uint8_t *ip, const uint8_t *bytes, size_t length,
				   struct packet *packet, struct path *path);

#endif
