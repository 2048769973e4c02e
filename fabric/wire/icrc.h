/* SPDX-License-Identifier: Apache-2.0 */
/*
 * icrc: the invariant CRC over all fields that no switch or router may change. IBTA vol. 1, 7.8.1;
 * annexes A16, A17.
 */
#ifndef FABRIC_WIRE_ICRC_H
#define FABRIC_WIRE_ICRC_H

#include "fabric/wire/path.h"

#define ICRC_BYTES 4

/* Computes the ICRC. `bytes` starts at the LRH (InfiniBand), GRH (RoCEv1) or IP header (RoCEv2),
 * according to `path`. `length` extends to the end of the pad. The wire carries the least
 * significant byte first. */
uint32_t icrc_compute(const struct path *path, const uint8_t *bytes, size_t length);

#endif
