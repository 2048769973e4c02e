/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter_lists: every counter that a block may have, by the type of the block as counters.json names it, with unit and
 * meaning. The lists are those that the blocks themselves go by.
 *
 *     counters.json {"host0.hca.pcie": {"type": "pcie", "counters": {"reads": 12 ...  --counter_lists--> "TLPs", "read requests ..."
 */
#ifndef HCASIM_RECORD_COUNTER_LISTS_H
#define HCASIM_RECORD_COUNTER_LISTS_H

#include "sim/block.h"

struct counter_list {
	const char *type;               /* of blocks */
	const char *meaning;            /* what such a block does */
	const struct counter *counters; /* ends with a NULL name */
};

extern const struct counter_list counter_lists[]; /* ends with a NULL type */

/* The counter of that name of blocks of that type. NULL: there is none. */
const struct counter *counter_find(const char *type, const char *name);

#endif
