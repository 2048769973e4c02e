/* SPDX-License-Identifier: Apache-2.0 */
/* pool: see pool.h. */
#include "sim/pool.h"

#include <stdlib.h>

enum { SLAB_ITEMS = 256, LINE_BYTES = 64 };

void pool_init(struct pool *pool, size_t item_bytes, uint32_t slab_items)
{
	size_t unit = sizeof(struct pool_item *) * 2;

	assert(item_bytes > 0);
	*pool = (struct pool){.item_bytes = (item_bytes + unit - 1) / unit * unit,
			      .slab_items = slab_items != 0 ? slab_items : SLAB_ITEMS};
}

void pool_grow(struct pool *pool)
{
	size_t bytes = LINE_BYTES + pool->slab_items * pool->item_bytes;
	unsigned char *slab =
		aligned_alloc(LINE_BYTES, (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES);
	struct pool_item *header = (struct pool_item *)(void *)slab;

	assert(slab);
	header->next = pool->slabs;
	pool->slabs = header;
	for (uint32_t i = pool->slab_items; i-- > 0;) {
		struct pool_item *item =
			(struct pool_item *)(void *)(slab + LINE_BYTES + i * pool->item_bytes);

		item->next = pool->idle;
		pool->idle = item;
	}
}

void pool_fini(struct pool *pool)
{
	while (pool->slabs) {
		struct pool_item *slab = pool->slabs;

		pool->slabs = slab->next;
		free(slab);
	}
	pool->idle = NULL;
}
