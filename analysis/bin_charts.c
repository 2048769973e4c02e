/* SPDX-License-Identifier: Apache-2.0 */
/* bin_charts: see bin_charts.h. A table of bins is a sweep's table with one more key, the bin. */
#include "analysis/bin_charts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEY_NAME    "flow size"
#define KEYS        3  /* of, bytes_above_B, bytes_to_B */
#define LOGARITHMIC 10 /* ratio of the values from which an axis is logarithmic */
#define NAME_BYTES  64

static const struct {
	const char *metric, *title, *unit;
} shown[] = {
	{"slowdown_mean", "Mean slowdown by flow size", ""},
	{"slowdown_p50", "Median slowdown by flow size", ""},
	{"slowdown_p99", "99th percentile of the slowdown by flow size", ""},
	{"fct_p99_us", "99th percentile of the flow time by flow size", "us"},
};

/* "100 KB" */
static void print_size(const char *bytes, char *text, size_t text_bytes)
{
	static const char *const units[] = {"B", "KB", "MB", "GB"};
	double size = strtod(bytes, NULL);
	size_t unit = 0;

	for (; size >= 1000 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
		size /= 1000;
	snprintf(text, text_bytes, "%.4g %s", size, units[unit]);
}

/* "up to 10 KB", "10 KB to 100 KB", "above 1 MB" */
static void print_bin(const char *above, const char *to, char text[NAME_BYTES])
{
	char low[NAME_BYTES / 4], high[NAME_BYTES / 4];

	print_size(above, low, sizeof(low));
	print_size(to, high, sizeof(high));
	if (*above == '\0')
		snprintf(text, NAME_BYTES, "up to %s", high);
	else if (*to == '\0')
		snprintf(text, NAME_BYTES, "above %s", low);
	else
		snprintf(text, NAME_BYTES, "%s to %s", low, high);
}

static char *copy(const char *text)
{
	char *copied = strdup(text);

	if (!copied)
		abort();
	return copied;
}

/* True if the line is about flows of that kind, and not about all sizes. */
static bool is_wanted(const struct table *bins, size_t row, size_t of, const char *kind)
{
	return strcmp(table_cell(bins, row, of), kind) == 0 &&
	       (*table_cell(bins, row, of + 1) != '\0' || *table_cell(bins, row, of + 2) != '\0');
}

/* Returns the lines of that kind, with the columns of the bin as one key. The caller frees the
 * table with table_free(). */
static struct table *with_key(const struct table *bins, size_t of, const char *kind)
{
	struct table *table = calloc(1, sizeof(*table));
	size_t columns = bins->columns - KEYS + 1, cell = 0;

	if (!table)
		abort();
	table->columns = columns;
	table->names = calloc(columns, sizeof(*table->names));
	table->cells = calloc(bins->rows * columns + 1, sizeof(*table->cells));
	if (!table->names || !table->cells)
		abort();
	for (size_t i = 0; i < columns; i++)
		table->names[i] = copy(i < of    ? bins->names[i]
				       : i == of ? KEY_NAME
						 : bins->names[i + KEYS - 1]);
	for (size_t row = 0; row < bins->rows; row++) {
		char bin[NAME_BYTES];

		if (!is_wanted(bins, row, of, kind))
			continue;
		print_bin(table_cell(bins, row, of + 1), table_cell(bins, row, of + 2), bin);
		for (size_t i = 0; i < columns; i++)
			table->cells[cell++] =
				copy(i < of    ? table_cell(bins, row, i)
				     : i == of ? bin
					       : table_cell(bins, row, i + KEYS - 1));
		table->rows++;
	}
	return table;
}

static bool has_kind(const struct table *bins, size_t of, const char *kind)
{
	for (size_t row = 0; row < bins->rows; row++)
		if (is_wanted(bins, row, of, kind))
			return true;
	return false;
}

/* True if flows of different bins have times. A table without their column has flows only. */
static bool has_bins(const struct table *table, size_t key)
{
	size_t metric = table_column(table, "fct_p50_us");
	const char *first = NULL;

	for (size_t row = 0; row < table->rows; row++) {
		const char *bin = table_cell(table, row, key);

		if (metric < table->columns && *table_cell(table, row, metric) == '\0')
			continue;
		if (first && strcmp(first, bin) != 0)
			return true;
		first = bin;
	}
	return false;
}

bool bin_charts_add(struct charts *charts, const struct sweep_tables *sweep, char *error,
		    size_t error_bytes)
{
	char path[PATH_MAX];
	bool has_means = sweep->means != sweep->results;

	snprintf(path, sizeof(path), "%.3000s/%s", sweep->folder,
		 has_means ? "bin_means.csv" : "bins.csv");
	if (access(path, R_OK) != 0)
		return true;
	struct table *bins = table_read(path, error, error_bytes);

	if (!bins)
		return false;
	size_t of = table_column(bins, "of");
	bool has_incasts = has_kind(bins, of, "pattern");
	struct table *table = with_key(bins, of, has_incasts ? "pattern" : "all");
	struct sweep_tables keyed = {.folder = sweep->folder,
				     .results = has_means ? sweep->results : table,
				     .means = table,
				     .axes = of + 1,
				     .metrics = of + 1 + has_means};

	for (size_t i = 0; has_bins(table, of) && i < sizeof(shown) / sizeof(shown[0]); i++) {
		size_t metric = table_column(table, shown[i].metric);
		char title[2 * NAME_BYTES], name[NAME_BYTES];

		if (metric == table->columns)
			continue;
		snprintf(title, sizeof(title), "%s%s", shown[i].title,
			 has_incasts ? ", without incasts" : "");
		snprintf(name, sizeof(name), "bins-%s", shown[i].metric);
		sweep_charts_add(charts, &keyed, of,
				 &(struct sweep_metric){.column = metric,
							.name = name,
							.title = title,
							.unit = shown[i].unit,
							.logarithmic_from = LOGARITHMIC});
	}
	table_free(table);
	table_free(bins);
	return true;
}
