/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_vcd: converts a trace file to a value change dump, IEEE 1364-2005 clause 18
 * (trace_export.h). Dots in a block's name become scopes. Each point of a block is a scope with
 * the signals `tag` and the point's two values. Signals are unknown until the point first
 * occurs.
 */
#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/trace_export.h"

#define SIGNALS_PER_POINT 3
#define CODE_FIRST        '!'
#define CODE_COUNT        94 /* number of printable characters in identifier codes */

/* First number of a source's signals, in the order of trace_reader_source(). */
struct numbering {
	uint32_t id;
	uint64_t first_signal;
};

static void print_code(FILE *out, uint64_t signal)
{
	do {
		fputc((int)(CODE_FIRST + signal % CODE_COUNT), out);
		signal /= CODE_COUNT;
	} while (signal > 0);
}

/* Prints a reference name. VCD names have no white space, and viewers treat brackets as bit
 * ranges. */
static void print_name(FILE *out, const char *name, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)name[i];

		fputc(isalnum(c) || c == '_' ? c : '_', out);
	}
}

static void open_scope(FILE *out, const char *name, size_t length)
{
	fputs("$scope module ", out);
	print_name(out, name, length);
	fputs(" $end\n", out);
}

static void close_scopes(FILE *out, unsigned depth)
{
	while (depth-- > 0)
		fputs("$upscope $end\n", out);
}

static void declare_signal(FILE *out, uint64_t signal, const char *name)
{
	if (name[0] == '\0')
		return;
	fputs("$var wire 64 ", out);
	print_code(out, signal);
	fputc(' ', out);
	print_name(out, name, strlen(name));
	fputs(" $end\n", out);
}

static void declare_source(FILE *out, const struct trace_source *source, uint64_t signal)
{
	unsigned depth = 0;

	for (const char *part = source->name; *part != '\0';) {
		size_t length = strcspn(part, ".");

		open_scope(out, part, length);
		depth++;
		part += length;
		part += *part == '.';
	}
	for (unsigned i = 0; i < source->point_count; i++, signal += SIGNALS_PER_POINT) {
		const struct trace_point *point = &source->points[i];

		open_scope(out, point->name, strlen(point->name));
		declare_signal(out, signal, "tag");
		declare_signal(out, signal + 1, point->first);
		declare_signal(out, signal + 2, point->second);
		close_scopes(out, 1);
	}
	close_scopes(out, depth);
}

static void dump_value(FILE *out, uint64_t signal, uint64_t value)
{
	int top = value == 0 ? 0 : 63 - __builtin_clzll(value);

	fputc('b', out);
	for (int bit = top; bit >= 0; bit--)
		fputc((value >> bit & 1) != 0 ? '1' : '0', out);
	fputc(' ', out);
	print_code(out, signal);
	fputc('\n', out);
}

static int compare_ids(const void *a, const void *b)
{
	uint32_t one = ((const struct numbering *)a)->id, other = ((const struct numbering *)b)->id;

	return one < other ? -1 : one > other;
}

static void dump_entry(FILE *out, const struct trace_entry *entry, const struct numbering *numbers,
		       size_t count)
{
	struct numbering key = {.id = entry->source->id};
	const struct numbering *found = bsearch(&key, numbers, count, sizeof(key), compare_ids);
	const struct trace_point *point = &entry->source->points[entry->point];
	uint64_t signal;

	assert(found);
	signal = found->first_signal + (uint64_t)entry->point * SIGNALS_PER_POINT;
	dump_value(out, signal, entry->tag);
	if (point->first[0] != '\0')
		dump_value(out, signal + 1, entry->first);
	if (point->second[0] != '\0')
		dump_value(out, signal + 2, entry->second);
}

static struct numbering *declare_all(struct trace_reader *reader, FILE *out, size_t *count)
{
	const struct trace_source *source;
	struct numbering *numbers;
	uint64_t signal = 0;

	for (*count = 0; trace_reader_source(reader, *count); ++*count)
		;
	numbers = calloc(*count + 1, sizeof(*numbers));
	assert(numbers);
	fputs("$version hcasim $end\n$timescale 1 ps $end\n", out);
	for (size_t i = 0; (source = trace_reader_source(reader, i)); i++) {
		numbers[i] = (struct numbering){source->id, signal};
		declare_source(out, source, signal);
		signal += (uint64_t)source->point_count * SIGNALS_PER_POINT;
	}
	fputs("$enddefinitions $end\n", out);
	return numbers;
}

bool trace_export_vcd(struct trace_reader *reader, FILE *out)
{
	struct trace_entry entry;
	struct numbering *numbers;
	sim_time shown = SIM_NEVER;
	size_t count;

	trace_reader_rewind(reader);
	while (trace_reader_next(reader, &entry))
		;
	numbers = declare_all(reader, out, &count);
	trace_reader_rewind(reader);
	while (trace_reader_next(reader, &entry)) {
		if (entry.time != shown)
			fprintf(out, "#%" PRIu64 "\n", entry.time);
		shown = entry.time;
		dump_entry(out, &entry, numbers, count);
	}
	free(numbers);
	return fflush(out) == 0 && !ferror(out) && !trace_reader_error(reader);
}
