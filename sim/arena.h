/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena: memory that lasts as long as what it belongs to, a run or a pool: what packets touch lies close together, and on huge
 * pages where the machine gives them. With pages of 4 KiB, a fabric of a thousand hosts has more than a processor
 * remembers the addresses of.
 */
#ifndef SIM_ARENA_H
#define SIM_ARENA_H

#include <stddef.h>

struct arena {
	struct arena_chunk *chunks;
	size_t left; /* bytes of the first chunk */
};

/* All zero is an empty arena. */
void arena_fini(struct arena *arena);

/* Zeros, from the begin of a cache line on; at most ARENA_TAKE_MAX. Running out of memory ends the program. */
#define ARENA_TAKE_MAX ((size_t)1 << 20)
void *arena_take(struct arena *arena, size_t bytes);

#endif
