/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter_lists: every counter of every block type, with unit and meaning. Types have their names
 * in counters.json. The lists are the ones that the blocks use themselves.
 *
 *     counters.json {"host0.hca.pcie": {"type": "pcie", "counters": {"reads": 12 ...
 *         --counter_lists--> "TLPs", "read requests ..."
 */
#ifndef HCASIM_RECORD_COUNTER_LISTS_H
#define HCASIM_RECORD_COUNTER_LISTS_H

#include "sim/block.h"

struct counter_list {
	const char *type;               /* type of the blocks */
	const char *meaning;            /* purpose of such a block */
	const struct counter *counters; /* ends with an entry whose name is NULL */
};

extern const struct counter_list counter_lists[]; /* ends with an entry whose type is NULL */

/* Returns the counter with that name in blocks of that type, or NULL. */
const struct counter *counter_list_find(const char *type, const char *name);

#endif
