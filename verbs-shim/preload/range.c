/* SPDX-License-Identifier: Apache-2.0 */
/* range: see range.h. Signal handlers call these functions. They allocate no memory, and change
 * protection by direct system calls. */
#include "verbs-shim/preload/range.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs-shim/preload/range_list.h"
#include "verbs-shim/preload/shim.h"

#define HOT_PAGES  16
#define OPEN_PAGES 8
#define PIECE      (INT64_C(2) << 20) /* of memory that is moved */

static uint32_t peers_count; /* ranges that other processes may write to */
static uint64_t changes = 1;
static uint32_t armed_watched; /* watched ranges that are armed */

static uint64_t hot[HOT_PAGES]; /* watched pages that were polled */
static uint32_t hot_count;
static bool hot_armed; /* they are protected */

static uint64_t open_pages[OPEN_PAGES]; /* for the trap being handled */
static uint32_t open_count;

/* Returns the number of processes of the host that may write to memory of other processes. */
static uint32_t sharing(void)
{
	return peers_count ? shim.memory->sharing[shim.process->host] : 0;
}

/* Returns true if another process may write to this range. */
static bool has_peers(const struct range *range)
{
	return range->peers && sharing() > 1;
}

/* Returns true if anything but the program may write to a watched range. */
static bool is_written(const struct range *range)
{
	return range->region || has_peers(range);
}

static void protect(uint64_t address, uint64_t length, int prot)
{
	int saved = errno; /* in a trap no other code restores it */

	if (system_call(SYS_mprotect, address, length, prot) != 0 &&
	    prot == (PROT_READ | PROT_WRITE))
		(void)system_call(SYS_mprotect, address, length,
				  PROT_READ); /* a region over read-only memory */
	errno = saved;
}

/* Removes the pages in [address, address + length) from a list. Returns the number of remaining
 * pages. */
static uint32_t without(uint64_t *pages, uint32_t count, uint64_t address, uint64_t length)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++)
		if (pages[i] + PAGE <= address || pages[i] >= address + length)
			pages[kept++] = pages[i];
	return kept;
}

/* Protects the range: its open parts are no longer accessible. */
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
	changes += !range->armed;
	range->armed = true;
}

void range_arm(struct range *range)
{
	arm(range);
	changes += !range->asked;
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
	for (uint32_t i = 0; i < range_list.count && sharing() > 1 && armed && !hot_armed; i++)
		if (range_list_at(i)->peers)
			range_arm(range_list_at(i));
	hot_armed = armed;
}

bool range_show_peers(void)
{
	for (uint32_t i = 0; i < range_list.count && sharing() > 1; i++)
		if (range_list_at(i)->peers && !range_list_at(i)->armed)
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

void range_release(bool all)
{
	for (uint32_t i = 0; i < range_list.count && armed_watched; i++)
		if (range_list_at(i)->kind == RANGE_WATCHED && (all || !range_list_at(i)->shared))
			range_disarm(range_list_at(i));
	range_set_hot(false);
	range_close_pages();
}

void range_arm_watched(bool quantum_ended)
{
	for (uint32_t i = 0; i < range_list.count; i++) {
		struct range *range = range_list_at(i);

		if (!(range->kind == RANGE_WATCHED ? is_written(range) : range->polled))
			continue;
		arm(range);
		if (range->asked || quantum_ended || range->kind != RANGE_WATCHED)
			continue;
		range->asked = true;
		changes++;
	}
}

bool range_can_guard(void)
{
	for (uint32_t i = 0; i < range_list.count; i++)
		if (range_list_at(i)->kind == RANGE_RING && range_list_at(i)->polled &&
		    !range_list_at(i)->armed)
			return false;
	return true;
}

void range_guard(bool guarded)
{
	for (uint32_t i = 0; i < range_list.count; i++) {
		struct range *range = range_list_at(i);

		if (range->kind != RANGE_RING || range->polled)
			continue;
		if (guarded)
			arm(range);
		else
			range_disarm(range);
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

/* An access may begin before the first range that concerns it, and run on into others behind
 * that. */
bool range_traps(uint64_t address, uint32_t length, bool hot_watched)
{
	const struct range *first = range_find(address);

	if (first && address + length <= first->address + first->length)
		return first->armed || range_is_asked(first, address, length, hot_watched);
	for (uint32_t index = range_list_after(address); index < range_list.count; index++) {
		const struct range *range = range_list_at(index);

		if (range->address >= address + length)
			return false;
		if (range->armed || range_is_asked(range, address, length, hot_watched))
			return true;
	}
	return false;
}

uint32_t range_part(uint64_t address, uint32_t length)
{
	uint32_t index = range_list_after(address);
	uint64_t stop = address + length, border;

	if (index == range_list.count)
		return length;
	border = range_list_at(index)->address;
	if (border <= address)
		border += range_list_at(index)->length;
	return border < stop ? (uint32_t)(border - address) : length;
}

bool range_has_registers(uint64_t address, uint32_t length)
{
	for (uint32_t index = range_list_after(address);
	     index < range_list.count && range_list_at(index)->address < address + length; index++)
		if (range_list_at(index)->kind == RANGE_REGISTERS)
			return true;
	return false;
}

bool range_is_asked(const struct range *range, uint64_t address, uint32_t length, bool hot_watched)
{
	return range->kind != RANGE_WATCHED || range->asked ||
	       (hot_watched &&
		(has_peers(range) || is_hot(address) || is_hot(address + length - 1)));
}

bool range_is_quiet(uint64_t page)
{
	for (uint32_t index = range_list_after(page); index < range_list.count; index++) {
		const struct range *range = range_list_at(index);

		if (range->address >= page + PAGE)
			return true;
		if (range->armed || range->polled || range->kind == RANGE_REGISTERS ||
		    (range->kind == RANGE_WATCHED && range_is_asked(range, page, 1, true)))
			return false;
	}
	return true;
}

uint64_t range_changes(void)
{
	return changes + sharing();
}

uint8_t *range_reach(struct range *range, uint64_t address, uint32_t length)
{
	if (range->shared)
		return shim.queue + range->offset + (address - range->address);
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
	range_set_hot(false); /* also the page that leaves the list */
	if (hot_count == HOT_PAGES)
		memmove(&hot[0], &hot[1], sizeof(hot[0]) * --hot_count);
	hot[hot_count++] = page;
	changes++;
}

static void count_range(const struct range *range, uint32_t by)
{
	armed_watched += range->armed && range->kind == RANGE_WATCHED ? by : 0;
	peers_count += range->peers ? by : 0;
}

static void insert(uint32_t index, struct range range)
{
	range_list_insert(index, &range);
	changes++;
	count_range(&range, 1);
}

static struct range take_out(uint32_t index)
{
	struct range range = range_list_remove(index);

	count_range(&range, UINT32_MAX);
	return range;
}

/* No process has the part of a shared range in [address, end) in queue memory any more. */
static void give_back(const struct range *range, uint64_t address, uint64_t end)
{
	uint64_t first = address > range->address ? address - range->address : 0;
	uint64_t stop = end - range->address < range->length ? end - range->address : range->length;

	(void)system_call(SYS_fallocate, shim.queue_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			  range->offset + first, stop - first);
}

/* Removes [address, address + length) from the known ranges. Its pages were replaced already, or
 * are accessible. */
bool range_remove(uint64_t address, uint64_t length, uint32_t *file)
{
	uint64_t end = address + length;
	bool any = false;

	*file = 0;
	hot_count = without(hot, hot_count, address, length);
	open_count = without(open_pages, open_count, address, length);

	for (;;) {
		uint32_t index = range_list_after(address);
		struct range range;

		if (index >= range_list.count || range_list_at(index)->address >= end)
			return any;
		any = true;
		range = take_out(index);
		if (range.kind == RANGE_REGISTERS)
			*file = range.file;
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

void range_add_registers(uint64_t address, uint64_t length, uint32_t file, uint64_t offset)
{
	uint32_t file_before;

	(void)range_remove(address, length, &file_before);
	insert(range_list_after(address), (struct range){.address = address,
							 .length = length,
							 .offset = offset,
							 .file = file,
							 .kind = RANGE_REGISTERS});
}

void range_add_ring(uint64_t address, uint64_t length, uint64_t offset, bool polled)
{
	uint32_t file_before;

	(void)range_remove(address, length, &file_before);
	insert(range_list_after(address), (struct range){.address = address,
							 .length = length,
							 .offset = offset,
							 .kind = RANGE_RING,
							 .polled = polled,
							 .shared = true});
	if (polled)
		range_arm(range_find(address));
}

void range_add_region(uint64_t address, uint64_t length, uint64_t offset)
{
	uint32_t file_before;
	bool known = range_remove(address, length, &file_before); /* a part of another region */

	insert(range_list_after(address), (struct range){.address = address,
							 .length = length,
							 .offset = offset,
							 .first = known ? address : UINT64_MAX,
							 .end = known ? address + length : 0,
							 .kind = RANGE_WATCHED,
							 .shared = true});
}

void range_add_watched(uint64_t address, uint64_t length)
{
	uint64_t first = address, end = address + length;
	uint64_t stop = (end + PAGE - 1) & ~(PAGE - 1);

	address &= ~(PAGE - 1);
	while (address < stop) { /* known memory keeps its kind */
		uint32_t index = range_list_after(address);
		struct range *range = index < range_list.count ? range_list_at(index) : NULL;
		uint64_t next = range && range->address < stop ? range->address : stop;

		if (next > address) {
			insert(index, (struct range){.address = address,
						     .length = next - address,
						     .first = first,
						     .end = end,
						     .kind = RANGE_WATCHED,
						     .region = true});
			address = next;
			continue;
		}
		range->region = true;
		range->first = range->first < first ? range->first : first;
		range->end = range->end > end ? range->end : end;
		address = range->address + range->length;
	}
}

void range_add_peers(uint64_t address, uint64_t length)
{
	uint32_t file;

	(void)range_remove(address, length, &file);
	insert(range_list_after(address), (struct range){.address = address,
							 .length = length,
							 .first = address,
							 .end = address + length,
							 .kind = RANGE_WATCHED,
							 .peers = true});
}

bool range_is_peers(uint64_t address)
{
	const struct range *range = range_find(address);

	return range && range->peers;
}

/* Moves the bytes of a shared range to private pages of the program, at the same address. Holes
 * stay holes. Frees the shared memory, which no other process uses. Each piece is freed before the
 * next is fetched, so that the memory exists once. */
static void make_private(const struct range *range, bool for_good)
{
	const int64_t begin = (int64_t)range->offset, end = begin + (int64_t)range->length;
	int64_t data = begin, hole = begin; /* the bytes between them were written */

	for (int64_t at = begin, stop; at < end; at = stop) {
		uint64_t address = range->address + (uint64_t)(at - begin);

		stop = end - at < PIECE ? end : at + PIECE;
		if ((void *)system_call(SYS_mmap, address, stop - at, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
					0) == MAP_FAILED)
			attach_give_up("its memory cannot be mapped (as many mappings as "
				       "vm.max_map_count permits?)");
		for (int64_t from = at, to; from < stop; from = to) {
			if (hole <= from) { /* a far hole takes long to find */
				data = system_call(SYS_lseek, shim.queue_fd, from, SEEK_DATA);
				data = data < 0 || data > end ? end : data;
				hole = data < end ? system_call(SYS_lseek, shim.queue_fd, data,
								SEEK_HOLE)
						  : end;
			}
			from = from < data ? data : from;
			to = hole < stop ? hole : stop;
			if (from < to && system_call(SYS_pread64, shim.queue_fd,
						     range->address + (uint64_t)(from - begin),
						     to - from, from) != to - from)
				attach_give_up("no memory for the deregistered region");
			to = from < stop ? to : stop;
		}
		if (for_good)
			give_back(range, address, address + (uint64_t)(stop - at));
	}
}

/* Forgets the ranges of one kind in these pages, cutting those that reach further. */
static void forget(uint64_t address, uint64_t length, enum range_kind kind)
{
	uint64_t end = (address + length + PAGE - 1) & ~(PAGE - 1);

	address &= ~(PAGE - 1);
	while (address < end) {
		uint32_t index = range_list_after(address), file;
		struct range part;

		if (index == range_list.count || range_list_at(index)->address >= end)
			return;
		range_disarm(range_list_at(index));
		part = *range_list_at(index);
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
			make_private(&part, true);
		(void)range_remove(part.address, part.length, &file);
	}
}

void range_retire(uint64_t address, uint64_t length)
{
	forget(address, length, RANGE_RING);
}

void range_unwatch(uint64_t address, uint64_t length)
{
	range_set_hot(false);
	forget(address, length, RANGE_WATCHED);
}

void range_forked(void)
{
	range_set_hot(false);
	hot_count = open_count = 0;
	for (uint32_t i = 0; i < range_list.count;) {
		struct range *range = range_list_at(i);

		range_disarm(range);
		if (range->shared)
			make_private(range, false);
		if (range->kind == RANGE_REGISTERS || range->peers)
			i++;
		else
			(void)take_out(i);
	}
}
