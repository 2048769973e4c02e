/* SPDX-License-Identifier: Apache-2.0 */
/* fluid_plot: see fluid_plot.h. */
#include "analysis/fluid_plot.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "analysis/chart_drawing.h"

static FILE *open_part(const char *folder, const char *name)
{
	char file[PATH_MAX];

	snprintf(file, sizeof(file), "%s/%s", folder, name);
	return fopen(file, "w");
}

static bool has_egress(const struct fluid_sample *samples, size_t count)
{
	return count > 0 && !isnan(samples[0].egress_queue_bytes);
}

static bool write_table(const char *folder, const struct fluid_sample *samples, size_t count)
{
	FILE *out = open_part(folder, "fluid.csv");

	if (!out)
		return false;
	fprintf(out,
		"time_us,packet_queue_bytes,packet_rate_gbps,packet_rate_least_gbps,"
		"packet_rate_most_gbps,fluid_queue_bytes,fluid_rate_gbps%s\n",
		has_egress(samples, count) ? ",egress_queue_bytes,egress_rate_gbps" : "");
	for (size_t i = 0; i < count; i++) {
		const struct fluid_sample *sample = &samples[i];

		fprintf(out, "%.3f,%.0f,%.6f,%.6f,%.6f,%.0f,%.6f", sample->time * 1e6,
			sample->packet_queue_bytes, sample->packet_rate_bps / 1e9,
			sample->packet_rate_least_bps / 1e9, sample->packet_rate_most_bps / 1e9,
			sample->fluid_queue_bytes, sample->fluid_rate_bps / 1e9);
		if (has_egress(samples, count))
			fprintf(out, ",%.0f,%.6f", sample->egress_queue_bytes,
				sample->egress_rate_bps / 1e9);
		fputc('\n', out);
	}
	return fclose(out) == 0;
}

struct curve {
	const char *name;
	size_t value, low, high; /* offsets in a sample; low 0: no band */
	double scale;
	bool queue, egress;
};

static double at(const struct fluid_sample *sample, size_t offset)
{
	return *(const double *)(const void *)((const char *)sample + offset);
}

/* clang-format off */
#define SAMPLE(field) offsetof(struct fluid_sample, field)
static const struct curve curves[] = {
	{"rate, packets", SAMPLE(packet_rate_bps), SAMPLE(packet_rate_least_bps),
	 SAMPLE(packet_rate_most_bps), 1e9, false, false},
	{"rate, fluid", SAMPLE(fluid_rate_bps), 0, 0, 1e9, false, false},
	{"queue, packets", SAMPLE(packet_queue_bytes), 0, 0, 1e3, true, false},
	{"queue, fluid", SAMPLE(fluid_queue_bytes), 0, 0, 1e3, true, false},
	{"queue, fluid, marks at egress", SAMPLE(egress_queue_bytes), 0, 0, 1e3, true, true},
};
/* clang-format on */

static bool draw(const char *folder, const char *title, const struct fluid_sample *samples,
		 size_t count)
{
	struct chart *chart = chart_create(CHART_CURVES, "fluid", title);
	char error[PATH_MAX];
	chart_axis_set(&chart->x, "time", "us");
	chart_axis_set(&chart->y, "rate of a flow", "Gb/s");
	chart_axis_set(&chart->right, "queue", "KB");
	chart->y.least = 0;
	chart->right.least = 0;
	for (size_t i = 0; i < sizeof(curves) / sizeof(curves[0]); i++) {
		const struct curve *from = &curves[i];
		struct chart_curve *curve;
		if (from->egress && !has_egress(samples, count))
			continue;
		curve = chart_curve_add(chart, from->name, CURVE_LINE);
		curve->right = from->queue;
		for (size_t k = 0; k < count; k++) {
			double y = at(&samples[k], from->value) / from->scale;
			double low = from->low ? at(&samples[k], from->low) / from->scale : NAN;
			double high = from->high ? at(&samples[k], from->high) / from->scale : NAN;
			chart_band_add(curve, samples[k].time * 1e6, y, low, high);
		}
	}
	bool good = chart_drawing_write(chart, folder, error, sizeof(error));
	chart_free(chart);
	return good;
}

bool fluid_plot_write(const char *folder, const char *title, const struct fluid_sample *samples,
		      size_t count)
{
	return write_table(folder, samples, count) && draw(folder, title, samples, count);
}
