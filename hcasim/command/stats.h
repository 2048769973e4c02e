/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats: results of hcasim stats.
 *
 *     verb_stats.c --struct stats--> stats_print.c --> text or JSON, with the same digits
 */
#ifndef HCASIM_COMMAND_STATS_H
#define HCASIM_COMMAND_STATS_H

#include "analysis/flow_statistics.h"
#include "analysis/table.h"

enum stats_kind {
	STATS_RUN,   /* flows of a run */
	STATS_GROUP, /* flows of the points of a sweep that differ by the seed alone */
	STATS_PAIR,  /* two values of a swept key */
};

struct stats_result {
	enum stats_kind kind;
	const char *metric; /* of the arguments or of the table */
	/* run, group */
	struct flow_statistics of;
	/* group: its first row in the table. pair: a row of each value of the key */
	size_t row, other_row;
	/* pair */
	size_t key; /* column */
	struct pair pair;
	double base; /* mean of the first value */
};

struct stats {
	const char *folder;
	struct table *results;    /* results.csv of a sweep; NULL: a run */
	size_t axes, seed, point; /* columns; seed is table->columns if it is not swept */
	struct stats_result *list;
	size_t count;
};

/* Prints all results to standard output. */
void stats_print_text(const struct stats *stats);
void stats_print_json(const struct stats *stats);

#endif
