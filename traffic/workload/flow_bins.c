/* SPDX-License-Identifier: Apache-2.0 */
/* flow_bins: see flow_bins.h. */
#include "traffic/workload/flow_bins.h"

#include <inttypes.h>

static const char *const kind_names[] = {
	[FLOW_ALL] = "all", [FLOW_OF_PATTERN] = "pattern", [FLOW_OF_INCAST] = "incast"};

struct job {
	const struct flow_record *records;
	uint32_t count;
	sim_time from;
	uint32_t part;         /* see struct flow_choice */
	const char *part_name; /* NULL: the table has no such column */
	FILE *out;
};

static void write_values(const struct flow_summary *summary, FILE *out)
{
	unsigned column = 0;
#define BIN_PRINT(name, printed, unit, meaning)            \
	fputc(',', out);                                   \
	if (column++ < FLOW_BIN_KEYS || summary->done > 0) \
		fprintf(out, printed, summary->name);
	FLOW_BIN_COLUMNS(BIN_PRINT)
	fputc('\n', out);
}

/* Writes the line of flows with low..high bytes. */
static void write_bin(const struct job *job, enum flow_kinds kinds, uint64_t low, uint64_t high)
{
	const struct flow_choice choice = {low, high, job->from, kinds, job->part};
	const struct flow_summary summary = flow_table_summarise(job->records, job->count, &choice);

	if (job->part_name)
		fprintf(job->out, "%s,", job->part_name);
	fprintf(job->out, "%s,", kind_names[kinds]);
	if (low > 0)
		fprintf(job->out, "%" PRIu64, low - 1);
	fputc(',', job->out);
	if (high < UINT64_MAX)
		fprintf(job->out, "%" PRIu64, high);
	write_values(&summary, job->out);
}

static bool has_incasts(const struct job *job)
{
	for (uint32_t i = 0; i < job->count; i++)
		if (job->records[i].incast && (!job->part || job->part - 1 == job->records[i].part))
			return true;
	return false;
}

static void write_bins(const struct job *job, const struct param_sizes *limits)
{
	bool incasts = has_incasts(job);

	for (enum flow_kinds kinds = FLOW_ALL; kinds <= FLOW_OF_INCAST; kinds++) {
		uint64_t low = 0;

		if (kinds != FLOW_ALL && !incasts)
			continue;
		for (uint32_t i = 0; i < limits->count; i++) {
			write_bin(job, kinds, low, limits->bytes[i]);
			low = limits->bytes[i] + 1;
		}
		if (limits->count > 0)
			write_bin(job, kinds, low, UINT64_MAX);
		write_bin(job, kinds, 0, UINT64_MAX);
	}
}

void flow_bins_write(const struct flow_record *records, uint32_t count,
		     const struct param_sizes *limits, sim_time from, const char *const *parts,
		     FILE *out)
{
	struct job job = {.records = records, .count = count, .from = from, .out = out};

	fprintf(out, "%sof,bytes_above_B,bytes_to_B", parts ? "workload," : "");
#define BIN_NAME(name, printed, unit, meaning) fputs("," #name, out);
	FLOW_BIN_COLUMNS(BIN_NAME)
	fputc('\n', out);
	job.part_name = parts ? FLOW_BINS_ALL : NULL;
	write_bins(&job, limits);
	for (uint32_t i = 0; parts && parts[i]; i++) {
		job.part = i + 1;
		job.part_name = parts[i];
		write_bins(&job, limits);
	}
}
