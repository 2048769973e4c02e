/* SPDX-License-Identifier: Apache-2.0 */
/* means: see means.h. */
#include "analysis/means.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONFIDENCE 0.95

struct job {
	const struct table *results;
	size_t axes, repeated, metrics;
	double *values; /* of a metric, of one group */
	FILE *out;
};

static bool is_same(const struct job *job, size_t one, size_t other)
{
	for (size_t i = 0; i < job->axes; i++) {
		if (i != job->repeated && strcmp(table_cell(job->results, one, i),
						 table_cell(job->results, other, i)) != 0)
			return false;
	}
	return true;
}

static bool is_first(const struct job *job, size_t row)
{
	for (size_t i = 0; i < row; i++) {
		if (is_same(job, i, row))
			return false;
	}
	return true;
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

/* Of one run no interval is known. */
static void print_mean(const struct job *job, size_t count)
{
	double half = 0;

	if (count == 0) {
		fprintf(job->out, ",,");
		return;
	}
	fprintf(job->out, ",%.9g", gsl_stats_mean(job->values, 1, count));
	if (count == 1) {
		fputc(',', job->out);
		return;
	}
	half = gsl_cdf_tdist_Pinv(0.5 + CONFIDENCE / 2, (double)(count - 1)) *
	       gsl_stats_sd(job->values, 1, count) / sqrt((double)count);
	fprintf(job->out, ",%.9g", half);
}

static void print_group(const struct job *job, size_t first)
{
	size_t runs = 0;

	for (size_t i = 0; i < job->axes; i++) {
		if (i == job->repeated)
			continue;
		table_print_field(table_cell(job->results, first, i), job->out);
		fputc(',', job->out);
	}
	for (size_t row = first; row < job->results->rows; row++)
		runs += is_same(job, first, row);
	fprintf(job->out, "%zu", runs);
	for (size_t column = job->metrics; column < job->results->columns; column++) {
		size_t count = 0;

		for (size_t row = first; row < job->results->rows; row++) {
			double value = table_number(job->results, row, column);

			if (is_same(job, first, row) && isfinite(value))
				job->values[count++] = value;
		}
		print_mean(job, count);
	}
	fputc('\n', job->out);
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
	if (!job.values)
		abort();
	print_names(&job);
	for (size_t row = 0; row < results->rows; row++) {
		if (is_first(&job, row))
			print_group(&job, row);
	}
	free(job.values);
	good = ferror(job.out) == 0;
	return fclose(job.out) == 0 && good;
}
