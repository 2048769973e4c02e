/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash: FNV-1a with 64 bits, which depends on the bytes alone. Source: Fowler, Noll, Vo; RFC 9923.
 */
#ifndef SIM_HASH_H
#define SIM_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_BEGIN UINT64_C(0xcbf29ce484222325)

/* Adds a byte, or a number with all of its bits in one step. */
static inline uint64_t hash_add(uint64_t hash, uint64_t number)
{
	return (hash ^ number) * UINT64_C(0x100000001b3);
}

static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		hash = hash_add(hash, ((const uint8_t *)bytes)[i]);
	return hash;
}

#endif
