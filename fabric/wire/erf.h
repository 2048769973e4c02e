/* SPDX-License-Identifier: Apache-2.0 */
/*
 * erf: the record header before an InfiniBand packet in a capture of link type ERF (197). It is the
 * only form of InfiniBand capture that tshark reads. Endace ERF types document, EDM11-01.
 */
#ifndef FABRIC_WIRE_ERF_H
#define FABRIC_WIRE_ERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/sim.h"

#define ERF_BYTES 16

/* Length to which a link packet of 6 bytes is padded. If Wireshark builds no tree, as for a list of
 * packets, its dissector reads an LRH and a GRH there. It then calls a shorter packet malformed. */
#define ERF_LINK_BYTES 48

enum erf_type { ERF_ETHERNET = 2, ERF_INFINIBAND = 21, ERF_INFINIBAND_LINK = 25 };

/* Writes the header of a packet of packet_bytes. */
void erf_build(enum erf_type type, unsigned interface, sim_time at, size_t packet_bytes,
	       uint8_t *bytes);

/* Reads a header. *header_bytes includes extension headers, and the offset and pad of Ethernet.
 * *packet_bytes is the captured length of the packet. Returns false if the record ends inside its
 * headers. */
bool erf_parse(const uint8_t *bytes, size_t length, unsigned *type, unsigned *interface,
	       size_t *header_bytes, size_t *packet_bytes);

#endif
