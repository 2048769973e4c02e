/* SPDX-License-Identifier: Apache-2.0 */
/* sparse: see sparse.h. */
#include "sim/sparse.h"

#include <sys/mman.h>

#include "sim/memory.h"

void *sparse_create(size_t bytes)
{
	void *table = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (table == MAP_FAILED)
		memory_exhausted();
	return table;
}

void sparse_destroy(void *table, size_t bytes)
{
	munmap(table, bytes);
}
