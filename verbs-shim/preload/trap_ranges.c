/* trap_ranges: see trap_ranges.h. Signal handlers call it: it allocates nothing, and protects by system calls of its own. */
#include "verbs-shim/preload/trap_ranges.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs-shim/preload/shim.h"

#define RANGES     4096
#define HOT_PAGES  16
#define OPEN_PAGES 8

static struct range ranges[RANGES]; /* by address */
static uint32_t range_count;
static uint64_t additions;
static uint32_t armed_watched; /* watched ranges that are armed */

static uint64_t hot[HOT_PAGES]; /* watched pages that were polled */
static uint32_t hot_count;
static bool hot_armed; /* they are protected */

static uint64_t open_pages[OPEN_PAGES]; /* for the trap being handled */
static uint32_t open_count;

static uint32_t range_after(uint64_t address)
{
	uint32_t low = 0, high = range_count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (ranges[middle].address + ranges[middle].length <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct range *range_find(uint64_t address)
{
	uint32_t index = range_after(address);

	return index < range_count && ranges[index].address <= address ? &ranges[index] : NULL;
}

static void protect(uint64_t address, uint64_t length, int prot)
{
	int saved = errno; /* in a trap nothing else restores it */

	if (system_call(SYS_mprotect, address, length, prot) != 0 &&
	    prot == (PROT_READ | PROT_WRITE))
		(void)system_call(SYS_mprotect, address, length,
				  PROT_READ); /* a region over read-only memory */
	errno = saved;
}

/* Takes those that lie in [address, address + length) out of a list of pages; how many are left. */
static uint32_t without(uint64_t *pages, uint32_t count, uint64_t address, uint64_t length)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++)
		if (pages[i] + PAGE <= address || pages[i] >= address + length)
			pages[kept++] = pages[i];
	return kept;
}

/* Protected: what was open of it is open no more. */
static void close_all(uint64_t address, uint64_t length)
{
	open_count = without(open_pages, open_count, address, length);
	protect(address, length, PROT_NONE);
}

static void arm(struct range *range)
{
	if (!range->armed)
		close_all(range->address, range->length);
	armed_watched += !range->armed && range->kind == RANGE_WATCHED;
	range->armed = true;
}

void range_arm(struct range *range)
{
	arm(range);
	range->asked = true;
}

void range_disarm(struct range *range)
{
	if (range->armed)
		protect(range->address, range->length, PROT_READ | PROT_WRITE);
	armed_watched -= range->armed && range->kind == RANGE_WATCHED;
	range->armed = range->asked = false;
}

void range_set_hot(bool armed)
{
	for (uint32_t i = 0; i < hot_count && hot_armed != armed; i++) {
		const struct range *range = range_find(hot[i]);

		if (range && range->armed)
			continue;
		if (armed)
			close_all(hot[i], PAGE);
		else
			protect(hot[i], PAGE, PROT_READ | PROT_WRITE);
	}
	for (uint32_t i = 0; i < range_count && armed && !hot_armed; i++)
		if (ranges[i].peers)
			range_arm(&ranges[i]);
	hot_armed = armed;
}

bool ranges_show_peers(void)
{
	for (uint32_t i = 0; i < range_count; i++)
		if (ranges[i].peers && !ranges[i].armed)
			return false;
	return true;
}

static bool is_hot(uint64_t address)
{
	for (uint32_t i = 0; i < hot_count; i++)
		if (hot[i] == (address & ~(PAGE - 1)))
			return true;
	return false;
}

bool range_page_is_armed(const struct range *range, uint64_t address)
{
	return range->armed || (hot_armed && is_hot(address));
}

static void close_page(uint64_t page)
{
	const struct range *range = range_find(page);

	if (range && range_page_is_armed(range, page))
		protect(page, PAGE, PROT_NONE);
}

void range_close_pages(void)
{
	for (uint32_t i = 0; i < open_count; i++)
		close_page(open_pages[i]);
	open_count = 0;
}

void ranges_release(bool all)
{
	for (uint32_t i = 0; i < range_count && armed_watched; i++)
		if (ranges[i].kind == RANGE_WATCHED && (all || !ranges[i].shared))
			range_disarm(&ranges[i]);
	range_set_hot(false);
	range_close_pages();
}

void ranges_arm(bool quantum_ended)
{
	for (uint32_t i = 0; i < range_count; i++) {
		if (ranges[i].kind == RANGE_WATCHED || (quantum_ended && ranges[i].polled))
			arm(&ranges[i]);
		ranges[i].asked |= !quantum_ended && ranges[i].kind == RANGE_WATCHED;
	}
}

/* Makes a page of watched memory accessible until the trap has been handled. */
static void open_page(uint64_t address)
{
	uint64_t page = address & ~(PAGE - 1);

	for (uint32_t i = 0; i < open_count; i++)
		if (open_pages[i] == page)
			return;
	if (open_count == OPEN_PAGES) {
		close_page(open_pages[0]);
		memmove(&open_pages[0], &open_pages[1], sizeof(open_pages[0]) * --open_count);
	}
	protect(page, PAGE, PROT_READ | PROT_WRITE);
	open_pages[open_count++] = page;
}

bool range_traps(uint64_t address, uint32_t length, bool hot_watched)
{
	uint32_t index = range_after(address);
	const struct range *range = &ranges[index];

	if (index >= range_count || range->address >= address + length)
		return false;
	return range->armed || range_is_asked(range, address, length, hot_watched);
}

bool range_is_asked(const struct range *range, uint64_t address, uint32_t length, bool hot_watched)
{
	return range->kind != RANGE_WATCHED || range->asked ||
	       (hot_watched && (range->peers || is_hot(address) || is_hot(address + length - 1)));
}

bool range_overlaps(uint64_t address, uint64_t length)
{
	uint32_t index = range_after(address);

	return index < range_count && ranges[index].address < address + length;
}

uint64_t range_additions(void)
{
	return additions;
}

uint8_t *range_reach(struct range *range, uint64_t address, uint32_t length)
{
	if (range->shared)
		return shim_queue + range->offset + (address - range->address);
	if (range_page_is_armed(range, address))
		open_page(address);
	if (range_page_is_armed(range, address + length - 1))
		open_page(address + length - 1);
	return (uint8_t *)(uintptr_t)address;
}

void range_make_hot(uint64_t address)
{
	uint64_t page = address & ~(PAGE - 1);

	for (uint32_t i = 0; i < hot_count; i++)
		if (hot[i] == page)
			return;
	range_set_hot(false); /* the one that leaves too */
	if (hot_count == HOT_PAGES)
		memmove(&hot[0], &hot[1], sizeof(hot[0]) * --hot_count);
	hot[hot_count++] = page;
}

static void insert(uint32_t at, struct range range)
{
	if (range_count == RANGES)
		return;
	memmove(&ranges[at + 1], &ranges[at], (range_count - at) * sizeof(range));
	ranges[at] = range;
	range_count++;
	additions++;
	armed_watched += range.armed && range.kind == RANGE_WATCHED;
}

/* What lies in [address, end) of a shared range has nobody in the queue memory any more. */
static void give_back(const struct range *range, uint64_t address, uint64_t end)
{
	uint64_t first = address > range->address ? address - range->address : 0;
	uint64_t stop = end - range->address < range->length ? end - range->address : range->length;

	(void)system_call(SYS_fallocate, shim_queue_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			  range->offset + first, stop - first);
}

/* Cuts [address, address + length) out of what is known. Its pages are others already, or accessible. */
bool trap_remove(uint64_t address, uint64_t length, uint32_t *file)
{
	uint64_t end = address + length;
	bool any = false;

	*file = 0;
	hot_count = without(hot, hot_count, address, length);
	open_count = without(open_pages, open_count, address, length);

	for (;;) {
		uint32_t index = range_after(address);
		struct range range;

		if (index >= range_count || ranges[index].address >= end)
			return any;
		any = true;
		range = ranges[index];
		if (range.kind == RANGE_REGISTERS)
			*file = range.file;
		range_count--;
		armed_watched -= range.armed && range.kind == RANGE_WATCHED;
		memmove(&ranges[index], &ranges[index + 1], (range_count - index) * sizeof(range));
		if (range.shared)
			give_back(&range, address, end);
		if (range.address + range.length > end) {
			struct range tail = range;
			tail.offset += end - range.address;
			tail.length = range.address + range.length - end;
			tail.address = end;
			insert(index, tail);
		}
		if (range.address < address) {
			struct range head = range;
			head.length = address - range.address;
			insert(index, head);
		}
	}
}

void trap_add_registers(uint64_t address, uint64_t length, uint32_t file, uint64_t offset)
{
	uint32_t file_before;

	(void)trap_remove(address, length, &file_before);
	insert(range_after(address), (struct range){.address = address,
						    .length = length,
						    .offset = offset,
						    .file = file,
						    .kind = RANGE_REGISTERS});
}

void trap_add_ring(uint64_t address, uint64_t length, uint64_t offset, bool polled)
{
	uint32_t file_before;

	(void)trap_remove(address, length, &file_before);
	insert(range_after(address), (struct range){.address = address,
						    .length = length,
						    .offset = offset,
						    .kind = RANGE_RING,
						    .polled = polled,
						    .shared = true});
	if (polled)
		range_arm(range_find(address));
}

void trap_add_region(uint64_t address, uint64_t length, uint64_t offset)
{
	uint32_t file_before;
	bool known = trap_remove(address, length, &file_before); /* a part of another region */

	insert(range_after(address), (struct range){.address = address,
						    .length = length,
						    .offset = offset,
						    .first = known ? address : UINT64_MAX,
						    .end = known ? address + length : 0,
						    .kind = RANGE_WATCHED,
						    .shared = true});
}

void trap_add_watched(uint64_t address, uint64_t length)
{
	uint64_t first = address, end = address + length;
	uint64_t stop = (end + PAGE - 1) & ~(PAGE - 1);

	address &= ~(PAGE - 1);
	while (address < stop) { /* what is known already keeps its kind */
		uint32_t index = range_after(address);
		struct range *range = &ranges[index];
		uint64_t next =
			index < range_count && range->address < stop ? range->address : stop;

		if (next > address) {
			insert(index, (struct range){.address = address,
						     .length = next - address,
						     .first = first,
						     .end = end,
						     .kind = RANGE_WATCHED});
			address = next;
			continue;
		}
		range->first = range->first < first ? range->first : first;
		range->end = range->end > end ? range->end : end;
		address = range->address + range->length;
	}
}

void trap_add_peers(uint64_t address, uint64_t length)
{
	uint32_t file;

	(void)trap_remove(address, length, &file);
	insert(range_after(address), (struct range){.address = address,
						    .length = length,
						    .first = address,
						    .end = address + length,
						    .kind = RANGE_WATCHED,
						    .peers = true});
}

bool trap_is_peers(uint64_t address)
{
	const struct range *range = range_find(address);

	return range && range->peers;
}

/* The bytes of a shared range in pages of the program's own, at the same place. Holes stay holes. */
static void make_private(const struct range *range)
{
	int64_t end = (int64_t)(range->offset + range->length), at = (int64_t)range->offset, stop;

	if ((void *)system_call(SYS_mmap, range->address, range->length, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		attach_lost();
	for (; (at = system_call(SYS_lseek, shim_queue_fd, at, SEEK_DATA)) >= 0 && at < end;
	     at = stop) {
		stop = system_call(SYS_lseek, shim_queue_fd, at, SEEK_HOLE);
		stop = stop < end ? stop : end;
		memcpy((uint8_t *)(uintptr_t)range->address + (at - (int64_t)range->offset),
		       shim_queue + at, (size_t)(stop - at));
	}
}

/* Forgets the ranges of one kind in these pages, cutting those that reach further. */
static void forget(uint64_t address, uint64_t length, enum range_kind kind)
{
	uint64_t end = (address + length + PAGE - 1) & ~(PAGE - 1);

	address &= ~(PAGE - 1);
	while (address < end) {
		uint32_t index = range_after(address), file;
		struct range part;

		if (index == range_count || ranges[index].address >= end)
			return;
		range_disarm(&ranges[index]);
		part = ranges[index];
		if (part.address < address) {
			part.offset += address - part.address;
			part.length -= address - part.address;
			part.address = address;
		}
		if (part.length > end - part.address)
			part.length = end - part.address;
		address = part.address + part.length;
		if (part.kind != kind || part.peers)
			continue;
		if (part.shared)
			make_private(&part);
		(void)trap_remove(part.address, part.length, &file);
	}
}

void trap_retire(uint64_t address, uint64_t length)
{
	forget(address, length, RANGE_RING);
}

void trap_unwatch(uint64_t address, uint64_t length)
{
	range_set_hot(false);
	forget(address, length, RANGE_WATCHED);
}

void trap_forked(void)
{
	uint32_t kept = 0;

	range_set_hot(false);
	hot_count = open_count = 0;
	for (uint32_t i = 0; i < range_count; i++) {
		range_disarm(&ranges[i]);
		if (ranges[i].shared)
			make_private(&ranges[i]);
		if (ranges[i].kind == RANGE_REGISTERS || ranges[i].peers)
			ranges[kept++] = ranges[i];
	}
	range_count = kept;
}
