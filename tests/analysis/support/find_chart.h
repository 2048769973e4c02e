/* SPDX-License-Identifier: Apache-2.0 */
/* find_chart: finds a chart of a list, for tests of functions that make charts. */
#ifndef TESTS_ANALYSIS_SUPPORT_FIND_CHART_H
#define TESTS_ANALYSIS_SUPPORT_FIND_CHART_H

#include <string.h>

#include "analysis/chart.h"

/* Returns the chart with this name, or NULL if the list lacks it. */
static inline const struct chart *find_chart(const struct charts *charts, const char *name)
{
	for (size_t i = 0; i < charts->count; i++)
		if (strcmp(charts->list[i]->name, name) == 0)
			return charts->list[i];
	return NULL;
}

#endif
