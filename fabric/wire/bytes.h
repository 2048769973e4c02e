/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes: numbers in byte buffers. All code that reads or writes a wire format uses these functions:
 * big-endian for packets, little-endian for capture files and the ICRC.
 */
#ifndef FABRIC_WIRE_BYTES_H
#define FABRIC_WIRE_BYTES_H

#include <stdint.h>

/* Numbers of 24 bits: PSN, MSN, QPN, CQN, SRQN, and indices of queues. */
#define MASK_24 UINT32_C(0xffffff)

/* Returns the number in the first `count` bytes, most significant first; count <= 8. */
static inline uint64_t be_get(const uint8_t *bytes, unsigned count)
{
	uint64_t value = 0;

#pragma GCC unroll 8
	for (unsigned i = 0; i < count; i++)
		value = value << 8 | bytes[i];
	return value;
}

static inline void be_put(uint8_t *bytes, unsigned count, uint64_t value)
{
#pragma GCC unroll 8
	for (unsigned i = count; i-- > 0; value >>= 8)
		bytes[i] = (uint8_t)value;
}

static inline uint64_t le_get(const uint8_t *bytes, unsigned count)
{
	uint64_t value = 0;

#pragma GCC unroll 8
	for (unsigned i = count; i-- > 0;)
		value = value << 8 | bytes[i];
	return value;
}

static inline void le_put(uint8_t *bytes, unsigned count, uint64_t value)
{
#pragma GCC unroll 8
	for (unsigned i = 0; i < count; i++, value >>= 8)
		bytes[i] = (uint8_t)value;
}

static inline uint16_t be16_get(const uint8_t *bytes)
{
	return (uint16_t)be_get(bytes, 2);
}

static inline uint32_t be24_get(const uint8_t *bytes)
{
	return (uint32_t)be_get(bytes, 3);
}

static inline uint32_t be32_get(const uint8_t *bytes)
{
	return (uint32_t)be_get(bytes, 4);
}

static inline uint64_t be64_get(const uint8_t *bytes)
{
	return be_get(bytes, 8);
}

static inline void be16_put(uint8_t *bytes, uint16_t value)
{
	be_put(bytes, 2, value);
}

static inline void be24_put(uint8_t *bytes, uint32_t value)
{
	be_put(bytes, 3, value);
}

static inline void be32_put(uint8_t *bytes, uint32_t value)
{
	be_put(bytes, 4, value);
}

static inline void be64_put(uint8_t *bytes, uint64_t value)
{
	be_put(bytes, 8, value);
}

static inline uint16_t le16_get(const uint8_t *bytes)
{
	return (uint16_t)le_get(bytes, 2);
}

static inline uint32_t le32_get(const uint8_t *bytes)
{
	return (uint32_t)le_get(bytes, 4);
}

static inline void le16_put(uint8_t *bytes, uint16_t value)
{
	le_put(bytes, 2, value);
}

static inline void le32_put(uint8_t *bytes, uint32_t value)
{
	le_put(bytes, 4, value);
}

static inline void le64_put(uint8_t *bytes, uint64_t value)
{
	le_put(bytes, 8, value);
}

#endif
