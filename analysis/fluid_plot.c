/* SPDX-License-Identifier: Apache-2.0 */
/* fluid_plot: see fluid_plot.h. */
#include "analysis/fluid_plot.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "analysis/plot.h"

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

static bool write_commands(const char *folder, const char *title, bool egress)
{
	FILE *out = open_part(folder, "fluid.gp");

	if (!out)
		return false;
	plot_begin("fluid", title, out);
	fputs("set datafile separator ','\nset xlabel 'time (us)'\nset ylabel 'rate of a flow "
	      "(Gb/s)'\n"
	      "set y2label 'queue (KB)'\nset ytics nomirror\nset y2tics\n"
	      "set yrange [0:*]\nset y2range [0:*]\n"
	      "plot 'fluid.csv' skip 1 using 1:4:5 with filledcurves fillstyle solid 0.2 title "
	      "'rates, packets: least to most', "
	      "'' skip 1 using 1:3 with lines title 'rate, packets', "
	      "'' skip 1 using 1:7 with lines title 'rate, fluid', "
	      "'' skip 1 using 1:($2/1000) axes x1y2 with lines title 'queue, packets', "
	      "'' skip 1 using 1:($6/1000) axes x1y2 with lines title 'queue, fluid'",
	      out);
	if (egress)
		fputs(", '' skip 1 using 1:($8/1000) axes x1y2 with lines title 'queue, fluid, "
		      "marks "
		      "at egress'",
		      out);
	fputc('\n', out);
	return plot_finish(folder, "fluid", out);
}

bool fluid_plot_write(const char *folder, const char *title, const struct fluid_sample *samples,
		      size_t count)
{
	return write_table(folder, samples, count) &&
	       write_commands(folder, title, has_egress(samples, count));
}
