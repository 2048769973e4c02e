/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool: allocates objects of one size that come and go during a run (requests, WQEs), without
 * malloc(). Memory grows by slabs and is released at the end. The object released last is
 * handed out first.
 */
#ifndef SIM_POOL_H
#define SIM_POOL_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct pool_item {
	struct pool_item *next;
};

struct pool {
	struct pool_item *idle;
	struct pool_item *slabs; /* the first line of each slab links the list */
	size_t item_bytes;
	uint32_t slab_items;
	uint64_t in_use; /* items */
};

/* Initialises a pool. Items start on a cache line if item_bytes is a multiple of one. The pool
 * grows by slab_items items, or by 256 if slab_items is 0. */
void pool_init(struct pool *pool, size_t item_bytes, uint32_t slab_items);
void pool_fini(struct pool *pool);

/* Adds a slab. pool_take() calls it when no item is free. */
void pool_grow(struct pool *pool);

/* Returns an item, whose contents are undefined. */
static inline void *pool_take(struct pool *pool)
{
	struct pool_item *item;

	if (__builtin_expect(!pool->idle, 0))
		pool_grow(pool);
	item = pool->idle;
	pool->idle = item->next;
	pool->in_use++;
	return item;
}

static inline void *pool_take_zeroed(struct pool *pool)
{
	return memset(pool_take(pool), 0, pool->item_bytes);
}

/* Returns an item whose first `bytes` are 0. The contents after them are undefined. */
static inline void *pool_take_cleared(struct pool *pool, size_t bytes)
{
	return memset(pool_take(pool), 0, bytes);
}

static inline void pool_give(struct pool *pool, void *object)
{
	struct pool_item *item = (struct pool_item *)object;

	assert(pool->in_use > 0);
	pool->in_use--;
	item->next = pool->idle;
	pool->idle = item;
}

#endif
