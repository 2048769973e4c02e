/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bounds: maximum rate that each resource of a run allows: its capacity divided by the demand of
 * one operation. No run is faster than the lowest bound. If a run is much slower and no resource is
 * busy, it waits for something that is not a resource.
 *
 *     gauges, operations --bounds_find()--> bounds, lowest first --> summary.json,
 *                                                                    `hcasim explain RUN --bounds`
 *
 * An operation is a work request of detailed adapters, or a bit of payload if there are none. Its
 * demand is the mean service time of a server, or the mean time that it occupies a pool.
 */
#ifndef HCASIM_RUN_BOUNDS_H
#define HCASIM_RUN_BOUNDS_H

#include "hcasim/run/bottleneck.h"
#include "sim/snapshot.h"

#define BOUNDS_SHOWN 12

struct operation;

struct bound {
	const struct block *block;
	const struct gauge_info *info;
	double rate;   /* operations per second */
	double demand; /* ps x servers, or units, per operation */
	uint64_t capacity;
};

struct bounds {
	const char *operation; /* "work requests"; NULL: unknown */
	const char *unit;      /* unit of the printed rates */
	double scale;          /* factor from operations per second to that unit */
	double operations;
	double measured; /* operations per second of the window, or of the time with work */
	const struct operation *by; /* the definition of an operation */
	unsigned count;
	struct bound list[BOUNDS_SHOWN]; /* lowest first */
	/* Place where most work waits, if the run is far below all bounds and no resource is busy.
	 * Otherwise NULL. */
	const struct block *waits_in;
	const struct gauge_info *waits_for;
};

/* `worked` is as for bottleneck_find(). window: snapshots of the start and the end of the
 * measurement, or NULL for the whole run. */
struct bounds bounds_find(const struct sim *sim, sim_time worked, const struct snapshot *window);

/* Checks that operations were not faster than the lowest bound allows. `rate` is the rate in a
 * window, per second. `edge` is the share of its operations that may have been served before the
 * window. Writes a line to `out` for a violation. Returns the number of lines. */
unsigned bounds_check(const struct bounds *bounds, double rate, double edge, FILE *out);

/* Prints "far below 27.0 % of the lowest bound (...), and nothing is busy: waiting in ..." if this
 * is the case. */
void bounds_print_line(const struct bounds *bounds, FILE *out);

/* Prints a member of a JSON object: "bounds": {...} */
void bounds_print_json(const struct bounds *bounds, FILE *out);

#endif
