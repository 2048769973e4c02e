/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vcrc: polynomial 0x100B, bits least significant first, all ones at the start, complemented at the
 * end. Each step processes eight bytes, because captures of InfiniBand spend most of their time in
 * this function. codec.c and credit.c call these functions.
 */
#include "fabric/wire/vcrc.h"

#define STEP 8

/* clang-format off */
/* The remainders of the bits of a byte add up, so eight numbers give the table of 256. */
#define BYTE(i, b0, b1, b2, b3, b4, b5, b6, b7)                                              \
	(((i) & 1 ? b0 : 0) ^ ((i) & 2 ? b1 : 0) ^ ((i) & 4 ? b2 : 0) ^ ((i) & 8 ? b3 : 0) ^ \
	 ((i) & 16 ? b4 : 0) ^ ((i) & 32 ? b5 : 0) ^ ((i) & 64 ? b6 : 0) ^ ((i) & 128 ? b7 : 0)),
#define BYTES_4(i, ...)                                                                      \
	BYTE(i, __VA_ARGS__) BYTE(i + 1, __VA_ARGS__) BYTE(i + 2, __VA_ARGS__)               \
	BYTE(i + 3, __VA_ARGS__)
#define BYTES_16(i, ...)                                                                     \
	BYTES_4(i, __VA_ARGS__) BYTES_4(i + 4, __VA_ARGS__) BYTES_4(i + 8, __VA_ARGS__)      \
	BYTES_4(i + 12, __VA_ARGS__)
#define BYTES_64(i, ...)                                                                     \
	BYTES_16(i, __VA_ARGS__) BYTES_16(i + 16, __VA_ARGS__) BYTES_16(i + 32, __VA_ARGS__) \
	BYTES_16(i + 48, __VA_ARGS__)
#define BYTES(...)                                                                           \
	BYTES_64(0, __VA_ARGS__) BYTES_64(64, __VA_ARGS__) BYTES_64(128, __VA_ARGS__)        \
	BYTES_64(192, __VA_ARGS__)

/* [n]: for a byte that n more bytes follow. Each number is the one above it, shifted by 8 bits. */
static const uint16_t remainders[STEP][256] = {
	{BYTES(0x1ba1, 0x3742, 0x6e84, 0xdd08, 0x1a01, 0x3402, 0x6804, 0xd008)},
	{BYTES(0xffb0, 0x5f71, 0xbee2, 0xddd5, 0x1bbb, 0x3776, 0x6eec, 0xddd8)},
	{BYTES(0xfef4, 0x5df9, 0xbbf2, 0xd7f5, 0x0ffb, 0x1ff6, 0x3fec, 0x7fd8)},
	{BYTES(0xf875, 0x50fb, 0xa1f6, 0xe3fd, 0x67eb, 0xcfd6, 0x3fbd, 0x7f7a)},
	{BYTES(0x33da, 0x67b4, 0xcf68, 0x3ec1, 0x7d82, 0xfb04, 0x5619, 0xac32)},
	{BYTES(0x4874, 0x90e8, 0x81c1, 0xa393, 0xe737, 0x6e7f, 0xdcfe, 0x19ed)},
	{BYTES(0x28cb, 0x5196, 0xa32c, 0xe649, 0x6c83, 0xd906, 0x121d, 0x243a)},
	{BYTES(0x49cf, 0x939e, 0x872d, 0xae4b, 0xfc87, 0x591f, 0xb23e, 0xc46d)},
};
/* clang-format on */

uint16_t vcrc_compute(const uint8_t *bytes, size_t length)
{
	uint16_t crc = 0xffff;

	for (; length >= STEP; length -= STEP, bytes += STEP)
		crc = (uint16_t)(remainders[7][bytes[0] ^ (crc & 0xff)] ^
				 remainders[6][bytes[1] ^ crc >> 8] ^ remainders[5][bytes[2]] ^
				 remainders[4][bytes[3]] ^ remainders[3][bytes[4]] ^
				 remainders[2][bytes[5]] ^ remainders[1][bytes[6]] ^
				 remainders[0][bytes[7]]);
	for (; length > 0; length--, bytes++)
		crc = (uint16_t)(crc >> 8 ^ remainders[0][(crc ^ *bytes) & 0xff]);
	return (uint16_t)~crc;
}
