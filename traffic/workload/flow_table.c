/* SPDX-License-Identifier: Apache-2.0 */
/* flow_table: see flow_table.h. */
#include "traffic/workload/flow_table.h"

#include <assert.h>
#include <gsl/gsl_statistics_double.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "traffic/workload/sort_values.h"

/* clang-format off */
#define COLUMN_ENTRY(column, type, printed, known, unit, meaning) {#column, unit, meaning},
const struct flow_column flow_table_columns[] = { FLOW_COLUMNS(COLUMN_ENTRY) { 0 } };

#define STATUS_NAME(name) #name,
static const char *const status_names[] = { FLOW_STATUSES(STATUS_NAME) };
/* clang-format on */

static const char *const verbs[] = {"write", "send", "read", "atomic"};

static void print_NUMBER(FILE *out, uint64_t value)
{
	fprintf(out, "%" PRIu64, value);
}

static void print_TIME(FILE *out, uint64_t value)
{
	fprintf(out, "%" PRIu64 ".%06" PRIu64, value / US, value % US);
}

static void print_VERB(FILE *out, uint64_t value)
{
	fputs(verbs[value], out);
}

static void print_STATUS(FILE *out, uint64_t value)
{
	fputs(status_names[value], out);
}

static bool is_known(const struct flow_record *record, enum flow_known known, uint64_t value)
{
	switch (known) {
	case FLOW_BEGUN:
		return record->status != FLOW_not_started;
	case FLOW_KNOWN:
		return value > 0 || record->status == FLOW_done;
	case FLOW_ALWAYS:
		break;
	}
	return true;
}

static void write_record(const struct flow_record *record, const char *part, FILE *out)
{
#define COLUMN_PRINT(column, type, printed, known, unit, meaning) \
	if (is_known(record, FLOW_##known, record->column))       \
		print_##printed(out, record->column);             \
	fputc(',', out);
	FLOW_COLUMNS(COLUMN_PRINT)
	if (record->status == FLOW_done) {
		print_TIME(out, flow_fct(record));
		fprintf(out, ",%.4f", flow_slowdown(record));
	} else {
		fputc(',', out);
	}
	fprintf(out, "%s%s\n", part ? "," : "", part ? part : "");
}

void flow_table_write(const struct flow_record *records, uint32_t count, const char *const *parts,
		      FILE *out)
{
	for (const struct flow_column *column = flow_table_columns; column->name; column++)
		fprintf(out, "%s%s%s,", column->name, *column->unit ? "_" : "", column->unit);
	fprintf(out, "fct_us,slowdown%s\n", parts ? ",workload" : "");
	for (uint32_t i = 0; i < count; i++)
		if (records[i].source != records[i].destination)
			write_record(&records[i], parts ? parts[records[i].part] : NULL, out);
}

static bool is_chosen(const struct flow_record *record, const struct flow_choice *choice)
{
	if (record->source == record->destination || record->bytes < choice->low ||
	    record->bytes > choice->high || record->ready < choice->from ||
	    (choice->part && choice->part - 1 != record->part))
		return false;
	return choice->kinds == FLOW_ALL || record->incast == (choice->kinds == FLOW_OF_INCAST);
}

static double quantile(const double *sorted, size_t count, double share)
{
	return gsl_stats_quantile_from_sorted_data(sorted, 1, count, share);
}

static double fct_us(const struct flow_record *record)
{
	return (double)flow_fct(record) / (double)US;
}

static double arrival_us(const struct flow_record *record)
{
	return (double)(record->arrived - record->ready) / (double)US;
}

static double sent_us(const struct flow_record *record)
{
	return (double)(record->finished - record->started) / (double)US;
}

/* Sorts values. Returns their mean, which is summed in the order in which they are. */
static double sort(double *values, size_t count)
{
	double mean = gsl_stats_mean(values, 1, count);

	sort_values(values, count);
	return mean;
}

/* Counts a flow. */
static void count_flow(struct flow_summary *summary, const struct flow_record *record)
{
	summary->flows++;
	summary->failed += record->status == FLOW_failed;
	summary->stopped += record->status == FLOW_stopped;
	summary->ended = record->finished > summary->ended ? record->finished : summary->ended;
	if (record->status != FLOW_done)
		return;
	summary->done++;
	summary->bytes += record->bytes;
	summary->first = record->ready < summary->first ? record->ready : summary->first;
	summary->last = record->finished > summary->last ? record->finished : summary->last;
}

/* The selected flows that are done, and room for one value of each. */
struct sample {
	const struct flow_record *records;
	uint32_t count;
	const struct flow_choice *choice;
	double *values;
	size_t done;
};

/* Fills in a value of each flow and sorts them. Returns their mean. */
static double sort_by(const struct sample *sample, double (*value)(const struct flow_record *))
{
	size_t done = 0;

	for (uint32_t i = 0; i < sample->count; i++)
		if (sample->records[i].status == FLOW_done &&
		    is_chosen(&sample->records[i], sample->choice))
			sample->values[done++] = value(&sample->records[i]);
	return sort(sample->values, done);
}

/* A time of no flow has no value. */
static void clear_times(struct flow_summary *summary)
{
	double *const times[] = {
		&summary->fct_mean_us,    &summary->fct_p50_us,     &summary->fct_p90_us,
		&summary->fct_p95_us,     &summary->fct_p99_us,     &summary->fct_p999_us,
		&summary->slowdown_mean,  &summary->slowdown_p50,   &summary->slowdown_p95,
		&summary->slowdown_p99,   &summary->slowdown_p999,  &summary->arrival_mean_us,
		&summary->arrival_p50_us, &summary->arrival_p90_us, &summary->arrival_p999_us,
		&summary->sent_mean_us,   &summary->sent_p999_us,
	};

	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		*times[i] = (double)NAN;
}

static double share(const struct sample *sample, double of)
{
	return quantile(sample->values, sample->done, of);
}

static void add_times(struct flow_summary *summary, const struct sample *sample)
{
	summary->fct_mean_us = sort_by(sample, fct_us);
	summary->fct_p50_us = share(sample, 0.5);
	summary->fct_p90_us = share(sample, 0.9);
	summary->fct_p95_us = share(sample, 0.95);
	summary->fct_p99_us = share(sample, 0.99);
	summary->fct_p999_us = share(sample, 0.999);
	summary->slowdown_mean = sort_by(sample, flow_slowdown);
	summary->slowdown_p50 = share(sample, 0.5);
	summary->slowdown_p95 = share(sample, 0.95);
	summary->slowdown_p99 = share(sample, 0.99);
	summary->slowdown_p999 = share(sample, 0.999);
	summary->arrival_mean_us = sort_by(sample, arrival_us);
	summary->arrival_p50_us = share(sample, 0.5);
	summary->arrival_p90_us = share(sample, 0.9);
	summary->arrival_p999_us = share(sample, 0.999);
	summary->sent_mean_us = sort_by(sample, sent_us);
	summary->sent_p999_us = share(sample, 0.999);
}

struct flow_summary flow_table_summarise(const struct flow_record *records, uint32_t count,
					 const struct flow_choice *choice)
{
	struct flow_summary summary = {.first = SIM_NEVER};
	struct sample sample = {.records = records, .count = count, .choice = choice};

	for (uint32_t i = 0; i < count; i++)
		if (is_chosen(&records[i], choice))
			count_flow(&summary, &records[i]);
	if (!summary.done) {
		clear_times(&summary);
		return summary;
	}
	sample.done = summary.done;
	sample.values = malloc(sample.done * sizeof(sample.values[0]));
	assert(sample.values);
	add_times(&summary, &sample);
	free(sample.values);
	return summary;
}

/* ---- groups by size ---- */

static int compare_sizes(const void *one, const void *other)
{
	const struct flow_record *a = *(const struct flow_record *const *)one;
	const struct flow_record *b = *(const struct flow_record *const *)other;

	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? -1 : 1;
	return a->flow < b->flow ? -1 : a->flow > b->flow;
}

/* Flows of one size are in order. */
static void sort_by_size(const struct flow_record **flows, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (flows[i]->bytes < flows[i - 1]->bytes) {
			qsort(flows, count, sizeof(flows[0]), compare_sizes);
			return;
		}
}

static struct flow_group group_of(const struct flow_record *const *flows, size_t count,
				  double *values)
{
	struct flow_group group = {.bytes_max = (double)flows[count - 1]->bytes,
				   .flows = (double)count};

	for (size_t i = 0; i < count; i++)
		values[i] = fct_us(flows[i]);
	sort_values(values, count);
	group.fct_p50 = quantile(values, count, 0.5);
	group.fct_p95 = quantile(values, count, 0.95);
	for (size_t i = 0; i < count; i++)
		values[i] = flow_slowdown(flows[i]);
	sort_values(values, count);
	group.slowdown_p50 = quantile(values, count, 0.5);
	group.slowdown_p95 = quantile(values, count, 0.95);
	group.slowdown_p99 = quantile(values, count, 0.99);
	return group;
}

unsigned flow_table_group(const struct flow_record *records, uint32_t count,
			  const struct flow_choice *choice, struct flow_group groups[FLOW_GROUPS])
{
	const struct flow_record **flows = malloc((count + 1) * sizeof(flows[0]));
	double *values;
	unsigned filled = 0;
	size_t done = 0;

	assert(flows);
	for (uint32_t i = 0; i < count; i++)
		if (records[i].status == FLOW_done && is_chosen(&records[i], choice))
			flows[done++] = &records[i];
	sort_by_size(flows, done);
	values = malloc((done / FLOW_GROUPS + 1) * sizeof(values[0])); /* of the largest group */
	assert(values);
	for (size_t i = 0; i < FLOW_GROUPS; i++) {
		size_t first = i * done / FLOW_GROUPS, end = (i + 1) * done / FLOW_GROUPS;

		if (end > first)
			groups[filled++] = group_of(flows + first, end - first, values);
	}
	free(values);
	free(flows);
	return filled;
}

void flow_table_write_groups(const struct flow_group *groups, unsigned count, FILE *out)
{
#define GROUP_NAME(column, printed, unit, meaning) #column, unit,
	static const char *const names[] = {FLOW_GROUP_COLUMNS(GROUP_NAME) NULL};

	for (const char *const *name = names; *name; name += 2)
		fprintf(out, "%s%s%s%s", name == names ? "" : ",", name[0], *name[1] ? "_" : "",
			name[1]);
	fputc('\n', out);
	for (unsigned i = 0; i < count; i++) {
		const char *between = "";

#define GROUP_PRINT(column, printed, unit, meaning)            \
	fprintf(out, "%s" printed, between, groups[i].column); \
	between = ",";
		FLOW_GROUP_COLUMNS(GROUP_PRINT)
		fputc('\n', out);
	}
}
