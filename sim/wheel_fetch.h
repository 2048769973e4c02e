/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wheel_fetch: prefetches memory for the events of the wheel, shortly before they fire. The stages
 * of event_set_fetch() go by slots. In a longer list they go by entries.
 */
#ifndef SIM_WHEEL_FETCH_H
#define SIM_WHEEL_FETCH_H

#include "sim/wheel.h"

/* Prefetches for the events of the near slots after `number`: the events of the third slot, stage 0
 * of the second, stage 1 of the next. */
void wheel_fetch_slots(const struct wheel *wheel, uint32_t number);

/* Prefetches for the events of the current list: stage 2, and stage 3 of the first two. */
void wheel_fetch_current(const struct wheel *wheel);

/* Prefetches for later events of the current list, after one was taken from it. Returns that
 * event, so that a caller needs to keep nothing. */
struct event *wheel_fetch_ahead(const struct wheel *wheel, struct event *event);

#endif
