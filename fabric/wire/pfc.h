/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pfc: the pause frame of priority-based flow control. IEEE 802.1Q clause 36, 802.3 annex 31D.
 */
#ifndef FABRIC_WIRE_PFC_H
#define FABRIC_WIRE_PFC_H

#include "fabric/wire/packet.h"
#include "fabric/wire/parse_status.h"

#define PFC_BYTES 60 /* without FCS */

/* Writes a frame. The source address is the path's, or zero without a path. */
void pfc_build(const struct packet *packet, uint8_t *bytes);

/* Parses a whole frame of type MAC control. */
enum parse_status pfc_parse(const uint8_t *bytes, size_t length, struct packet *packet);

#endif
