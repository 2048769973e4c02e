/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena: memory that is released all at once, when its owner (a run or a pool) ends. Objects
 * that packets touch lie close together, on huge pages if the machine provides them. With 4 KiB
 * pages, a fabric of a thousand hosts needs more translations than a processor's TLB holds.
 */
#ifndef SIM_ARENA_H
#define SIM_ARENA_H

#include <stddef.h>

struct arena {
	struct arena_chunk *chunks;
	size_t left;  /* bytes unused in the first chunk */
	size_t bytes; /* of all chunks */
};

/* Releases all memory of the arena. An arena that is all zero is empty. */
void arena_fini(struct arena *arena);

/* Returns zeroed memory that starts on a cache line. `bytes` is at most ARENA_TAKE_MAX. Ends
 * the program if memory is exhausted. */
#define ARENA_TAKE_MAX ((size_t)1 << 20)
void *arena_take(struct arena *arena, size_t bytes);

#endif
