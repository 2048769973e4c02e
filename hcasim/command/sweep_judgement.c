/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep_judgement: judges a run, and therefore the sweep, by the expectations. A point is judged by
 * the exit code of its run, in this sweep or in an earlier one into the folder. The sweep fails if
 * a point fails, or if a point has no result.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "analysis/table.h"
#include "hcasim/command/sweep.h"

bool sweep_judgement_add(struct sweep *sweep, int status)
{
	bool good = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_GOOD;
	sweep->failed |= !good;
	return good;
}

const char *sweep_judgement_word(const struct sweep_point *point, bool good)
{
	if (good)
		return "";
	return point->finished ? " not as expected" : " failed";
}

/* Returns the number of points whose run did not end with exit code 0. results.csv has the codes of
 * all points, including points of an earlier sweep into the folder. */
static size_t count_bad(const struct sweep *sweep)
{
	char path[PATH_MAX], error[PATH_MAX + 128];
	size_t bad = 0;
	snprintf(path, sizeof(path), "%.3000s/results.csv", sweep->folder);
	struct table *results = table_read(path, error, sizeof(error));
	if (!results) {
		say("%s", error);
		return sweep->count;
	}
	size_t code = table_column(results, "exit_code");
	for (size_t row = 0; row < results->rows; row++)
		bad += strcmp(table_cell(results, row, code), "0") != 0;
	table_free(results);
	return bad;
}

int sweep_judgement_code(const struct sweep *sweep)
{
	size_t bad = count_bad(sweep);
	if (bad > 0)
		say("%zu of %zu points are not as expected; exit_code in %s/results.csv names them",
		    bad, sweep->count, sweep->folder);
	return bad > 0 || sweep->failed ? EXIT_NOT_AS_EXPECTED : EXIT_GOOD;
}
