/* pool: see pool.h. */
#include "hca/device/pool.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 16

static void grow(struct pool *pool)
{
	char *slab = calloc(1, ALIGNMENT + pool->object_bytes * pool->slab_objects);

	assert(slab);
	*(void **)(void *)slab = pool->slabs;
	pool->slabs = slab;
	for (uint32_t i = pool->slab_objects; i-- > 0;) {
		void *object = slab + ALIGNMENT + i * pool->object_bytes;

		*(void **)object = pool->free;
		pool->free = object;
	}
}

void *pool_take_dirty(struct pool *pool)
{
	void *object;

	if (!pool->free)
		grow(pool);
	object = pool->free;
	pool->free = *(void **)object;
	pool->in_use++;
	if (pool->in_use > pool->in_use_peak)
		pool->in_use_peak = pool->in_use;
	return object;
}

void *pool_take(struct pool *pool)
{
	return memset(pool_take_dirty(pool), 0, pool->object_bytes);
}

void pool_give(struct pool *pool, void *object)
{
	assert(pool->in_use);
	pool->in_use--;
	*(void **)object = pool->free;
	pool->free = object;
}

void pool_init(struct pool *pool, size_t object_bytes, uint32_t slab_objects)
{
	*pool = (struct pool){
		.object_bytes = (object_bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1),
		.slab_objects = slab_objects,
	};
}

void pool_fini(struct pool *pool)
{
	while (pool->slabs) {
		void *next = *(void **)pool->slabs;

		free(pool->slabs);
		pool->slabs = next;
	}
}
