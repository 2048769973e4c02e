/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bottleneck: finds the queue or resource that the work of a run waited for most, from the gauges
 * of all blocks (sim/gauge.h).
 *
 *     gauges --bottleneck_find()--> uses, highest first --> summary.json,
 *                                                           `hcasim explain RUN --bottleneck`
 *
 * Usage is a share of the time with work. For a server it is the busy time. For a pool it is the
 * time during which a request waited for room. For a limit per queue pair it is the share of queue
 * pairs with work that the limit stopped. A full resource also fills the resources upstream of it.
 * Among resources within TIE of the highest usage, the one furthest downstream is named (the order
 * of bottleneck.c).
 */
#ifndef HCASIM_RUN_BOTTLENECK_H
#define HCASIM_RUN_BOTTLENECK_H

#include "sim/gauge.h"

#define BOTTLENECK_USES  12  /* number of uses reported */
#define BOTTLENECK_LEAST 0.5 /* lower usage is not reported as a bottleneck */

struct use {
	const struct block *block;
	const struct gauge_info *info;
	double use;  /* usage, 0 to 1 */
	double mean; /* mean occupancy */
	uint64_t most, capacity;
};

struct bottleneck {
	/* Time with work: the longest working time of a WORK gauge, a server or a pool. Without
	 * WORK gauges it is `worked`. */
	sim_time time;
	unsigned count;
	/* uses[0] is the bottleneck if its use is BOTTLENECK_LEAST or more. */
	struct use uses[BOTTLENECK_USES];
};

/* Calculates the uses from the current gauges. count is 0 if no resource was used. worked: time
 * with work in progress, for runs without WORK gauges. */
struct bottleneck bottleneck_find(const struct sim *sim, sim_time worked);

/* Returns the gauge at a place of the order as "type.gauge", or NULL behind the last one. */
const char *bottleneck_order(size_t place);

/* Checks that no limit stopped more queue pairs than those with work. Writes a line for each
 * violation, with block, gauge and figures. Returns their number. */
unsigned bottleneck_check(const struct sim *sim, FILE *out);

/* Prints a line "bottleneck host0.hca.port.link 99 % busy: ...", or a line that there is none. */
void bottleneck_print_line(const struct bottleneck *bottleneck, FILE *out);

/* Prints members of a JSON object: "work_ps": 1234, "uses": [{"name": "host0.hca.port.link", ...},
 * ...] */
void bottleneck_print_json(const struct bottleneck *bottleneck, FILE *out);

/* Returns "busy", "waited for" or "of queue pairs held up". */
const char *bottleneck_verb(enum gauge_kind kind);

#endif
