/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec: a struct packet as the bytes of the wire and back. Only those who look at bytes call it: the pcapng
 * writer, hcasim decode, faults that flip bits, tests.
 *
 *     InfiniBand   LRH [GRH]           BTH extended headers payload pad ICRC VCRC
 *     RoCEv1       Ethernet GRH        BTH extended headers payload pad ICRC
 *     RoCEv2       Ethernet IP UDP     BTH extended headers payload pad ICRC
 *
 * An Ethernet frame is built and parsed without its FCS and without padding to the least length, as captures
 * have it. A packet of 6 bytes on InfiniBand is a flow control packet; a MAC control frame on Ethernet is PFC.
 */
#ifndef FABRIC_WIRE_CODEC_H
#define FABRIC_WIRE_CODEC_H

#include "fabric/wire/packet.h"
#include "fabric/wire/parse_status.h"

/* Enough for any packet: Ethernet with tag, IPv6, UDP, the longest headers, payload, ICRC. */
#define PACKET_BYTES_MAX (18 + 40 + 8 + 44 + PAYLOAD_MAX + 4)

/*
 * Bytes written; size must do. A payload that is by length only is written as zeros. Damage is built in: a wrong
 * ICRC, a wrong VCRC. Of PACKET_RAW only the payload's bytes are known, and written as they are.
 */
size_t packet_build(const struct packet *packet, uint8_t *bytes, size_t size);

/*
 * Fills *packet and *path, to which packet->path is set; neither knows endpoints. packet->payload, if the caller
 * set it, receives the payload's bytes. Anything else in *packet is reset. A wrong ICRC or VCRC is told in
 * packet->damage, also when the opcode is unknown; a capture may lack the VCRC. Bytes behind the packet (padding,
 * FCS) are ignored.
 */
enum parse_status packet_parse(const uint8_t *bytes, size_t length, enum link_layer link_layer,
			       struct packet *packet, struct path *path);

#endif
