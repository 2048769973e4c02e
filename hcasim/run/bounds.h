/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bounds: what each resource of a run lets through: its capacity over what an operation takes of it. No run is faster than the
 * lowest bound; one that is much slower, with nothing busy, waits for something that no resource tells of.
 *
 *     gauges, operations --bounds_find()--> bounds, the lowest first --> summary.json, `hcasim explain RUN --bounds`
 *
 * An operation is a work request of detailed adapters, or a bit of payload where there are none. What it takes of a server is time
 * of service, of a pool the time that it stays; both are the run's own means.
 */
#ifndef HCASIM_RUN_BOUNDS_H
#define HCASIM_RUN_BOUNDS_H

#include "hcasim/run/bottleneck.h"

#define BOUNDS_SHOWN 12

struct bound {
	const struct block *block;
	const struct gauge_info *info;
	double rate;   /* operations a second */
	double demand; /* ps x servers, or units, an operation */
	uint64_t capacity;
};

struct bounds {
	const char *operation; /* "work requests"; NULL: none is known */
	const char *unit;      /* of the rates that are shown */
	double scale;          /* a second's operations to that unit */
	double operations;
	double measured; /* operations a second, of the time with work */
	unsigned count;
	struct bound list[BOUNDS_SHOWN]; /* the lowest first */
	/* Where most of the work waits, if the run is far below all bounds and nothing is busy. NULL: it is not. */
	const struct block *waits_in;
	const struct gauge_info *waits_for;
};

/* ended: as for bottleneck_find(). */
struct bounds bounds_find(const struct sim *sim, sim_time ended);

/* Writes a line to `out` if operations went faster than the lowest bound. `rate`: of a window, a second; `edge`: the operations that
 * may have been served before it and ended in it, as a share of those that ended in it. Returns how many lines. */
unsigned bounds_check(const struct bounds *bounds, double rate, double edge, FILE *out);

/* "far below  27.0 % of the lowest bound (...), and nothing is busy: waiting in ..."; nothing if it is not so. */
void bounds_print_line(const struct bounds *bounds, FILE *out);

/* "bounds": {...}, a member of a JSON object */
void bounds_print_json(const struct bounds *bounds, FILE *out);

#endif
