/* SPDX-License-Identifier: Apache-2.0 */
/* queue_record: see queue_record.h. Most samples of most queues are 0. These are counted, and the
 * others kept, so that quantiles are exact. */
#include "hcasim/run/queue_record.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_sort.h>

#include "hcasim/run/line_file.h"

struct queue {
	double *values; /* the samples above 0 */
	size_t used, room;
	uint64_t count; /* of all samples */
};

struct recorded_port {
	const struct port *port;
	struct queue all;
	struct queue vls[PORT_VLS];
	sim_time paused[PORT_VLS]; /* at the last sample */
};

struct queue_record {
	struct recorded_port *ports;
	uint32_t count, room;
	FILE *lines;
};

static void add_value(struct queue *queue, uint64_t bytes)
{
	queue->count++;
	if (bytes == 0)
		return;
	if (queue->used == queue->room) {
		queue->room = queue->room > 0 ? 2 * queue->room : 64;
		queue->values = realloc(queue->values, queue->room * sizeof(*queue->values));
		if (!queue->values)
			abort();
	}
	queue->values[queue->used++] = (double)bytes;
}

struct queue_record *queue_record_create(void)
{
	struct queue_record *record = calloc(1, sizeof(*record));
	if (!record)
		abort();
	record->lines = tmpfile();
	if (!record->lines) {
		free(record);
		return NULL;
	}
	const char *between = "";
#define COLUMN(name, meaning)                           \
	fprintf(record->lines, "%s%s", between, #name); \
	between = ",";
	QUEUE_SERIES_COLUMNS(COLUMN)
#undef COLUMN
	fputc('\n', record->lines);
	return record;
}

void queue_record_destroy(struct queue_record *record)
{
	if (!record)
		return;
	for (uint32_t i = 0; i < record->count; i++) {
		free(record->ports[i].all.values);
		for (unsigned vl = 0; vl < PORT_VLS; vl++)
			free(record->ports[i].vls[vl].values);
	}
	fclose(record->lines);
	free(record->ports);
	free(record);
}

void queue_record_add(struct queue_record *record, const struct port *port)
{
	if (record->count == record->room) {
		record->room = record->room > 0 ? 2 * record->room : 16;
		record->ports = realloc(record->ports, record->room * sizeof(*record->ports));
		if (!record->ports)
			abort();
	}
	record->ports[record->count++] = (struct recorded_port){.port = port};
}

static void sample_port(struct queue_record *record, struct recorded_port *one, sim_time now,
			bool measured)
{
	uint64_t sum = 0;
	for (unsigned vl = 0; vl < port_vls(one->port); vl++) {
		uint64_t queue = port_queued_bytes(one->port, vl);
		uint64_t input = port_input_used(one->port, vl);
		sim_time paused = port_paused_time(one->port, vl) - one->paused[vl];
		sum += queue;
		one->paused[vl] += paused;
		if (measured)
			add_value(&one->vls[vl], queue);
		if (queue > 0 || input > 0 || paused > 0)
			fprintf(record->lines, "%.6f,%s,%u,%" PRIu64 ",%" PRIu64 ",%.6f\n",
				(double)now / (double)US, port_name(one->port), vl, queue, input,
				(double)paused / (double)US);
	}
	if (measured)
		add_value(&one->all, sum);
}

void queue_record_sample(struct queue_record *record, sim_time now, bool measured)
{
	for (uint32_t i = 0; i < record->count; i++)
		sample_port(record, &record->ports[i], now, measured);
}

bool queue_record_write_series(const struct queue_record *record, FILE *out)
{
	return line_file_copy(record->lines, out);
}

/* ---- statistics ---- */

/* Returns the i-th smallest sample. */
static double value_at(const struct queue *queue, uint64_t i)
{
	uint64_t zeros = queue->count - queue->used;
	return i < zeros ? 0 : queue->values[i - zeros];
}

/* Interpolates between samples, as gsl_stats_quantile_from_sorted_data() does. */
static double quantile(const struct queue *queue, double share)
{
	double place = share * (double)(queue->count - 1);
	uint64_t below = (uint64_t)place;
	double rest = place - (double)below, value = value_at(queue, below);
	return rest > 0 ? value + rest * (value_at(queue, below + 1) - value) : value;
}

static void write_line(const struct port *port, const char *priority, struct queue *queue,
		       FILE *out)
{
	double sum = 0, squares = 0, count = (double)queue->count;
	gsl_sort(queue->values, 1, queue->used);
	for (size_t i = 0; i < queue->used; i++)
		sum += queue->values[i];
	double mean = count > 0 ? sum / count : 0;
	for (size_t i = 0; i < queue->used; i++)
		squares += (queue->values[i] - mean) * (queue->values[i] - mean);
	squares += (count - (double)queue->used) * mean * mean;
	fprintf(out, "%s,%s,%" PRIu64, port_name(port), priority, queue->count);
	if (queue->count == 0) {
		fputs(",,,,,,,,\n", out);
		return;
	}
	fprintf(out, ",%.3f,%.3f,%.1f,%.1f,%.1f,%.1f,%.1f,%.0f\n", mean,
		count > 1 ? sqrt(squares / (count - 1)) : 0, quantile(queue, 0.5),
		quantile(queue, 0.9), quantile(queue, 0.95), quantile(queue, 0.99),
		quantile(queue, 0.999), value_at(queue, queue->count - 1));
}

void queue_record_write_statistics(struct queue_record *record, FILE *out)
{
	const char *between = "";
#define COLUMN(name, meaning)                 \
	fprintf(out, "%s%s", between, #name); \
	between = ",";
	QUEUE_COLUMNS(COLUMN)
#undef COLUMN
	fputc('\n', out);
	for (uint32_t i = 0; i < record->count; i++) {
		struct recorded_port *one = &record->ports[i];
		write_line(one->port, "all", &one->all, out);
		for (unsigned vl = 0; vl < PORT_VLS; vl++) {
			char priority[8];
			snprintf(priority, sizeof(priority), "%u", vl);
			if (one->vls[vl].used > 0)
				write_line(one->port, priority, &one->vls[vl], out);
		}
	}
}
