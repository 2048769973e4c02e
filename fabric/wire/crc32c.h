/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crc32c: the CRC of MPA and iSCSI: polynomial 0x1edc6f41, bits in reflected order. RFC 3720 12.1
 * and B.4 (examples), RFC 5044 4.4.
 */
#ifndef FABRIC_WIRE_CRC32C_H
#define FABRIC_WIRE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Returns the CRC of `length` bytes that follow bytes with the CRC `before`; 0 for no bytes before.
 * The wire has the least significant byte first. */
uint32_t crc32c(uint32_t before, const uint8_t *bytes, size_t length);

#endif
