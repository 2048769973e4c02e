/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vcrc: the CRC-16 of InfiniBand's link: VCRC of data packets, LPCRC of link packets. IBTA vol. 1, 7.8.2, 7.9.4.
 */
#ifndef FABRIC_WIRE_VCRC_H
#define FABRIC_WIRE_VCRC_H

#include <stddef.h>
#include <stdint.h>

#define VCRC_BYTES 2

/* Over all bytes before it. The result goes on the wire least significant byte first. */
uint16_t vcrc_compute(const uint8_t *bytes, size_t length);

#endif
