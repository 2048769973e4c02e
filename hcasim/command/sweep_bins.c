/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep_bins: the points' bins.csv in one table.
 *
 *     DIR/bins.csv       the values of the point, then its line of bins.csv
 *     DIR/bin_means.csv  their means over the seeds, if those are swept
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "analysis/means.h"
#include "analysis/table.h"
#include "hcasim/command/sweep.h"
#include "traffic/workload/flow_bins.h"

/* Adds the lines of a point. The first point with a table also gives the names of the columns. */
static bool add_point(const struct sweep *sweep, size_t point, bool *has_names, FILE *out)
{
	char path[PATH_MAX], error[PATH_MAX + 128];
	sweep_resume_path(sweep, point, "/bins.csv", path);
	struct table *bins = table_read(path, error, sizeof(error));
	if (!bins) {
		say("%s", error);
		return false;
	}
	if (!*has_names) {
		sweep_columns_print_names(sweep, out);
		for (size_t i = 0; i < bins->columns; i++)
			fprintf(out, "%s%s", i > 0 ? "," : "", bins->names[i]);
		fputc('\n', out);
		*has_names = true;
	}
	for (size_t row = 0; row < bins->rows; row++) {
		sweep_columns_print_values(sweep, point, out);
		for (size_t i = 0; i < bins->columns; i++)
			fprintf(out, "%s%s", i > 0 ? "," : "", table_cell(bins, row, i));
		fputc('\n', out);
	}
	table_free(bins);
	return true;
}

static bool write_bins(const struct sweep *sweep, const char *path)
{
	char part[PATH_MAX + 8];
	bool good = true, has_names = false;
	snprintf(part, sizeof(part), "%s" SWEEP_PART, path);
	FILE *out = fopen(part, "w");
	if (!out) {
		say("%s: %s", part, strerror(errno));
		return false;
	}
	for (size_t i = 0; good && i < sweep->count; i++)
		good = !sweep->points[i].finished || add_point(sweep, i, &has_names, out);
	bool written = ferror(out) == 0;
	if (fclose(out) == 0 && written && good && rename(part, path) == 0)
		return true;
	if (good)
		say("%s: %s", path, strerror(errno));
	unlink(part);
	return false;
}

static bool write_means(const struct sweep *sweep, const char *path)
{
	char means[PATH_MAX], error[PATH_MAX + 128];
	size_t workload = sweep->scenario->has_workloads, seed;
	size_t keys = sweep_columns_count(sweep) + workload + FLOW_BIN_KEYS;
	if (!sweep_columns_find_seed(sweep, &seed))
		return true;
	struct table *bins = table_read(path, error, sizeof(error));
	if (!bins) {
		say("%s", error);
		return false;
	}
	snprintf(means, sizeof(means), "%.3000s/bin_means.csv", sweep->folder);
	bool good = means_write(bins, keys, seed, keys, means);
	if (!good)
		say("%s: %s", means, strerror(errno));
	table_free(bins);
	return good;
}

bool sweep_bins_write(const struct sweep *sweep)
{
	char path[PATH_MAX];
	if (!sweep->scenario->has_workload || sweep->done == 0)
		return true;
	snprintf(path, sizeof(path), "%.3000s/bins.csv", sweep->folder);
	return write_bins(sweep, path) && write_means(sweep, path);
}
