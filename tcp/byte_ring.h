/* SPDX-License-Identifier: Apache-2.0 */
/*
 * byte_ring: the bytes [first, end) of a stream, by their offsets. The memory grows to the largest
 * range that was held.
 */
#ifndef TCP_BYTE_RING_H
#define TCP_BYTE_RING_H

#include <stdint.h>

/* All zero is an empty ring at offset 0. */
struct byte_ring {
	uint8_t *bytes;
	uint64_t capacity; /* 0, or a power of two */
	uint64_t first, end;
};

/* Writes bytes at `offset` or after it; `offset` is `first` or later. Bytes between `end` and
 * `offset` are undefined until they are written. */
void byte_ring_put(struct byte_ring *ring, uint64_t offset, const uint8_t *bytes, uint32_t count);

/* Copies bytes of the range. */
void byte_ring_get(const struct byte_ring *ring, uint64_t offset, uint8_t *bytes, uint32_t count);

/* Returns the bytes from `first` on, and the number of contiguous ones in *count, which is at most
 * its value at the call. */
const uint8_t *byte_ring_front(const struct byte_ring *ring, uint64_t *count);

/* Removes the bytes before `offset`. */
void byte_ring_drop(struct byte_ring *ring, uint64_t offset);

void byte_ring_free(struct byte_ring *ring);

#endif
