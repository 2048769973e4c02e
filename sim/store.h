/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store: memory that lasts as long as what it belongs to, a run or a pool: what packets touch lies close together, and on huge
 * pages where the machine gives them. With pages of 4 KiB, a fabric of a thousand hosts has more than a processor
 * remembers the addresses of.
 */
#ifndef SIM_STORE_H
#define SIM_STORE_H

#include <stddef.h>

struct store {
	struct store_chunk *chunks;
	size_t left; /* bytes of the first chunk */
};

/* All zero is an empty store. */
void store_fini(struct store *store);

/* Zeros, from the begin of a cache line on; at most STORE_TAKE_MAX. Running out of memory ends the program. */
#define STORE_TAKE_MAX ((size_t)1 << 20)
void *store_take(struct store *store, size_t bytes);

#endif
