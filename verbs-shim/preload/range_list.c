/* SPDX-License-Identifier: Apache-2.0 */
/* range_list: see range_list.h. */
#include "verbs-shim/preload/range_list.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "verbs-shim/preload/shim.h"

#define RANGES_FIRST 1024

struct range_list range_list;

struct range_known range_known[RANGE_KNOWN];
uint64_t range_moves = 1;

uint32_t range_list_after(uint64_t address)
{
	uint32_t low = 0, high = range_list.count;
	const struct range *last = high ? range_list_at(high - 1) : NULL;

	if (last && last->address + last->length <= address)
		return high; /* true for most look-ups: stacks and code */
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		const struct range *range = range_list_at(middle);
		if (range->address + range->length <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns true if what holds for an address holds for its page: a range covers the page, or `range`
 * is NULL and no range overlaps the page. */
static bool is_uniform(uint64_t page, const struct range *range)
{
	uint32_t next;

	if (range)
		return range->address <= page && range->address + range->length >= page + PAGE;
	next = range_list_after(page);
	return next == range_list.count || range_list_at(next)->address >= page + PAGE;
}

struct range *range_search(uint64_t address)
{
	uint64_t page = address & ~(PAGE - 1);
	uint32_t index = range_list_after(address);
	struct range *range = index < range_list.count ? range_list_at(index) : NULL;

	if (range && range->address > address)
		range = NULL;
	if (is_uniform(page, range))
		range_known[page / PAGE % RANGE_KNOWN] =
			(struct range_known){page, range_moves, range};
	return range;
}

static void move_gap(uint32_t index)
{
	struct range *ranges = range_list.ranges;
	uint32_t gap = range_list.gap, free = range_list.room - range_list.count;

	if (index < gap)
		memmove(&ranges[index + free], &ranges[index], (gap - index) * sizeof(*ranges));
	else if (index > gap)
		memmove(&ranges[gap], &ranges[gap + free], (index - gap) * sizeof(*ranges));
	range_list.gap = index;
}

static void make_room(void)
{
	uint32_t room = range_list.room ? 2 * range_list.room : RANGES_FIRST;
	size_t before = range_list.room * sizeof(*range_list.ranges);
	size_t after = room * sizeof(*range_list.ranges);
	void *moved = (void *)(before ? system_call(SYS_mremap, range_list.ranges, before, after,
						    MREMAP_MAYMOVE)
				      : system_call(SYS_mmap, NULL, after, PROT_READ | PROT_WRITE,
						    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L));

	if (moved == MAP_FAILED)
		attach_give_up("no memory for the list of registered regions");
	range_list.ranges = moved;
	range_list.room = room;
	range_list.gap = range_list.count; /* there was none */
}

void range_list_insert(uint32_t index, const struct range *range)
{
	if (range_list.count == range_list.room)
		make_room();
	move_gap(index);
	range_list.ranges[range_list.gap++] = *range;
	range_list.count++;
	range_moves++;
}

struct range range_list_remove(uint32_t index)
{
	move_gap(index + 1);
	range_list.count--;
	range_moves++;
	return range_list.ranges[--range_list.gap];
}
