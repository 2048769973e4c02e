/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vcrc: the CRC-16 of an InfiniBand link: VCRC of data packets, LPCRC of link packets. IBTA vol. 1,
 * 7.8.2, 7.9.4.
 */
#ifndef FABRIC_WIRE_VCRC_H
#define FABRIC_WIRE_VCRC_H

#include <stddef.h>
#include <stdint.h>

#define VCRC_BYTES 2

/* Computes the CRC over all bytes. The wire carries the least significant byte first. */
uint16_t vcrc_compute(const uint8_t *bytes, size_t length);

#endif
