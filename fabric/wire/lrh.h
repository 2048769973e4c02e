/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lrh: the local route header of native InfiniBand. IBTA vol. 1, 7.7.
 */
#ifndef FABRIC_WIRE_LRH_H
#define FABRIC_WIRE_LRH_H

#include "fabric/wire/packet.h"
#include "fabric/wire/parse_status.h"

#define LRH_BYTES 8

/* packet_bytes is the length from LRH to ICRC, a multiple of four. */
void lrh_build(const struct packet *packet, size_t packet_bytes, uint8_t *bytes);

/* Fills in vl, addresses, service level and has_grh. Returns PARSE_NOT_RDMA for a raw packet. */
enum parse_status lrh_parse(const uint8_t *bytes, size_t length, struct packet *packet,
			    struct path *path, size_t *packet_bytes);

#endif
