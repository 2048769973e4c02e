/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range_list: the ranges of a program, sorted by address. They do not overlap. Pointers to ranges
 * hold until one is added or removed. The caller is range.c, also in traps.
 */
#ifndef VERBS_SHIM_PRELOAD_RANGE_LIST_H
#define VERBS_SHIM_PRELOAD_RANGE_LIST_H

#include "verbs-shim/preload/range.h"

/* The array has a gap at the last insertion or removal. Programs register memory upwards or
 * downwards, so the gap is near the next insertion. */
struct range_list {
	struct range *ranges;
	uint32_t count, room;
	uint32_t gap; /* number of ranges before it */
};

extern struct range_list range_list;

static inline struct range *range_list_at(uint32_t index)
{
	return &range_list.ranges[index < range_list.gap
					  ? index
					  : index + (range_list.room - range_list.count)];
}

/* Returns the index of the first range that ends after the address, or the number of ranges. */
uint32_t range_list_after(uint64_t address);

/* Adds a range at an index. The process ends if there is no memory for it: a program would poll in
 * vain in the first unknown range. */
void range_list_insert(uint32_t index, const struct range *range);

/* Removes the range at an index, and returns it. */
struct range range_list_remove(uint32_t index);

#endif
