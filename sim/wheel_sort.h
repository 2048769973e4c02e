/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wheel_sort: sorts the entries of a near slot of the wheel by (key, order). Lists have 1 to 30
 * entries in most models, and thousands of one time in models that run in lockstep.
 */
#ifndef SIM_WHEEL_SORT_H
#define SIM_WHEEL_SORT_H

#include "sim/wheel.h"

static inline bool wheel_earlier(const struct wheel_entry *a, const struct wheel_entry *b)
{
	return a->key < b->key || (a->key == b->key && a->order < b->order);
}

/* Returns the sorted list, which is `list` or `scratch`. Both have the same size. The other has
 * undefined contents afterwards. */
struct wheel_entry *wheel_sort(struct wheel_entry *list, struct wheel_entry *scratch,
			       uint32_t count);

#endif
