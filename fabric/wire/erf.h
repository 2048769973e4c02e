/* SPDX-License-Identifier: Apache-2.0 */
/*
 * erf: the record header that stands before an InfiniBand packet in a capture of link type ERF (197), the one
 * form of InfiniBand capture that tshark reads. Endace ERF types document, EDM11-01.
 */
#ifndef FABRIC_WIRE_ERF_H
#define FABRIC_WIRE_ERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/sim.h"

#define ERF_BYTES 16

/* What a link packet of 6 bytes is padded to: without its tree (as in a list of packets) Wireshark's dissector looks
 * for an LRH and a GRH there, and calls a shorter one malformed. */
#define ERF_LINK_BYTES 48

enum erf_type { ERF_ETHERNET = 2, ERF_INFINIBAND = 21, ERF_INFINIBAND_LINK = 25 };

/* What follows the header is packet_bytes long. */
void erf_build(enum erf_type type, unsigned interface, sim_time at, size_t packet_bytes,
	       uint8_t *bytes);

/* false: the record ends inside its headers. *header_bytes: with extension headers, and Ethernet's offset and
 * pad; *packet_bytes: what is captured of the packet. */
bool erf_parse(const uint8_t *bytes, size_t length, unsigned *type, unsigned *interface,
	       size_t *header_bytes, size_t *packet_bytes);

#endif
