/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trap_ranges: which of the program's memory concerns the simulator, and which of its pages are protected so that a touch
 * traps. Ranges are kept by address and do not overlap. A range is armed as a whole; of one that is not, the hot pages, those
 * that were polled, may be armed alone; and a page that is armed may be open until the trap at it has been handled.
 *
 * Who calls: trap.c, as it handles traps. What adds and removes ranges is declared in shim.h, for the calls of the program
 * that map and register memory.
 */
#ifndef VERBS_SHIM_PRELOAD_TRAP_RANGES_H
#define VERBS_SHIM_PRELOAD_TRAP_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#define PAGE UINT64_C(4096)

enum range_kind { RANGE_REGISTERS, RANGE_RING, RANGE_WATCHED };

struct range {
	uint64_t address, length;
	uint64_t offset; /* doorbells: in the device file; shared: in the queue memory */
	uint64_t first,
		end; /* watched: the HCA writes to no bytes of these pages but [first, end) */
	uint32_t file;
	uint8_t kind;
	bool polled; /* ring: by the program; the others it writes */
	bool armed;  /* whole range protected */
	bool asked;  /* it would be if no quantum had ended */
	bool shared; /* its bytes are in the queue memory; rings are always */
	bool peers; /* watched: other processes may write there as well; it stays so when no region is there */
};

/* The range that holds an address, or NULL. Valid until a range is added or removed. */
struct range *range_find(uint64_t address);

/* Protects a whole range, or makes it accessible. */
void range_arm(struct range *range);
void range_disarm(struct range *range);

/* Arms all watched ranges; as a quantum has ended, the rings that the program polls too. */
void ranges_arm(bool quantum_ended);

/* Makes watched memory accessible, hot and open pages with it: all, or what DMA and others could not reach otherwise. */
void ranges_release(bool all);

/* Does every look at memory that other processes may write to trap now? What is polled there moves from page to page. */
bool ranges_show_peers(void);

/* Adds the page of an address to the hot ones (the oldest leaves), all accessible then; protects these, and with them all memory
 * that other processes may write to, or makes them accessible. */
void range_make_hot(uint64_t address);
void range_set_hot(bool armed);

/* Is the page protected, by its range or as a hot one? */
bool range_page_is_armed(const struct range *range, uint64_t address);

/* Does an access concern us? Of watched memory only armed ranges do, and hot pages if these are watched. */
bool range_traps(uint64_t address, uint32_t length, bool hot_watched);

/* Returns how many bytes of an access lie in the range that it begins in, or in front of the first one. */
uint32_t range_part(uint64_t address, uint32_t length);

/* Does an access reach registers of the adapter? Such a one must lie in them as a whole. */
bool range_has_registers(uint64_t address, uint32_t length);

/* Would an access to a range trap if no quantum had ended? */
bool range_is_asked(const struct range *range, uint64_t address, uint32_t length, bool hot_watched);

/* Does any range reach into these bytes? What is not in one stays so as long as the number of additions is the same. */
bool range_overlaps(uint64_t address, uint64_t length);
uint64_t range_additions(void);

/* Where the bytes at an address can be read and written now; opens their pages, two at most, if they have no second mapping. */
uint8_t *range_reach(struct range *range, uint64_t address, uint32_t length);

/* Protects again what was opened. */
void range_close_pages(void);

#endif
