/* SPDX-License-Identifier: Apache-2.0 */
/*
 * icrc: the invariant CRC over all that no switch or router may change. IBTA vol. 1, 7.8.1; annexes A16, A17.
 */
#ifndef FABRIC_WIRE_ICRC_H
#define FABRIC_WIRE_ICRC_H

#include "fabric/wire/path.h"

#define ICRC_BYTES 4

/* bytes: from the LRH (InfiniBand), GRH (RoCEv1) or IP header (RoCEv2); length: to the end of the pad.
 * path: which of them it is. The result goes on the wire least significant byte first. */
uint32_t icrc_compute(const struct path *path, const uint8_t *bytes, size_t length);

#endif
