/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_unit: a unit that serves one request after the other, such as memory or a link.
 * Requests must come in the order of their times, because a request for the future would delay
 * requests of the present. A caller that knows a future time schedules an event for it and
 * calls then (sim/sim.h).
 */
#ifndef SIM_SHARED_UNIT_H
#define SIM_SHARED_UNIT_H

#include <assert.h>

#include "sim/sim.h"

struct shared_unit {       /* embedded in its owner; all zero means idle */
	sim_time free_at;  /* end of the last request */
	sim_time asked_at; /* time of the last request */
};

/* Takes the unit for `duration`. `at` must not be earlier than in the previous call. Returns
 * the start of the service. */
static inline sim_time shared_unit_take(struct shared_unit *unit, sim_time at, sim_time duration)
{
	sim_time start = at > unit->free_at ? at : unit->free_at;

	assert(at >= unit->asked_at);
	unit->asked_at = at;
	unit->free_at = start + duration;
	return start;
}

#endif
