/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_perfetto: converts a trace file to Chrome trace events (trace_export.h), with a process
 * for each host or switch and a track for each block. A record is an instant. The time from the
 * first to the last record of a work request (tag) in a block is a slice. The slices are
 * asynchronous, because several requests are in a block at once. The format counts in
 * microseconds; six decimals keep the picoseconds.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/json.h"
#include "sim/trace_export.h"

/* Of a work request in a block. */
struct slice {
	const struct trace_source *source;
	uint64_t tag;
	sim_time begin, end;
};

struct slices {
	struct slice *list; /* in the order in which they begin */
	uint32_t count, room;
	uint32_t *slots; /* by hash: number + 1, 0: free; half empty */
	uint32_t slot_count;
};

static uint32_t *slot_of(const struct slices *slices, uint32_t source, uint64_t tag)
{
	uint64_t hash =
		(tag * UINT64_C(0x9e3779b97f4a7c15) + source) * UINT64_C(0xff51afd7ed558ccd);
	uint32_t slot = (uint32_t)(hash >> 32) & (slices->slot_count - 1);

	while (slices->slots[slot] && (slices->list[slices->slots[slot] - 1].source->id != source ||
				       slices->list[slices->slots[slot] - 1].tag != tag))
		slot = (slot + 1) & (slices->slot_count - 1);
	return &slices->slots[slot];
}

static void grow(struct slices *slices)
{
	slices->room = slices->room ? slices->room * 2 : 1024;
	slices->list = realloc(slices->list, slices->room * sizeof(slices->list[0]));
	free(slices->slots);
	slices->slot_count = slices->room * 2;
	slices->slots = calloc(slices->slot_count, sizeof(slices->slots[0]));
	assert(slices->list && slices->slots);
	for (uint32_t i = 0; i < slices->count; i++)
		*slot_of(slices, slices->list[i].source->id, slices->list[i].tag) = i + 1;
}

/* What has no tag belongs to no work request. */
static void collect(struct slices *slices, const struct trace_entry *entry)
{
	uint32_t *slot;

	if (!entry->tag)
		return;
	if (slices->count == slices->room)
		grow(slices);
	slot = slot_of(slices, entry->source->id, entry->tag);
	if (!*slot) {
		slices->list[slices->count] =
			(struct slice){entry->source, entry->tag, entry->time, entry->time};
		*slot = ++slices->count;
	}
	slices->list[*slot - 1].end = entry->time;
}

/* "host0" of "host0.hca.dma". */
static size_t owner_length(const struct trace_source *source)
{
	return strcspn(source->name, ".");
}

/* The process of a block: 1 + the number of the first block with the same owner. */
static uint32_t process_of(const struct trace_reader *reader, const struct trace_source *source)
{
	const struct trace_source *other;

	for (size_t i = 0; (other = trace_reader_source(reader, i)); i++)
		if (owner_length(other) == owner_length(source) &&
		    memcmp(other->name, source->name, owner_length(source)) == 0)
			return (uint32_t)i + 1;
	return 1;
}

static void export_track_names(const struct trace_reader *reader, const uint32_t *processes,
			       FILE *out)
{
	const struct trace_source *source;

	for (size_t i = 0; (source = trace_reader_source(reader, i)); i++) {
		if (processes[source->id] == i + 1)
			fprintf(out,
				"%s{\"ph\":\"M\",\"pid\":%zu,\"name\":\"process_name\",\"args\":{"
				"\"name\":"
				"\"%.*s\"}}",
				i ? ",\n" : "", i + 1, (int)owner_length(source), source->name);
		fprintf(out,
			",\n{\"ph\":\"M\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
			",\"name\":\"thread_name\",\"args\":{\"name\":",
			processes[source->id], source->id);
		json_text(out, source->name);
		fprintf(out,
			"}},\n{\"ph\":\"M\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
			",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%" PRIu32 "}}",
			processes[source->id], source->id, source->id);
	}
}

static void export_edge(const struct slice *slice, const uint32_t *processes, char phase,
			sim_time time, FILE *out)
{
	fprintf(out,
		",\n{\"ph\":\"%c\",\"cat\":\"work request\",\"id\":\"%" PRIu32 ".%" PRIu64
		"\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"ts\":%" PRIu64 ".%06" PRIu64
		",\"name\":",
		phase, slice->source->id, slice->tag, processes[slice->source->id],
		slice->source->id, time / US, time % US);
	json_text(out, slice->source->name);
	fputs(",\"args\":{\"tag\":", out);
	json_u64(out, slice->tag);
	fputs("}}", out);
}

static void export_value(FILE *out, const char *name, uint64_t value)
{
	if (name[0] == '\0')
		return;
	fputc(',', out);
	json_text(out, name);
	fputc(':', out);
	json_u64(out, value);
}

static void export_entry(const struct trace_entry *entry, const uint32_t *processes, FILE *out)
{
	const struct trace_point *point = &entry->source->points[entry->point];

	fprintf(out,
		",\n{\"ph\":\"i\",\"s\":\"t\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
		",\"ts\":%" PRIu64 ".%06" PRIu64 ",\"name\":",
		processes[entry->source->id], entry->source->id, entry->time / US,
		entry->time % US);
	json_text(out, point->name);
	fputs(",\"args\":{\"tag\":", out);
	json_u64(out, entry->tag);
	export_value(out, point->first, entry->first);
	export_value(out, point->second, entry->second);
	fputs("}}", out);
}

bool trace_export_perfetto(struct trace_reader *reader, FILE *out)
{
	const struct trace_source *source;
	struct slices slices = {0};
	struct trace_entry entry;
	uint32_t *processes, ids = 0;

	trace_reader_rewind(reader);
	while (trace_reader_next(reader, &entry))
		collect(&slices, &entry);
	for (size_t i = 0; (source = trace_reader_source(reader, i)); i++)
		ids = source->id >= ids ? source->id + 1 : ids;
	processes = calloc(ids + 1, sizeof(*processes));
	assert(processes);
	for (size_t i = 0; (source = trace_reader_source(reader, i)); i++)
		processes[source->id] = process_of(reader, source);
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", out);
	export_track_names(reader, processes, out);
	for (uint32_t i = 0; i < slices.count; i++) {
		if (slices.list[i].end == slices.list[i].begin)
			continue;
		export_edge(&slices.list[i], processes, 'b', slices.list[i].begin, out);
		export_edge(&slices.list[i], processes, 'e', slices.list[i].end, out);
	}
	trace_reader_rewind(reader);
	while (trace_reader_next(reader, &entry))
		export_entry(&entry, processes, out);
	fputs("\n]}\n", out);
	free(processes);
	free(slices.list);
	free(slices.slots);
	return fflush(out) == 0 && !ferror(out) && !trace_reader_error(reader);
}
