/* SPDX-License-Identifier: Apache-2.0 */
/* arena: see arena.h. A chunk has the size and the alignment of huge pages. The first cache line of
 * each chunk links the list. */
#include "sim/arena.h"

#include <assert.h>
#include <stdint.h>
#include <sys/mman.h>

#include "sim/memory.h"

#define LINE_BYTES  ((size_t)64)
#define CHUNK_BYTES ((size_t)2 << 20)

/* The functions exist only in a build with a sanitizer. Without the calls, the sanitizer would
 * report objects as leaks that only the arena refers to. */
void __lsan_register_root_region(const void *begin, size_t bytes) __attribute__((weak));
void __lsan_unregister_root_region(const void *begin, size_t bytes) __attribute__((weak));

struct arena_chunk {
	struct arena_chunk *next;
	void *mapping; /* twice as long, so that it contains an aligned chunk */
};

static void grow(struct arena *arena)
{
	void *mapping = mmap(NULL, 2 * CHUNK_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uintptr_t begin = ((uintptr_t)mapping + CHUNK_BYTES - 1) / CHUNK_BYTES * CHUNK_BYTES;
	struct arena_chunk *chunk = (struct arena_chunk *)begin;

	if (mapping == MAP_FAILED)
		memory_exhausted();
	madvise(chunk, CHUNK_BYTES, MADV_HUGEPAGE); /* otherwise the chunk has small pages */
	if (__lsan_register_root_region)
		__lsan_register_root_region(chunk, CHUNK_BYTES);
	*chunk = (struct arena_chunk){arena->chunks, mapping};
	arena->chunks = chunk;
	arena->left = CHUNK_BYTES - LINE_BYTES;
	arena->bytes += CHUNK_BYTES;
}

void *arena_take(struct arena *arena, size_t bytes)
{
	unsigned char *end;

	assert(bytes > 0 && bytes <= ARENA_TAKE_MAX);
	bytes = (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
	if (bytes > arena->left)
		grow(arena);
	end = (unsigned char *)arena->chunks + CHUNK_BYTES;
	arena->left -= bytes;
	return end - arena->left - bytes;
}

void arena_fini(struct arena *arena)
{
	while (arena->chunks) {
		struct arena_chunk *chunk = arena->chunks;

		arena->chunks = chunk->next;
		if (__lsan_unregister_root_region)
			__lsan_unregister_root_region(chunk, CHUNK_BYTES);
		munmap(chunk->mapping, 2 * CHUNK_BYTES);
	}
	arena->left = arena->bytes = 0;
}
