/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_trace: implements hcasim trace FILE: prints a trace as text, or converts it for Perfetto or
 * waveform viewers.
 *
 *     hcasim trace run.trace --tag 7            one work request in all blocks
 *     hcasim trace run.trace --perfetto T.json  for ui.perfetto.dev;  --vcd T.vcd  for GTKWave
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hcasim/command/verb.h"
#include "sim/trace.h"
#include "sim/trace_export.h"

static void print_value(const char *name, uint64_t value)
{
	if (name && name[0])
		printf(" %s=%" PRIu64, name, value);
}

static void print_entry(const struct trace_entry *entry, sim_time since)
{
	const struct trace_point *point = &entry->source->points[entry->point];

	printf("%14.3f %+11.3f  %-28s %-16s", (double)entry->time / 1e3,
	       (double)(entry->time - since) / 1e3, entry->source->name, point->name);
	if (entry->tag)
		printf(" tag=%" PRIu64, entry->tag);
	print_value(point->first, entry->first);
	print_value(point->second, entry->second);
	putchar('\n');
}

static bool print_all(struct trace_reader *reader, uint64_t tag)
{
	struct trace_entry entry;
	sim_time last = 0;
	bool any = false;

	printf("%14s %11s  %-28s %s\n", "time ns", "since last", "block", "point");
	while (trace_reader_next(reader, &entry)) {
		if (tag && entry.tag != tag)
			continue;
		print_entry(&entry, any ? last : entry.time);
		last = entry.time;
		any = true;
	}
	if (tag && !any)
		say("no record of the trace has tag %" PRIu64, tag);
	return any || !tag;
}

typedef bool trace_exporter(struct trace_reader *reader, FILE *out);

/* Removes the file again if it could not be written completely. */
static bool export_to(struct trace_reader *reader, const char *path, trace_exporter *exporter)
{
	FILE *out = fopen(path, "w");
	bool good;

	if (!out) {
		say("%s: %s", path, strerror(errno));
		return false;
	}
	trace_reader_rewind(reader);
	good = exporter(reader, out);
	if (ferror(out)) {
		say("%s: could not be written", path);
		good = false;
	}
	if (fclose(out) != 0) {
		say("%s: %s", path, strerror(errno));
		good = false;
	}
	if (!good)
		remove(path);
	return good;
}

int verb_trace(const struct arguments *arguments)
{
	const char *error;
	struct trace_reader *reader = trace_reader_open(arguments->word, &error);
	bool good = true;

	if (!reader) {
		say("%s: %s", arguments->word, error);
		return EXIT_BAD_INPUT;
	}
	if (arguments->perfetto)
		good = export_to(reader, arguments->perfetto, trace_export_perfetto) && good;
	if (arguments->vcd)
		good = export_to(reader, arguments->vcd, trace_export_vcd) && good;
	if (!arguments->perfetto && !arguments->vcd)
		good = print_all(reader, arguments->tag);
	if (trace_reader_error(reader)) {
		say("%s: %s", arguments->word, trace_reader_error(reader));
		good = false;
	}
	trace_reader_close(reader);
	return good ? EXIT_GOOD : EXIT_BAD_INPUT;
}
