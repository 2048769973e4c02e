/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep: declarations shared by the files of `hcasim sweep`; verb_sweep.c lists the files.
 */
#ifndef HCASIM_COMMAND_SWEEP_H
#define HCASIM_COMMAND_SWEEP_H

#include <limits.h>
#include <sys/types.h>

#include "hcasim/command/verb.h"
#include "hcasim/schema/scenario.h"

#define SWEEP_PART ".part" /* suffix of an unfinished file or folder */

struct sweep_point {
	char name[17]; /* name of its folder: scenario_hash() */
	bool finished; /* its folder exists and is complete */
	pid_t process; /* 0: not running */
	size_t part;   /* with --part */
	double began;  /* wall time, seconds */
};

struct sweep {
	const struct arguments *arguments;
	const struct scenario *scenario; /* without any values of the sweep */
	const char *folder;
	int lock; /* lock of the folder, held until the process ends */
	struct sweep_point *points;
	size_t count, done;
	size_t part, parts; /* --part; 0 of 1: all points */
	unsigned running;
	bool failed;
	bool full; /* the folder accepts no further file */
};

/* ---- sweep_product.c ---- */

/* Returns the value of the point on that axis. The last axis changes fastest. */
const struct scenario_sweep_value *sweep_product_value(const struct sweep *sweep, size_t point,
						       uint32_t axis);

/* Returns the scenario with the values of the point. Returns NULL on failure, and adds the reasons
 * to `errors`. */
struct scenario *sweep_product_read(const struct sweep *sweep, size_t point,
				    struct yaml_errors *errors);

/* Allocates and names all points. Returns false and prints the reason if a point cannot be read. */
bool sweep_product_find(struct sweep *sweep);

/* ---- sweep_names.c ---- */

#define SWEEP_NAME_BYTES 200 /* limit for the name of a link */

/* Writes "threads=8,qps=2". A value that is a map gives the keys below the axis's key:
 * "pcie.lanes=8,pcie.generation=3". */
void sweep_names_write(const struct sweep *sweep, size_t point, char name[SWEEP_NAME_BYTES]);

/* Makes by-name/. Returns false and prints the reason on failure. */
bool sweep_names_link(const struct sweep *sweep);

/* ---- sweep_resume.c ---- */

/* Writes the path of `file` (for example "/summary.json") in the point's folder. "" stands for the
 * folder. */
void sweep_resume_path(const struct sweep *sweep, size_t point, const char *file,
		       char path[PATH_MAX]);

/* Makes the folder of the sweep, and locks it for this process. Processes of parts share the lock.
 * Returns false and prints the reason on failure. */
bool sweep_resume_open(struct sweep *sweep);

/* Returns true if the point has a result, and counts it the first time. */
bool sweep_resume_look(struct sweep *sweep, size_t point);

/* ---- sweep_pool.c ---- */

/* Runs all unfinished points. Returns the signal that ended the sweep, or 0. */
int sweep_pool_run(struct sweep *sweep);

/* ---- sweep_part.c ---- */

/* Assigns each point to one of the parts. Returns the number of different configurations. */
size_t sweep_part_assign(struct sweep *sweep, size_t parts);

/* Reads "3/20". Returns false and prints the reason if the text is not a part. */
bool sweep_part_read(const char *text, size_t *part, size_t *parts);

/* ---- sweep_slurm.c ---- */

#define SWEEP_POINTS_EACH 16 /* points per task, without --points */

/* Runs the unfinished points, and writes the tables, by jobs of Slurm. Returns an exit code. */
int sweep_slurm_run(struct sweep *sweep);

/* ---- sweep_judgement.c ---- */

/* Judges a run by the status of its process. Returns true if it is as expected. */
bool sweep_judgement_add(struct sweep *sweep, int status);

/* Returns the suffix of a point's progress line: "", " not as expected" or " failed". */
const char *sweep_judgement_word(const struct sweep_point *point, bool good);

/* Returns the exit code of the sweep. */
int sweep_judgement_code(const struct sweep *sweep);

/* ---- sweep_columns.c ---- */

/* Print the names and the values of the columns of all axes, each with a comma behind it. */
void sweep_columns_print_names(const struct sweep *sweep, FILE *out);
void sweep_columns_print_values(const struct sweep *sweep, size_t point, FILE *out);

/* Returns the number of columns of all axes. */
size_t sweep_columns_count(const struct sweep *sweep);

/* Finds the column of the seed. Returns false if the seed is not an axis of its own. */
bool sweep_columns_find_seed(const struct sweep *sweep, size_t *column);

/* ---- sweep_table.c, sweep_bins.c, sweep_database.c ---- */

/* Writes results.csv, by-name/, bins.csv, results.db and, if seeds are swept, the means. Prints the
 * results with --json. Returns false and prints the reason on failure. */
bool sweep_table_write(const struct sweep *sweep);

/* Writes bins.csv of a workload's sweep, and bin_means.csv if seeds are swept. Returns false if a
 * file cannot be written, and prints the reason. */
bool sweep_bins_write(const struct sweep *sweep);

/* Writes results.db from the tables. Returns false and prints the reason on failure. */
bool sweep_database_write(const struct sweep *sweep);

#endif
