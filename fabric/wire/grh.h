/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grh: the global route header. Native InfiniBand packets between subnets and all RoCEv1 packets
 * have one. IBTA vol. 1, 8.3.
 */
#ifndef FABRIC_WIRE_GRH_H
#define FABRIC_WIRE_GRH_H

#include "fabric/wire/packet.h"
#include "fabric/wire/parse_status.h"

#define GRH_BYTES 40

/* payload_bytes is the length from BTH to ICRC. */
void grh_build(const struct packet *packet, size_t payload_bytes, uint8_t *bytes);
enum parse_status grh_parse(const uint8_t *bytes, size_t length, struct packet *packet,
			    struct path *path, size_t *payload_bytes);

#endif
