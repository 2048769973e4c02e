/* SPDX-License-Identifier: Apache-2.0 */
/* means: see means.h. */
#include "analysis/means.h"

#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics.h"

/* Rows that differ by the repeated column alone. */
struct group {
	const struct job *job;
	size_t *rows; /* in the order of the table */
	size_t count;
};

struct job {
	const struct table *results;
	size_t axes, repeated, metrics;
	double *values; /* of a metric, of one group */
	FILE *out;
	void *tree;            /* of groups, by their values */
	struct group **groups; /* in the order of their first rows */
	size_t group_count;
};

/* Compares the values of two groups' first rows. */
static int compare_groups(const void *one, const void *other)
{
	const struct group *a = one, *b = other;
	const struct job *job = a->job;

	for (size_t i = 0; i < job->axes; i++) {
		int order = i == job->repeated ? 0
					       : strcmp(table_cell(job->results, a->rows[0], i),
							table_cell(job->results, b->rows[0], i));
		if (order != 0)
			return order;
	}
	return 0;
}

/* Adds a row to its group, which may be new. */
static void add_row(struct job *job, size_t row)
{
	struct group *group = calloc(1, sizeof(*group));
	size_t *rows = malloc(sizeof(*rows));

	if (!group || !rows)
		abort();
	rows[0] = row;
	*group = (struct group){.job = job, .rows = rows, .count = 1};
	struct group **found = tsearch(group, &job->tree, compare_groups);
	if (!found)
		abort();
	if (*found == group) {
		job->groups[job->group_count++] = group;
		return;
	}
	free(rows);
	free(group);
	group = *found;
	group->rows = realloc(group->rows, (group->count + 1) * sizeof(*group->rows));
	if (!group->rows)
		abort();
	group->rows[group->count++] = row;
}

static void print_names(const struct job *job)
{
	for (size_t i = 0; i < job->axes; i++) {
		if (i == job->repeated)
			continue;
		table_print_field(job->results->names[i], job->out);
		fputc(',', job->out);
	}
	fprintf(job->out, "runs");
	for (size_t i = job->metrics; i < job->results->columns; i++)
		fprintf(job->out, ",%s,%s" MEANS_HALF, job->results->names[i],
			job->results->names[i]);
	fputc('\n', job->out);
}

/* Prints a mean and half of its interval. A single run has no interval. */
static void print_mean(const struct job *job, size_t count)
{
	const struct interval interval = statistics_interval(job->values, count);

	fputc(',', job->out);
	if (count > 0)
		fprintf(job->out, "%.9g", interval.mean);
	fputc(',', job->out);
	if (count > 1)
		fprintf(job->out, "%.9g", interval.half);
}

static void print_group(const struct job *job, const struct group *group)
{
	for (size_t i = 0; i < job->axes; i++) {
		if (i == job->repeated)
			continue;
		table_print_field(table_cell(job->results, group->rows[0], i), job->out);
		fputc(',', job->out);
	}
	fprintf(job->out, "%zu", group->count);
	for (size_t column = job->metrics; column < job->results->columns; column++) {
		size_t count = 0;

		for (size_t i = 0; i < group->count; i++) {
			double value = table_number(job->results, group->rows[i], column);

			if (isfinite(value))
				job->values[count++] = value;
		}
		print_mean(job, count);
	}
	fputc('\n', job->out);
}

static void keep_group(void *group)
{
	(void)group; /* groups are released in their own order */
}

bool means_write(const struct table *results, size_t axes, size_t repeated, size_t metrics,
		 const char *file)
{
	struct job job = {
		.results = results, .axes = axes, .repeated = repeated, .metrics = metrics};
	bool good;

	job.out = fopen(file, "w");
	if (!job.out)
		return false;
	job.values = calloc(results->rows + 1, sizeof(*job.values));
	job.groups = calloc(results->rows + 1, sizeof(struct group *));
	if (!job.values || !job.groups)
		abort();
	for (size_t row = 0; row < results->rows; row++)
		add_row(&job, row);
	print_names(&job);
	for (size_t i = 0; i < job.group_count; i++)
		print_group(&job, job.groups[i]);
	tdestroy(job.tree, keep_group);
	for (size_t i = 0; i < job.group_count; i++) {
		free(job.groups[i]->rows);
		free(job.groups[i]);
	}
	free(job.groups);
	free(job.values);
	good = ferror(job.out) == 0;
	return fclose(job.out) == 0 && good;
}
