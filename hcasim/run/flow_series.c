/* SPDX-License-Identifier: Apache-2.0 */
/* flow_series: see flow_series.h. Lines are written to a temporary file. Memory use does not grow
 * with the length of the run. */
#include "hcasim/run/flow_series.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "hca/congestion/congestion.h"
#include "hcasim/run/line_file.h"

#define NEAR 0.1 /* of the mean: the distance that D-03 allows */

struct chosen {
	uint32_t flow;
	uint64_t arrived; /* bytes at the last sample */
	uint64_t gained;  /* bytes between the last two samples */
	bool ended;       /* the last sample saw the end */
};

struct flow_series {
	const struct flow_driver *driver;
	struct chosen *list;
	uint32_t count;
	/* further columns: values of the first chosen flow whose algorithm declares some */
	const struct congestion_gauge *gauges;
	sim_time sampled_at;
	sim_time joined_after; /* see flow_series_joined_after(); SIM_NEVER: not yet */
	FILE *lines;
};

static const struct congestion_gauge *gauges_of(const struct flow_series *series)
{
	struct backend_sender sender = {.gauges = NULL};
	for (uint32_t i = 0; i < series->count && !sender.gauges; i++)
		flow_driver_sender(series->driver, series->list[i].flow, &sender);
	return sender.gauges;
}

struct flow_series *flow_series_create(const struct flow_driver *driver, const uint32_t *flows,
				       uint32_t count)
{
	struct flow_series *series = calloc(1, sizeof(*series));
	FILE *lines = tmpfile();
	if (!series)
		abort();
	if (!lines) {
		free(series);
		return NULL;
	}
	*series = (struct flow_series){
		.driver = driver, .count = count, .lines = lines, .joined_after = SIM_NEVER};
	series->list = calloc(count + 1, sizeof(*series->list));
	if (!series->list)
		abort();
	for (uint32_t i = 0; i < count; i++)
		series->list[i].flow = flows[i];
	const char *between = "";
#define COLUMN(name, meaning)                           \
	fprintf(series->lines, "%s%s", between, #name); \
	between = ",";
	FLOW_SERIES_COLUMNS(COLUMN)
#undef COLUMN
	series->gauges = gauges_of(series);
	for (const struct congestion_gauge *gauge = series->gauges; gauge && gauge->name; gauge++)
		fprintf(series->lines, ",%s", gauge->name);
	fputc('\n', series->lines);
	return series;
}

void flow_series_destroy(struct flow_series *series)
{
	if (!series)
		return;
	fclose(series->lines);
	free(series->list);
	free(series);
}

static void add_line(struct flow_series *series, struct chosen *one, sim_time now)
{
	struct backend_sender sender;
	uint64_t arrived = flow_driver_arrived_bytes(series->driver, one->flow);
	sim_time interval = now - series->sampled_at;
	flow_driver_sender(series->driver, one->flow, &sender);
	fprintf(series->lines, "%.6f,%" PRIu32 ",%.6f,%.6f,", (double)now / (double)US, one->flow,
		(double)(arrived - one->arrived) * 8e3 / (double)interval,
		(double)sender.rate_bps / 1e9);
	if (sender.cwnd_bytes < CWND_UNLIMITED)
		fprintf(series->lines, "%" PRIu64, sender.cwnd_bytes);
	fprintf(series->lines, ",%" PRIu64 ",", sender.inflight_bytes);
	if (sender.rtt > 0)
		fprintf(series->lines, "%.6f", (double)sender.rtt / (double)US);
	for (const struct congestion_gauge *gauge = series->gauges; gauge && gauge->name; gauge++) {
		const uint64_t *value = (const void *)((const char *)sender.state + gauge->offset);
		fputc(',', series->lines);
		if (sender.state && sender.gauges == series->gauges)
			fprintf(series->lines, "%" PRIu64, *value);
	}
	fputc('\n', series->lines);
	one->gained = arrived - one->arrived;
	one->arrived = arrived;
}

/* Returns the chosen flow that began last, or NULL unless all of them are under way. */
static const struct chosen *newcomer(const struct flow_series *series)
{
	const struct flow_record *records = flow_driver_records(series->driver);
	const struct chosen *last = NULL;
	for (uint32_t i = 0; i < series->count; i++) {
		const struct chosen *one = &series->list[i];
		if (records[one->flow].status != FLOW_under_way)
			return NULL;
		if (!last || records[one->flow].ready > records[last->flow].ready)
			last = one;
	}
	return last;
}

/* Notes the first interval in which the newcomer's data are near the mean of the others'. The
 * interval began at `from`. */
static void note_joined(struct flow_series *series, sim_time from, sim_time now)
{
	const struct chosen *last = newcomer(series);
	sim_time began = last ? flow_driver_records(series->driver)[last->flow].ready : 0;
	double others = 0;
	if (!last || series->count < 2 || series->joined_after != SIM_NEVER || began > from)
		return;
	for (uint32_t i = 0; i < series->count; i++)
		others += &series->list[i] == last ? 0 : (double)series->list[i].gained;
	others /= series->count - 1;
	if (fabs((double)last->gained - others) <= NEAR * others)
		series->joined_after = now - began;
}

void flow_series_sample(struct flow_series *series, sim_time now)
{
	const struct flow_record *records = flow_driver_records(series->driver);
	if (now == series->sampled_at)
		return;
	for (uint32_t i = 0; i < series->count; i++) {
		struct chosen *one = &series->list[i];
		enum flow_status status = (enum flow_status)records[one->flow].status;
		if (status == FLOW_not_started || one->ended)
			continue;
		add_line(series, one, now);
		one->ended = status != FLOW_under_way;
	}
	note_joined(series, series->sampled_at, now);
	series->sampled_at = now;
}

sim_time flow_series_joined_after(const struct flow_series *series)
{
	return series->joined_after;
}

bool flow_series_write(const struct flow_series *series, FILE *out)
{
	return line_file_copy(series->lines, out);
}
