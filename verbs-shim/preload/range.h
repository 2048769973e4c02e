/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range: memory of the program that concerns the simulator, and protection of its pages so that
 * accesses trap. Ranges are sorted by address and do not overlap. A range is armed as a whole. In a
 * range that is not armed, single hot pages (pages that were polled) may be armed. An armed page
 * may be open until its trap has been handled. The files trap*.c call these functions in traps.
 * device.c and memory.c add and remove ranges for calls that map and register memory.
 */
#ifndef VERBS_SHIM_PRELOAD_RANGE_H
#define VERBS_SHIM_PRELOAD_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#define PAGE UINT64_C(4096)

enum range_kind { RANGE_REGISTERS, RANGE_RING, RANGE_WATCHED };

struct range {
	uint64_t address, length;
	/* doorbells: offset in the device file; shared: offset in the queue memory */
	uint64_t offset;
	uint64_t first, end; /* watched: the HCA writes only bytes [first, end) of these pages */
	uint32_t file;
	uint8_t kind;
	bool polled; /* ring: the program polls it; otherwise the program writes it */
	bool armed;  /* whole range protected */
	bool asked;  /* would be armed if no quantum had ended */
	bool shared; /* its bytes are in the queue memory; always true for rings */
	bool peers;  /* watched: other processes may also write there; stays set without a region */
	bool region; /* watched: the HCA writes, or has written, there */
};

#define RANGE_KNOWN 256

/* Results of range_search() that hold for a whole page, each at its page number modulo
 * RANGE_KNOWN. */
extern struct range_known {
	uint64_t page, moves; /* valid while range_moves has this value */
	struct range *range;
} range_known[RANGE_KNOWN];
/* Number of insertions and removals of ranges, and 1. */
extern uint64_t range_moves;

struct range *range_search(uint64_t address);

/* Returns the range that holds an address, or NULL. Valid until a range is added or removed. */
static inline struct range *range_find(uint64_t address)
{
	uint64_t page = address & ~(PAGE - 1);
	const struct range_known *known = &range_known[page / PAGE % RANGE_KNOWN];

	return known->page == page && known->moves == range_moves ? known->range
								  : range_search(address);
}

/* Protects a whole range, or makes it accessible. */
void range_arm(struct range *range);
void range_disarm(struct range *range);

/* Arms all watched ranges, and the rings that the program polls. An instruction that hcasim cannot
 * decode may have disarmed them. */
void range_arm_watched(bool quantum_ended);

/* range_can_guard() returns true if each ring that the program polls traps. range_guard(true), with
 * watched memory armed, then makes each access to memory of the adapter trap. range_guard(false)
 * makes the rings accessible that the program does not poll. */
bool range_can_guard(void);
void range_guard(bool guarded);

/* Makes watched memory accessible, including hot and open pages: all of it, or only the memory that
 * DMA and other processes could not reach otherwise. */
void range_release(bool all);

/* Returns true if every access to memory that other processes may write traps now, or if there are
 * no such processes. Polled locations there move from page to page. */
bool range_show_peers(void);

/* range_make_hot() adds the page of an address to the hot pages. The oldest page is removed, and
 * all pages are then accessible. range_set_hot() protects the hot pages and all memory that other
 * processes may write, or makes them accessible. */
void range_make_hot(uint64_t address);
void range_set_hot(bool armed);

/* Returns true if the page is protected, by its range or as a hot page. */
bool range_page_is_armed(const struct range *range, uint64_t address);

/* Returns true if an access must be handled. Watched memory counts only in armed ranges, and in hot
 * pages if `hot_watched`. */
bool range_traps(uint64_t address, uint32_t length, bool hot_watched);

/* Returns the number of bytes of an access that lie in its first range, or before the first
 * range. */
uint32_t range_part(uint64_t address, uint32_t length);

/* Returns true if an access reaches registers of the adapter. It must lie completely in them. */
bool range_has_registers(uint64_t address, uint32_t length);

/* Returns true if an access to a range would trap if no quantum had ended. */
bool range_is_asked(const struct range *range, uint64_t address, uint32_t length, bool hot_watched);

/* Returns true if no access to a page must be handled: it has no range, or memory that only the
 * program reads or that is not watched now. The result stays valid as long as range_changes()
 * returns the same number. */
bool range_is_quiet(uint64_t page);
uint64_t range_changes(void);

/* Returns where the bytes at an address can be read and written now. Opens the pages of the bytes,
 * at most two, if the pages have no second mapping. */
uint8_t *range_reach(struct range *range, uint64_t address, uint32_t length);

/* Protects opened pages again. */
void range_close_pages(void);

void range_add_registers(uint64_t address, uint64_t length, uint32_t file, uint64_t offset);

/* Removes pages that are unmapped or have new contents. *file: the file of a removed doorbell page,
 * or 0. Returns false if there was no range on these pages. */
bool range_remove(uint64_t address, uint64_t length, uint32_t *file);

void range_add_ring(uint64_t address, uint64_t length, uint64_t offset, bool polled);
void range_add_watched(uint64_t address, uint64_t length);

/* Adds pages of a memory region that were moved to the queue memory. range_add_watched() follows
 * for the region. */
void range_add_region(uint64_t address, uint64_t length, uint64_t offset);

/* Adds pages that other processes may write to. */
void range_add_peers(uint64_t address, uint64_t length);
bool range_is_peers(uint64_t address);

/* Return rings, or regions, to the program as ordinary memory. */
void range_retire(uint64_t address, uint64_t length);
void range_unwatch(uint64_t address, uint64_t length);

/* Makes all memory of a forked child private to it. Called before it attaches. */
void range_forked(void);

#endif
