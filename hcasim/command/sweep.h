/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep: what verb_sweep.c, which runs the points of a sweep, shares with sweep_table.c, which writes the sweep's tables.
 */
#ifndef HCASIM_COMMAND_SWEEP_H
#define HCASIM_COMMAND_SWEEP_H

#include <limits.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "hcasim/command/verb.h"
#include "hcasim/schema/scenario.h"

#define SWEEP_PART ".part" /* behind the name of a file or folder that is not finished */

struct sweep_point {
	char name[17]; /* of its folder: scenario_hash() */
	bool finished; /* its folder stands */
	pid_t process; /* 0: does not run */
	double began;  /* wall time, seconds */
};

struct sweep {
	const struct arguments *arguments;
	const struct scenario *scenario; /* with no value of the sweep in place */
	const char *folder;
	int lock; /* of the folder, until the process ends */
	struct sweep_point *points;
	size_t count, done;
	unsigned running;
	bool failed;
	bool full; /* nothing more can be written to the folder */
};

/* Returns the value that the point has of that axis. The last axis changes fastest. */
const struct scenario_sweep_value *sweep_value(const struct sweep *sweep, size_t point,
					       uint32_t axis);

/* Writes the path of a file ("/summary.json") of the point's folder, or of the folder (""). */
void sweep_path(const struct sweep *sweep, size_t point, const char *file, char path[PATH_MAX]);

/* Returns monotonic wall time in seconds. */
double sweep_seconds(void);

/* Appends a line to cost.csv: what the run of the point took of this machine. */
void sweep_add_cost(const struct sweep *sweep, size_t point, const struct rusage *usage);

/* Writes results.csv, by-name/ and, where seeds are swept, means.csv; with --json prints the
 * results. Returns false, having said why, if that cannot be written. */
bool sweep_write(const struct sweep *sweep);

#endif
