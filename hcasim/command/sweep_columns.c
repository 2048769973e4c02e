/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep_columns: the columns of a sweep's tables that hold the values of its axes. They are the
 * first columns of results.csv and bins.csv.
 */
#include <string.h>

#include "analysis/table.h"
#include "hcasim/command/sweep.h"

void sweep_columns_print_names(const struct sweep *sweep, FILE *out)
{
	for (uint32_t i = 0; i < sweep->scenario->axis_count; i++) {
		const struct scenario_sweep_axis *axis = &sweep->scenario->axes[i];
		for (uint32_t k = 0; k < axis->column_count; k++) {
			table_print_field(axis->columns[k], out);
			fputc(',', out);
		}
	}
}

void sweep_columns_print_values(const struct sweep *sweep, size_t point, FILE *out)
{
	for (uint32_t i = 0; i < sweep->scenario->axis_count; i++) {
		for (uint32_t k = 0; k < sweep->scenario->axes[i].column_count; k++) {
			table_print_field(sweep_product_value(sweep, point, i)->cells[k], out);
			fputc(',', out);
		}
	}
}

size_t sweep_columns_count(const struct sweep *sweep)
{
	size_t count = 0;
	for (uint32_t i = 0; i < sweep->scenario->axis_count; i++)
		count += sweep->scenario->axes[i].column_count;
	return count;
}

bool sweep_columns_find_seed(const struct sweep *sweep, size_t *column)
{
	*column = 0;
	for (uint32_t i = 0; i < sweep->scenario->axis_count; i++) {
		const struct scenario_sweep_axis *axis = &sweep->scenario->axes[i];
		if (axis->column_count == 1 && strcmp(axis->columns[0], "seed") == 0)
			return true;
		*column += axis->column_count;
	}
	return false;
}
