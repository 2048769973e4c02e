/* SPDX-License-Identifier: Apache-2.0 */
/* trap_combine: see trap_combine.h. */
#include "verbs-shim/preload/trap_combine.h"

#include <string.h>

#include "verbs-shim/preload/shim.h"
#include "verbs-shim/preload/trap_watch.h"

/* One line of a doorbell page. */
static struct line {
	/* length: number of stored bytes. offset: offset of the line. */
	uint32_t file, length;
	uint64_t offset;
	/* A bit for each stored byte. */
	uint64_t there;
	uint8_t bytes[SHIM_BYTES];
} line;

/* A whole line may be stored again with the same bytes, as memcpy() of 64 bytes does with
 * AVX-512. */
bool trap_combine_store(uint32_t file, uint64_t offset, const void *bytes, uint32_t length)
{
	uint64_t in_line = offset % SHIM_BYTES + length <= SHIM_BYTES ? offset % SHIM_BYTES : 0;
	uint64_t mask = UINT64_MAX >> (SHIM_BYTES - length) << in_line;
	uint64_t begin = offset - in_line;

	if (line.length && (line.file != file || line.offset != begin))
		return false;
	if (line.there & mask)
		return line.length == SHIM_BYTES &&
		       memcmp(line.bytes + in_line, bytes, length) == 0;
	line.file = file;
	line.offset = begin;
	line.there |= mask;
	line.length += length;
	memcpy(line.bytes + in_line, bytes, length);
	return true;
}

uint32_t trap_combine_bytes(void)
{
	return line.length;
}

void trap_combine_flush(void)
{
	struct line full = line;
	bool handed_over = false;

	line.there = line.length = 0;
	for (uint32_t first = 0, end; full.length > 0; first = end) {
		while (!(full.there >> first & 1))
			first++;
		for (end = first; end < SHIM_BYTES && full.there >> end & 1;)
			end++;
		handed_over |=
			gate_store(full.file, full.offset + first, full.bytes + first, end - first);
		full.length -= end - first;
	}
	if (handed_over)
		trap_watch_stored();
}
