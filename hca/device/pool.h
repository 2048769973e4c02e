/*
 * pool: objects of one size that come and go on the packet path. Grows in slabs; what is given back
 * is handed out again, last in first out.
 */
#ifndef HCA_DEVICE_POOL_H
#define HCA_DEVICE_POOL_H

#include <stddef.h>
#include <stdint.h>

struct pool {
	size_t object_bytes;
	uint32_t slab_objects;
	uint32_t in_use, in_use_peak;
	void *free; /* each free object begins with the next one's address */
	void *slabs;
};

void pool_init(struct pool *pool, size_t object_bytes, uint32_t slab_objects);
void pool_fini(struct pool *pool);  /* nothing is in use any more */
void *pool_take(struct pool *pool); /* zeroed */

/* As it was left: for what is overwritten at once. */
void *pool_take_dirty(struct pool *pool);
void pool_give(struct pool *pool, void *object);

#endif
