/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bottleneck: which queue or resource of a run its work waited for most, by the gauges of all blocks (sim/gauge.h).
 *
 *     gauges --bottleneck_find()--> uses, the highest first --> summary.json, `hcasim explain RUN --bottleneck`
 *
 * The use of a server is how busy it was; of a pool, for how long somebody waited for room in it; of a limit of each queue
 * pair, how many of those with work it held up; all of the time in which there was work. What is full fills up what is
 * before it: among those whose use is within TIE of the highest, the one that the others wait for is named (the order of
 * bottleneck.c).
 */
#ifndef HCASIM_RUN_BOTTLENECK_H
#define HCASIM_RUN_BOTTLENECK_H

#include "sim/gauge.h"

#define BOTTLENECK_USES  12  /* that are told of */
#define BOTTLENECK_LEAST 0.5 /* below, nothing is named */

struct use {
	const struct block *block;
	const struct gauge_info *info;
	double use;  /* 0 to 1 */
	double mean; /* of what was in it */
	uint64_t most, capacity;
};

struct bottleneck {
	/* With work: the longest time for which a WORK gauge, a server or a pool tells of some, or all of it until `ended`. */
	sim_time time;
	unsigned count;
	/* [0] is the one that is named, if its use is BOTTLENECK_LEAST or more. */
	struct use uses[BOTTLENECK_USES];
};

/* From the gauges as they are now; count is 0 where nothing was waited for.
 * ended: when the run's work was over; nothing has been busy since. */
struct bottleneck bottleneck_find(const struct sim *sim, sim_time ended);

/* Checks that no limit held up more queue pairs than had work. Writes a line for each
 * violation, with block, gauge and figures. Returns their number. */
unsigned bottleneck_check(const struct sim *sim, FILE *out);

/* "bottleneck host0.hca.port.link 99 % busy: ...", or that there is none; with its end of line. */
void bottleneck_print_line(const struct bottleneck *bottleneck, FILE *out);

/* As members of a JSON object: "work_ps": 1234, "uses": [{"name": "host0.hca.port.link", ...}, ...] */
void bottleneck_print_json(const struct bottleneck *bottleneck, FILE *out);

/* "busy", "waited for", "of queue pairs held up" */
const char *bottleneck_verb(enum gauge_kind kind);

#endif
