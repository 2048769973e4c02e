/* SPDX-License-Identifier: Apache-2.0 */
/*
 * result: what a run leaves behind: a folder with the effective configuration, summary, counters, packets and trace,
 * or single files of these. Everything is written beside its place and moved there at the end, so that what stands
 * there is whole.
 *
 *     result_check() before anything starts; result_begin() after build_create(); result_finish() after the run
 */
#ifndef HCASIM_RECORD_RESULT_H
#define HCASIM_RECORD_RESULT_H

#include "hcasim/builder/build.h"
#include "hcasim/run/experiment.h"

struct result_paths { /* NULL: not wanted */
	const char *folder;
	const char *packets, *trace, *counters; /* as single files */
	bool messages; /* there will be records of them, though there is no workload */
};

struct result_outcome { /* what the summary says besides what the simulation knows */
	int exit_code;
	uint64_t trace_hash;
	const struct experiment *experiment; /* NULL: no workload was played */
	const struct load_result *load;      /* NULL: no load was */
	const struct flow_record *records;   /* of the messages of programs */
	uint32_t record_count;
};

struct result;

/* Can these be written? false: *error. */
bool result_check(const struct result_paths *paths, char *error, size_t error_bytes);

/* Are the blocks that the scenario traces, and the counters that it expects, there? false: *error names one that is not. */
bool result_names(const struct build *build, char *error, size_t error_bytes);

/* Opens what is written during the run, of names that are there. NULL: *error. The build outlives it. */
struct result *result_begin(const struct build *build, const struct result_paths *paths,
			    char *error, size_t error_bytes);

/* Writes the rest and moves all to their places. false: *error, and nothing is left of what could not be written whole. */
bool result_finish(struct result *result, const struct result_outcome *outcome, char *error,
		   size_t error_bytes);

/* Removes what a run that was killed has left of a result folder. */
void result_discard(const char *folder);

/* Compares the counters with what the scenario expects. Returns how many expectations do not hold, each of them
 * named on `out`. */
unsigned result_compare(const struct build *build, FILE *out);

/* The same with the metrics of a workload or load, and with those lines that hold or are not gated, too. */
unsigned result_compare_metrics(const struct build *build, const struct result_outcome *outcome,
				FILE *out);

/* summary.json, on its own. */
void result_print_summary(const struct build *build, const struct result_outcome *outcome,
			  FILE *out);

#endif
