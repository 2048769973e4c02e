/* SPDX-License-Identifier: Apache-2.0 */
/* torus: see torus.h. */
#include "fabric/torus.h"

void torus_next(const uint16_t sizes[TOPOLOGY_DIMENSIONS], const uint16_t from[],
		const uint16_t to[], uint16_t next[])
{
	bool moved = false;

	for (unsigned i = 0; i < TOPOLOGY_DIMENSIONS; i++) {
		uint16_t size = sizes[i];

		next[i] = from[i];
		if (moved || from[i] == to[i])
			continue;
		unsigned ahead = (unsigned)(to[i] + size - from[i]) % size;

		next[i] = (uint16_t)((from[i] + (2 * ahead <= size ? 1 : size - 1)) % size);
		moved = true;
	}
}

bool torus_same(const uint16_t one[], const uint16_t other[])
{
	for (unsigned i = 0; i < TOPOLOGY_DIMENSIONS; i++)
		if (one[i] != other[i])
			return false;
	return true;
}

uint32_t torus_distance(const uint16_t sizes[TOPOLOGY_DIMENSIONS], const uint16_t from[],
			const uint16_t to[])
{
	uint32_t distance = 0;

	for (unsigned i = 0; i < TOPOLOGY_DIMENSIONS; i++) {
		unsigned size = sizes[i];
		unsigned ahead = (unsigned)(to[i] + size - from[i]) % size;

		distance += ahead <= size - ahead ? ahead : size - ahead;
	}
	return distance;
}
