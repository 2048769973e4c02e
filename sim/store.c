/* SPDX-License-Identifier: Apache-2.0 */
/* store: see store.h. Chunks are of the size and at the addresses of huge pages; the first line of each is its list link. */
#include "sim/store.h"

#include <assert.h>
#include <stdint.h>
#include <sys/mman.h>

#include "sim/memory.h"

#define LINE_BYTES  ((size_t)64)
#define CHUNK_BYTES ((size_t)2 << 20)

/* Where a sanitizer is: else it takes for lost what only things in a store point to. */
void __lsan_register_root_region(const void *begin, size_t bytes) __attribute__((weak));
void __lsan_unregister_root_region(const void *begin, size_t bytes) __attribute__((weak));

struct store_chunk {
	struct store_chunk *next;
	void *mapping; /* twice as long, so that it holds such an address */
};

static void grow(struct store *store)
{
	void *mapping = mmap(NULL, 2 * CHUNK_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uintptr_t begin = ((uintptr_t)mapping + CHUNK_BYTES - 1) / CHUNK_BYTES * CHUNK_BYTES;
	struct store_chunk *chunk = (struct store_chunk *)begin;

	if (mapping == MAP_FAILED)
		memory_exhausted();
	madvise(chunk, CHUNK_BYTES, MADV_HUGEPAGE); /* else it is on small pages */
	if (__lsan_register_root_region)
		__lsan_register_root_region(chunk, CHUNK_BYTES);
	*chunk = (struct store_chunk){store->chunks, mapping};
	store->chunks = chunk;
	store->left = CHUNK_BYTES - LINE_BYTES;
}

void *store_take(struct store *store, size_t bytes)
{
	unsigned char *end;

	assert(bytes > 0 && bytes <= STORE_TAKE_MAX);
	bytes = (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
	if (bytes > store->left)
		grow(store);
	end = (unsigned char *)store->chunks + CHUNK_BYTES;
	store->left -= bytes;
	return end - store->left - bytes;
}

void store_fini(struct store *store)
{
	while (store->chunks) {
		struct store_chunk *chunk = store->chunks;

		store->chunks = chunk->next;
		if (__lsan_unregister_root_region)
			__lsan_unregister_root_region(chunk, CHUNK_BYTES);
		munmap(chunk->mapping, 2 * CHUNK_BYTES);
	}
	store->left = 0;
}
