/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec: converts a struct packet to the bytes on the wire and back. Only code that needs bytes
 * calls it: the pcapng writer, hcasim decode, faults that flip bits, tests.
 *
 *     InfiniBand   LRH [GRH]           BTH extended headers payload pad ICRC VCRC
 *     RoCEv1       Ethernet GRH        BTH extended headers payload pad ICRC
 *     RoCEv2       Ethernet IP UDP     BTH extended headers payload pad ICRC
 *     TCP          Ethernet IP         TCP with options payload
 *
 * Ethernet frames have no FCS and no padding to the minimum length, as in captures. A packet of 6
 * bytes on InfiniBand is a flow control packet. A MAC control frame on Ethernet is PFC.
 */
#ifndef FABRIC_WIRE_CODEC_H
#define FABRIC_WIRE_CODEC_H

#include "fabric/wire/packet.h"
#include "fabric/wire/parse_status.h"
#include "fabric/wire/tcp_packet.h"

/* Largest packet: Ethernet with tag, IPv6, the longest TCP header, payload. */
#define PACKET_BYTES_MAX (18 + 40 + TCP_HEADER_BYTES_MAX + TCP_PAYLOAD_MAX)

/*
 * Writes the packet's bytes and returns their number; `size` must be enough for them. A payload
 * without bytes is written as zeros. A damaged packet gets a wrong ICRC, VCRC or TCP checksum. A
 * PACKET_RAW has only payload bytes, which are written unchanged.
 */
size_t codec_build(const struct packet *packet, uint8_t *bytes, size_t size);

/*
 * Fills *packet and *path from bytes, and sets packet->path to `path`. Endpoint numbers are not
 * set. The caller may set packet->payload to receive the payload, of TCP at most PAYLOAD_MAX bytes.
 * All other fields of *packet are reset. packet->damage reports a wrong ICRC or VCRC, also for an
 * unknown opcode. A capture may lack the VCRC. Bytes after the packet (padding, FCS) are ignored.
 */
enum parse_status codec_parse(const uint8_t *bytes, size_t length, enum link_layer link_layer,
			      struct packet *packet, struct path *path);

/*
 * Parses a packet of `whole` bytes, of which the capture has only the first `length`. If all
 * headers are there, returns the result for the whole packet, and does not check CRCs and
 * checksums. Otherwise returns the result of codec_parse() for `length` bytes. packet->payload is
 * NULL.
 */
enum parse_status codec_parse_cut(const uint8_t *bytes, size_t length, size_t whole,
				  enum link_layer link_layer, struct packet *packet,
				  struct path *path);

#endif
