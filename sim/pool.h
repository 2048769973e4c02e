/*
 * pool: objects of one size that come and go during a run (packets, requests) without malloc(). Memory grows by
 * slabs up to a limit and returns at the end. A pool that is at its limit answers NULL: the model stalls and counts,
 * as hardware does.
 */
#ifndef SIM_POOL_H
#define SIM_POOL_H

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#define POOL_SLAB_ITEMS 256
#define POOL_LINE_BYTES 64

struct pool_item {
	struct pool_item *next;
};

struct pool {
	struct pool_item *free;
	struct pool_item *slabs; /* a slab's first line links it */
	size_t item_bytes;
	uint64_t used;
	uint64_t used_max;
	uint64_t created;
	uint64_t limit; /* items */
};

/* Items start on a cache line when item_bytes is a multiple of one. limit 0: none. */
static inline void pool_init(struct pool *pool, size_t item_bytes, uint64_t limit)
{
	size_t unit = sizeof(struct pool_item *) * 2;

	assert(item_bytes > 0);
	*pool = (struct pool){.item_bytes = (item_bytes + unit - 1) / unit * unit,
			      .limit = limit != 0 ? limit : UINT64_MAX};
}

static inline void pool_grow(struct pool *pool)
{
	uint64_t room = pool->limit - pool->created;
	uint64_t count = room < POOL_SLAB_ITEMS ? room : POOL_SLAB_ITEMS;
	size_t bytes = POOL_LINE_BYTES + (size_t)count * pool->item_bytes;
	unsigned char *slab = aligned_alloc(
		POOL_LINE_BYTES, (bytes + POOL_LINE_BYTES - 1) / POOL_LINE_BYTES * POOL_LINE_BYTES);
	struct pool_item *header = (struct pool_item *)(void *)slab;

	assert(slab != NULL);
	header->next = pool->slabs;
	pool->slabs = header;
	for (uint64_t i = count; i-- > 0;) {
		struct pool_item *item =
			(struct pool_item *)(void *)(slab + POOL_LINE_BYTES + i * pool->item_bytes);

		item->next = pool->free;
		pool->free = item;
	}
	pool->created += count;
}

/* Contents are left as they were. NULL: the limit is reached. */
static inline void *pool_take(struct pool *pool)
{
	struct pool_item *item;

	if (__builtin_expect(pool->free == NULL, 0)) {
		if (pool->created == pool->limit)
			return NULL;
		pool_grow(pool);
	}
	item = pool->free;
	pool->free = item->next;
	if (++pool->used > pool->used_max)
		pool->used_max = pool->used;
	return item;
}

static inline void pool_give(struct pool *pool, void *object)
{
	struct pool_item *item = (struct pool_item *)object;

	assert(pool->used > 0);
	pool->used--;
	item->next = pool->free;
	pool->free = item;
}

static inline void pool_fini(struct pool *pool)
{
	while (pool->slabs != NULL) {
		struct pool_item *slab = pool->slabs;

		pool->slabs = slab->next;
		free(slab);
	}
	pool->free = NULL;
}

#endif
