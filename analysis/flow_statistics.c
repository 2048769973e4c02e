/* SPDX-License-Identifier: Apache-2.0 */
/* flow_statistics: see flow_statistics.h. */
#include "analysis/flow_statistics.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/histogram.h"
#include "analysis/table.h"

#define DIGITS 3
#define UNIT   1e-6 /* of values in flows.csv: six decimals */
#define Z_95   1.959964

#define SHARE_OF(name, share) share,
static const double shares[] = {FLOW_QUANTILES(SHARE_OF)};

struct value {
	double at, value;
};

static int by_time(const void *one, const void *other)
{
	const struct value *a = one, *b = other;

	return (a->at > b->at) - (a->at < b->at);
}

const char *flow_statistics_file(const char *metric)
{
	size_t length = strlen(metric), end = strlen(FLOW_STATISTICS_OPERATIONS);

	return length >= end && strcmp(metric + length - end, FLOW_STATISTICS_OPERATIONS) == 0
		       ? "operations.csv"
		       : "flows.csv";
}

/* Reads a column in the order of the starts of flows or operations. The caller frees the list.
 * Returns NULL on failure. */
static double *read_values(const char *folder, const char *metric, size_t *count, char *error,
			   size_t error_bytes)
{
	const char *file = flow_statistics_file(metric);
	char path[PATH_MAX];
	struct table *flows;
	size_t column, start;
	struct value *list;
	double *values;

	*count = 0;
	snprintf(path, sizeof(path), "%.3000s/%s", folder, file);
	flows = table_read(path, error, error_bytes);
	if (!flows)
		return NULL;
	column = table_column(flows, metric);
	if (column == flows->columns) {
		snprintf(error, error_bytes, "%s has no column %s", path, metric);
		table_free(flows);
		return NULL;
	}
	start = table_column(flows, "started_us");
	list = calloc(flows->rows + 1, sizeof(*list));
	values = calloc(flows->rows + 1, sizeof(*values));
	if (!list || !values)
		abort();
	for (size_t row = 0; row < flows->rows; row++) {
		double value = table_number(flows, row, column);

		if (isfinite(value) && value >= 0)
			list[(*count)++] = (struct value){table_number(flows, row, start), value};
	}
	qsort(list, *count, sizeof(*list), by_time);
	for (size_t i = 0; i < *count; i++)
		values[i] = list[i].value;
	table_free(flows);
	free(list);
	return values;
}

/* A quantile is known if the ranks of its interval exist (binomial; Conover, Practical
 * Nonparametric Statistics, 1999, 3.2). */
static void fill_quantiles(struct flow_statistics *statistics, const struct histogram *histogram)
{
	double count = (double)histogram_count(histogram);

	for (unsigned i = 0; i < FLOW_QUANTILE_COUNT; i++) {
		double reach = Z_95 * sqrt(shares[i] * (1 - shares[i]) / count);

		statistics->quantiles[i] = (struct interval){NAN, NAN, 0};
		if (count > 0 && shares[i] + reach < 1 && shares[i] > reach) {
			double low = histogram_quantile(histogram, shares[i] - reach);
			double high = histogram_quantile(histogram, shares[i] + reach);

			statistics->quantiles[i] = (struct interval){
				histogram_quantile(histogram, shares[i]), (high - low) / 2, 2};
		}
	}
}

bool flow_statistics_run(const char *folder, const char *metric, struct flow_statistics *statistics,
			 char *error, size_t error_bytes)
{
	size_t count, warm_up;
	double *values = read_values(folder, metric, &count, error, error_bytes);
	struct histogram *histogram;
	struct batch_means means;

	if (!values)
		return false;
	histogram = histogram_create(DIGITS, UNIT);
	warm_up = statistics_warm_up(values, count);
	means = statistics_batch_means(values + warm_up, count - warm_up);
	for (size_t i = warm_up; i < count; i++)
		histogram_add(histogram, values[i]);
	*statistics = (struct flow_statistics){.flows = count,
					       .warm_up = warm_up,
					       .mean = means.interval,
					       .correlated = means.correlated};
	fill_quantiles(statistics, histogram);
	histogram_destroy(histogram);
	free(values);
	return true;
}

/* Adds the flows of one run. Returns false on failure. */
static bool add_run(const char *folder, const char *metric, struct histogram *histogram,
		    double *mean, char *error, size_t error_bytes)
{
	size_t count;
	double *values = read_values(folder, metric, &count, error, error_bytes), sum = 0;

	if (!values)
		return false;
	for (size_t i = 0; i < count; i++) {
		histogram_add(histogram, values[i]);
		sum += values[i];
	}
	*mean = count ? sum / (double)count : NAN;
	free(values);
	return true;
}

bool flow_statistics_group(const char *const *folders, size_t count, const char *metric,
			   struct flow_statistics *statistics, char *error, size_t error_bytes)
{
	struct histogram *histogram = histogram_create(DIGITS, UNIT);
	double *means = calloc(count + 1, sizeof(*means));
	size_t runs = 0;
	bool good = true;

	if (!means)
		abort();
	for (size_t i = 0; i < count && good; i++) {
		good = add_run(folders[i], metric, histogram, &means[runs], error, error_bytes);
		runs += good && isfinite(means[runs]) ? 1 : 0;
	}
	*statistics = (struct flow_statistics){.flows = histogram_count(histogram),
					       .mean = statistics_interval(means, runs)};
	fill_quantiles(statistics, histogram);
	histogram_destroy(histogram);
	free(means);
	return good;
}
