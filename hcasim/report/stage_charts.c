/* SPDX-License-Identifier: Apache-2.0 */
/* stage_charts: see stage_charts.h. */
#include "hcasim/report/stage_charts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hcasim/report/breakdown.h"

#define TITLE_BYTES 256

/* ---- means ---- */

static const struct values *values_of(const struct run_values *run, bool received)
{
	return received ? &run->receives : &run->sends;
}

static double value_of(const struct values *values, const char *name)
{
	for (size_t i = 0; i < values->count; i++) {
		if (strcmp(values->list[i].name, name) == 0)
			return strtod(values->list[i].text, NULL);
	}
	return 0;
}

static bool takes_time(const struct run_values *runs, size_t count, bool received, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (value_of(values_of(&runs[i], received), name) > 0)
			return true;
	}
	return false;
}

/* One run: each stage begins where the last one ends. Several: their lengths beside each other. */
static void add_stages(struct chart *chart, const struct run_values *run, bool received,
		       const char *name, bool alone)
{
	struct chart_curve *curve = chart_curve_add(chart, name, CURVE_LINE);
	double begin = 0;
	for (size_t i = 0; i < chart->y.name_count; i++) {
		double time = value_of(values_of(run, received), chart->y.names[i]);
		if (alone)
			chart_band_add(curve, (double)i, time, begin, begin + time);
		else
			chart_point_add(curve, (double)i, time);
		begin += time;
	}
}

static void add_means(struct charts *charts, const struct report_run *runs,
		      const struct run_values *values, size_t count, bool received)
{
	const struct breakdown_side *side = &breakdown_sides[received];
	struct chart *chart =
		chart_create(CHART_BARS, received ? "receive-stages" : "stages",
			     received ? "Mean time of a receive, from its first bit to its CQE"
				      : "Mean time of a work request, from its store to its CQE");
	bool any = false;
	chart_axis_set(&chart->x, count == 1 ? "time since its start" : "time in the stage", "ns");
	chart->x.least = 0;
	for (unsigned stage = 0; stage < side->count; stage++) {
		if (takes_time(values, count, received, side->names[stage]))
			chart_axis_name(&chart->y, side->names[stage]);
	}
	for (size_t i = 0; i < count; i++) {
		any |= values_of(&values[i], received)->count > 0;
		if (values_of(&values[i], received)->count > 0)
			add_stages(chart, &values[i], received, count == 1 ? "" : runs[i].name,
				   count == 1);
	}
	if (count == 1 && any)
		chart_note(chart, "The sum is %.1f ns. Stages that take no time are left out.",
			   value_of(values_of(&values[0], received), "latency"));
	charts_add(charts, chart);
}

void stage_charts_add(struct charts *charts, const struct report_run *runs,
		      const struct run_values *values, size_t count)
{
	add_means(charts, runs, values, count, false);
	add_means(charts, runs, values, count, true);
}

/* ---- single requests ---- */

static void add_request(struct charts *charts, const struct breakdowns *all, double percentile,
			const char *name, const char *words)
{
	size_t at = (size_t)(percentile / 100 * (double)(all->count - 1) + 0.5);
	const struct breakdown *request = &all->list[at];
	char title[TITLE_BYTES];
	double begin = 0;
	snprintf(title, sizeof(title), "The work request of %s latency of %zu in the trace", words,
		 all->count);
	struct chart *chart = chart_create(CHART_BARS, name, title);
	struct chart_curve *curve = chart_curve_add(chart, "", CURVE_LINE);
	chart_axis_set(&chart->x, "time since its store", "ns");
	chart->x.least = 0;
	for (unsigned stage = 0; stage < all->side->count; stage++) {
		double time = (double)request->stages[stage] / 1e3;
		if (request->stages[stage] == 0)
			continue;
		chart_band_add(curve, (double)chart->y.name_count, time, begin, begin + time);
		chart_axis_name(&chart->y, all->side->names[stage]);
		begin += time;
	}
	chart_note(chart, "Tag %llu, queue pair %llu, %.1f ns, complete at %.3f us.",
		   (unsigned long long)request->tag, (unsigned long long)request->qpn,
		   (double)request->latency / 1e3, (double)request->closed_at / 1e6);
	charts_add(charts, chart);
}

bool stage_charts_add_trace(struct charts *charts, const char *file, char *error,
			    size_t error_bytes)
{
	struct breakdowns all;
	if (!breakdowns_read(&all, file, false, error, error_bytes))
		return false;
	if (all.count > 1) {
		breakdowns_sort(&all);
		add_request(charts, &all, 50, "median-request", "median");
		add_request(charts, &all, 99, "slow-request", "99th percentile");
	}
	breakdowns_free(&all);
	return true;
}
