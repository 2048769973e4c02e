/* flow_table: see flow_table.h. */
#include "scenarios/workload/flow_table.h"

#include <assert.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <inttypes.h>
#include <stdlib.h>

/* clang-format off */
#define COLUMN_ENTRY(column, type, printed, unit, meaning) {#column, unit, meaning},
const struct flow_column flow_columns[] = { FLOW_COLUMNS(COLUMN_ENTRY) { 0 } };

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

static void write_record(const struct flow_record *record, FILE *out)
{
#define COLUMN_PRINT(column, type, printed, unit, meaning) \
	print_##printed(out, record->column);              \
	fputc(',', out);
	FLOW_COLUMNS(COLUMN_PRINT)
	if (record->status == FLOW_done) {
		print_TIME(out, flow_fct(record));
		fprintf(out, ",%.4f\n", flow_slowdown(record));
	} else {
		fputs(",\n", out);
	}
}

void flow_table_write(const struct flow_record *records, uint32_t count, FILE *out)
{
	for (const struct flow_column *column = flow_columns; column->name; column++)
		fprintf(out, "%s%s%s,", column->name, *column->unit ? "_" : "", column->unit);
	fputs("fct_us,slowdown\n", out);
	for (uint32_t i = 0; i < count; i++)
		if (records[i].source != records[i].destination)
			write_record(&records[i], out);
}

struct flow_summary flow_table_summarise(const struct flow_record *records, uint32_t count,
					 uint64_t low, uint64_t high)
{
	struct flow_summary summary = {.first = SIM_NEVER};
	double *fcts = malloc(2 * (count + 1) * sizeof(fcts[0])), *slowdowns = fcts + count;
	size_t done = 0;

	assert(fcts);
	for (uint32_t i = 0; i < count; i++) {
		const struct flow_record *record = &records[i];

		if (record->source == record->destination || record->bytes < low ||
		    record->bytes > high)
			continue;
		summary.flows++;
		summary.failed += record->status == FLOW_failed;
		if (record->status != FLOW_done)
			continue;
		fcts[done] = (double)flow_fct(record) / (double)US;
		slowdowns[done++] = flow_slowdown(record);
		summary.bytes += record->bytes;
		summary.first = record->ready < summary.first ? record->ready : summary.first;
		summary.last = record->finished > summary.last ? record->finished : summary.last;
	}
	summary.done = (uint32_t)done;
	if (done) {
		summary.fct_mean_us = gsl_stats_mean(fcts, 1, done);
		summary.slowdown_mean = gsl_stats_mean(slowdowns, 1, done);
		gsl_sort(fcts, 1, done);
		gsl_sort(slowdowns, 1, done);
		summary.fct_p50_us = gsl_stats_quantile_from_sorted_data(fcts, 1, done, 0.5);
		summary.fct_p90_us = gsl_stats_quantile_from_sorted_data(fcts, 1, done, 0.9);
		summary.fct_p95_us = gsl_stats_quantile_from_sorted_data(fcts, 1, done, 0.95);
		summary.fct_p99_us = gsl_stats_quantile_from_sorted_data(fcts, 1, done, 0.99);
		summary.slowdown_p50 = gsl_stats_quantile_from_sorted_data(slowdowns, 1, done, 0.5);
		summary.slowdown_p95 =
			gsl_stats_quantile_from_sorted_data(slowdowns, 1, done, 0.95);
		summary.slowdown_p99 =
			gsl_stats_quantile_from_sorted_data(slowdowns, 1, done, 0.99);
	}
	free(fcts);
	return summary;
}
