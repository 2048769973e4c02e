/* SPDX-License-Identifier: Apache-2.0 */
/*
 * result: output of a run: a folder with the effective configuration, summary, counters, packets
 * and trace, or single files. Each file is written under a temporary name and moved to its place at
 * the end. Therefore every file in place is complete.
 *
 *     result_check()     before the build
 *     result_begin()     after build_create()
 *     result_finish()    after the run
 */
#ifndef HCASIM_RECORD_RESULT_H
#define HCASIM_RECORD_RESULT_H

#include "hcasim/builder/build.h"
#include "hcasim/run/experiment.h"
#include "hcasim/run/violations.h"

struct result_paths { /* NULL: not requested */
	const char *folder;
	const char *packets, *trace, *counters; /* single files */
	bool messages; /* the run will record messages although it has no workload */
};

struct result_outcome { /* input of the summary that the simulation does not provide */
	int exit_code;
	uint64_t trace_hash;
	const struct experiment *experiment; /* NULL: no workload */
	const struct load_result *load;      /* NULL: no load */
	const struct flow_record *records;   /* messages of programs */
	uint32_t record_count;
	struct violations violations; /* invariants that the run violated */
};

/* Return the end of the measured time, and the length of its part with work in progress. */
sim_time result_ended(const struct build *build, const struct result_outcome *outcome);
sim_time result_worked(const struct build *build, const struct result_outcome *outcome);

void result_outcome_fini(struct result_outcome *outcome);

struct result;

/* Checks that these outputs can be written. Returns false and writes the reason to *error if
 * not. */
bool result_check(const struct result_paths *paths, char *error, size_t error_bytes);

/* Checks that the blocks to be traced, and the counters to be compared, exist. Returns false and
 * writes the name of a missing one to *error. */
bool result_names(const struct build *build, char *error, size_t error_bytes);

/* Opens the outputs that are written during the run. Call result_names() first. The build must
 * outlive the result. Returns NULL and writes the reason to *error on failure. */
struct result *result_begin(const struct build *build, const struct result_paths *paths,
			    char *error, size_t error_bytes);

/* Writes the remaining outputs and moves all to their places. On failure returns false, writes the
 * reason to *error and removes incomplete files. */
bool result_finish(struct result *result, const struct result_outcome *outcome, char *error,
		   size_t error_bytes);

/* Removes the remains of a result folder whose run was killed. */
void result_discard(const char *folder);

/* Checks an expectation. Sets *value to the counter or metric. If it does not exist, sets *known to
 * false and writes the reason to *error. Returns true if the expectation holds. */
bool result_judge(const struct build *build, const struct result_outcome *outcome,
		  const struct scenario_expectation *expectation, double *value, bool *known,
		  char *error, size_t error_bytes);

/* Compares counters with the scenario's expectations. Prints each failed expectation to `out`.
 * Returns their number. */
unsigned result_compare(const struct build *build, FILE *out);

/* Compares the metrics of a workload or load in the same way. Also prints expectations that hold or
 * are not gated. */
unsigned result_compare_metrics(const struct build *build, const struct result_outcome *outcome,
				FILE *out);

/* Adds up the counters whose names, "block.counter", match the glob pattern. Returns false if no
 * name matches. */
bool result_counter(const struct build *build, const char *pattern, uint64_t *sum);

/* Prints one of the files that a folder of the run would have: "summary.json", "flows.csv" and so
 * on. Returns false if the run has no such file, or if it could not be kept during the run. */
bool result_print_file(const struct build *build, const struct result_outcome *outcome,
		       const char *name, FILE *out);

/* Prints summary.json alone. */
void result_print_summary(const struct build *build, const struct result_outcome *outcome,
			  FILE *out);

#endif
