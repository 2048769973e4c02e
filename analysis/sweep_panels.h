/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep_panels: divides the combinations of a sweep's values among charts, so that a reader can
 * tell the curves of each chart apart. A sweep with too many combinations has a chart for each
 * value of one key, the split key. The charts then show the same combinations of the other keys.
 */
#ifndef ANALYSIS_SWEEP_PANELS_H
#define ANALYSIS_SWEEP_PANELS_H

#include "analysis/sweep_charts.h"

#define SWEEP_PANELS_MAX 4

struct sweep_panels {
	size_t count;                  /* of charts */
	size_t split;                  /* key with one value per chart. SIZE_MAX: a single chart */
	size_t values;                 /* number of values of the split key */
	size_t rows[SWEEP_PANELS_MAX]; /* first row of `means` with the value of each chart */
	size_t colour, dash;           /* keys with a colour or a dash per value; SIZE_MAX: none */
	bool single;                   /* each combination has one point, as in a design */
};

/* Chooses the charts over the key `key`. */
void sweep_panels_choose(struct sweep_panels *panels, const struct sweep_tables *sweep, size_t key);

/* Returns true if the chart shows the row. */
bool sweep_panels_has(const struct sweep_panels *panels, const struct sweep_tables *sweep,
		      size_t panel, size_t row);

/* Returns the number of different values of the key. */
size_t sweep_panels_values(const struct sweep_tables *sweep, size_t key);

/* Returns the rank of the row's value among the values of the key, in order of their first rows. */
size_t sweep_panels_rank(const struct sweep_tables *sweep, size_t key, size_t row);

#endif
