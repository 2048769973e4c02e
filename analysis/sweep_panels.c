/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_panels: see sweep_panels.h. */
#include "analysis/sweep_panels.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/hash.h"

static int by_hash(const void *one, const void *other)
{
	uint64_t first = *(const uint64_t *)one, second = *(const uint64_t *)other;
	return first < second ? -1 : first > second;
}

/* Returns the number of different combinations of all keys except two. */
static size_t count_combinations(const struct sweep_tables *sweep, size_t except, size_t also)
{
	size_t rows = sweep->means->rows, count = 0;
	uint64_t *hashes = calloc(rows + 1, sizeof(*hashes));
	if (!hashes)
		abort();
	for (size_t row = 0; row < rows; row++) {
		hashes[row] = HASH_BEGIN;
		for (size_t i = 0; i < sweep->axes; i++) {
			const char *cell = table_cell(sweep->means, row, i);
			if (i != except && i != also)
				hashes[row] = hash_bytes(hashes[row], cell, strlen(cell) + 1);
		}
	}
	qsort(hashes, rows, sizeof(*hashes), by_hash);
	for (size_t row = 0; row < rows; row++)
		count += row == 0 || hashes[row] != hashes[row - 1];
	free(hashes);
	return count;
}

static bool is_first(const struct sweep_tables *sweep, size_t key, size_t row)
{
	for (size_t i = 0; i < row; i++) {
		if (strcmp(table_cell(sweep->means, i, key), table_cell(sweep->means, row, key)) ==
		    0)
			return false;
	}
	return true;
}

size_t sweep_panels_rank(const struct sweep_tables *sweep, size_t key, size_t row)
{
	const char *value = table_cell(sweep->means, row, key);
	size_t rank = 0;
	for (size_t i = 0; strcmp(table_cell(sweep->means, i, key), value) != 0; i++)
		rank += is_first(sweep, key, i);
	return rank;
}

size_t sweep_panels_values(const struct sweep_tables *sweep, size_t key)
{
	size_t count = 0;
	for (size_t row = 0; row < sweep->means->rows; row++)
		count += is_first(sweep, key, row);
	return count;
}

/* Returns the key with the fewest values that leaves few enough curves in each chart, or otherwise
 * the key that leaves the fewest curves. */
static size_t choose_split(const struct sweep_tables *sweep, size_t key)
{
	size_t best = SIZE_MAX, best_values = 0, best_curves = 0;
	for (size_t i = 0; i < sweep->axes; i++) {
		if (i == key || !sweep_charts_varies(sweep, i))
			continue;
		size_t values = sweep_panels_values(sweep, i),
		       curves = count_combinations(sweep, key, i);
		bool few = curves <= CHART_CURVES_MAX, had_few = best_curves <= CHART_CURVES_MAX;
		if (best == SIZE_MAX || (few && (!had_few || values < best_values)) ||
		    (!few && !had_few && curves < best_curves)) {
			best = i;
			best_values = values;
			best_curves = curves;
		}
	}
	return best;
}

/* Chooses evenly spaced values of the split key, with the first and the last value. */
static void choose_rows(struct sweep_panels *panels, const struct sweep_tables *sweep)
{
	size_t rank = 0, chosen = 0;
	panels->values = sweep_panels_values(sweep, panels->split);
	panels->count = panels->values < SWEEP_PANELS_MAX ? panels->values : SWEEP_PANELS_MAX;
	for (size_t row = 0; row < sweep->means->rows && chosen < panels->count; row++) {
		if (!is_first(sweep, panels->split, row))
			continue;
		size_t wanted = panels->count == 1
					? 0
					: chosen * (panels->values - 1) / (panels->count - 1);
		if (rank++ == wanted)
			panels->rows[chosen++] = row;
	}
}

/* If the curves of a chart differ in two keys, the key with more values chooses the colour, and the
 * other key chooses the dash. */
static void choose_styles(struct sweep_panels *panels, const struct sweep_tables *sweep, size_t key)
{
	size_t keys[2] = {SIZE_MAX, SIZE_MAX}, count = 0;
	for (size_t i = 0; i < sweep->axes; i++) {
		if (i == key || i == panels->split || !sweep_charts_varies(sweep, i))
			continue;
		if (count < 2)
			keys[count] = i;
		count++;
	}
	if (count != 2)
		return;
	size_t values[2] = {sweep_panels_values(sweep, keys[0]),
			    sweep_panels_values(sweep, keys[1])};
	size_t more = values[1] > values[0];
	if (values[more] <= CHART_COLOUR_COUNT && values[!more] <= CHART_DASH_COUNT) {
		panels->colour = keys[more];
		panels->dash = keys[!more];
	}
}

void sweep_panels_choose(struct sweep_panels *panels, const struct sweep_tables *sweep, size_t key)
{
	size_t curves = count_combinations(sweep, key, key), rows = sweep->means->rows;
	*panels = (struct sweep_panels){
		.count = 1, .split = SIZE_MAX, .colour = SIZE_MAX, .dash = SIZE_MAX};
	panels->single = curves == rows && curves > CHART_CURVES_MAX &&
			 sweep_panels_values(sweep, key) > rows / 2;
	if (panels->single)
		return;
	if (curves > CHART_CURVES_MAX) {
		panels->split = choose_split(sweep, key);
		choose_rows(panels, sweep);
	}
	choose_styles(panels, sweep, key);
}

bool sweep_panels_has(const struct sweep_panels *panels, const struct sweep_tables *sweep,
		      size_t panel, size_t row)
{
	return panels->split == SIZE_MAX ||
	       strcmp(table_cell(sweep->means, row, panels->split),
		      table_cell(sweep->means, panels->rows[panel], panels->split)) == 0;
}
