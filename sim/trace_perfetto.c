/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_perfetto: converts a trace file to Chrome trace events (trace_export.h), with a process
 * for each host or switch and a thread for each block. A record is an instant. The time from the
 * first to the last record of a work request (tag) in a block is a slice. If requests are in a
 * block at once, the block has further threads, "host0.hca.dma #2".
 *
 * Records whose first value is called `picoseconds` are durations of stages that follow each other
 * and end at the record. The last such record of a request has a second value, and is the sum of
 * the durations. These records become slices, too.
 *
 * Arrows lead a request from slice to slice, over all hosts: from the doorbell, which is its first
 * stage, to the CQE. The format counts in microseconds; six decimals keep the picoseconds.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/json.h"
#include "sim/trace_export.h"

/* The time of a work request in a block. */
struct slice {
	const struct trace_source *source;
	const char *name; /* of a stage; NULL: the block's */
	uint64_t tag;
	sim_time begin, end;
	uint32_t order; /* of the first record; stages come first */
	uint32_t lane;  /* number of the block's thread */
	bool inside;    /* a stage, inside the slice of its request */
};

struct slices {
	struct slice *list; /* in the order of their start */
	uint32_t count, room;
	uint32_t *slots; /* hash table: number + 1, or 0 if free; at most half full */
	uint32_t slot_count;
	/* stages of the request whose records are read now */
	struct slice *stages;
	uint32_t stage_count, stage_room;
};

#define STAGE "picoseconds" /* name of the value of a stage */

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

/* ---- stages ---- */

static bool is_stage(const struct trace_entry *entry)
{
	return entry->tag && strcmp(entry->source->points[entry->point].first, STAGE) == 0;
}

static void add_stage(struct slices *slices, const struct slice *slice)
{
	if (slices->stage_count == slices->stage_room) {
		slices->stage_room = slices->stage_room ? slices->stage_room * 2 : 1024;
		slices->stages =
			realloc(slices->stages, slices->stage_room * sizeof(slices->stages[0]));
		assert(slices->stages);
	}
	slices->stages[slices->stage_count++] = *slice;
}

/* The stages of a request come together, and their sum last. Their ends are known then. */
static void collect_stage(struct slices *slices, const struct trace_entry *entry)
{
	const char *name = entry->source->points[entry->point].name;
	uint32_t first = slices->stage_count;
	sim_time at;

	if (entry->source->points[entry->point].second[0] == '\0') {
		const struct slice stage = {.source = entry->source,
					    .name = name,
					    .tag = entry->tag,
					    .end = entry->first, /* the length at first */
					    .inside = true};

		add_stage(slices, &stage);
		return;
	}
	while (first > 0 && slices->stages[first - 1].inside &&
	       slices->stages[first - 1].begin == 0 && slices->stages[first - 1].tag == entry->tag)
		first--;
	at = entry->time - entry->first;
	for (uint32_t i = first; i < slices->stage_count; i++) {
		struct slice *stage = &slices->stages[i];

		stage->begin = at;
		at += stage->end;
		stage->end = at;
	}
	add_stage(slices, &(struct slice){.source = entry->source,
					  .name = name,
					  .tag = entry->tag,
					  .begin = entry->time - entry->first,
					  .end = entry->time});
}

/* Records without a tag belong to no work request. */
static void collect(struct slices *slices, const struct trace_entry *entry)
{
	uint32_t *slot;

	if (!entry->tag)
		return;
	if (is_stage(entry)) {
		collect_stage(slices, entry);
		return;
	}
	if (slices->count == slices->room)
		grow(slices);
	slot = slot_of(slices, entry->source->id, entry->tag);
	if (!*slot) {
		slices->list[slices->count] = (struct slice){.source = entry->source,
							     .tag = entry->tag,
							     .order = slices->count + 1,
							     .begin = entry->time,
							     .end = entry->time};
		*slot = ++slices->count;
	}
	slices->list[*slot - 1].end = entry->time;
}

/* Returns the length of "host0" in "host0.hca.dma". */
static size_t owner_length(const struct trace_source *source)
{
	return strcspn(source->name, ".");
}

/* Returns the process of a block: 1 + the number of the first block with the same owner. */
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

/* ---- threads of a block ---- */

#define LANES_MAX 64 /* more requests at once share the last thread */

/* The threads of a block, and the time at which each is free. */
struct lanes {
	sim_time free_at[LANES_MAX];
	uint32_t count;
};

/* Gives each slice a thread of its block that is free. Slices inside others share their thread. */
static void choose_lanes(struct slice *list, uint32_t count, struct lanes *lanes)
{
	for (uint32_t i = 0; i < count; i++) {
		struct lanes *of = &lanes[list[i].source->id];
		uint32_t lane = 0;

		if (list[i].inside)
			continue;
		while (lane < LANES_MAX - 1 && of->free_at[lane] > list[i].begin)
			lane++;
		of->free_at[lane] = list[i].end;
		of->count = lane >= of->count ? lane + 1 : of->count;
		list[i].lane = lane;
		/* the stages of a request stand before it */
		for (uint32_t j = i; j > 0 && list[j - 1].inside; j--)
			list[j - 1].lane = lane;
	}
}

static uint64_t thread_of(const struct slice *slice, uint32_t ids)
{
	return (uint64_t)slice->lane * ids + slice->source->id;
}

static void export_lane_names(const struct trace_reader *reader, const uint32_t *processes,
			      const struct lanes *lanes, uint32_t ids, FILE *out)
{
	const struct trace_source *source;
	char name[512];

	for (size_t i = 0; (source = trace_reader_source(reader, i)); i++) {
		for (uint32_t lane = 1; lane < lanes[source->id].count; lane++) {
			snprintf(name, sizeof(name), "%s #%" PRIu32, source->name, lane + 1);
			fprintf(out,
				",\n{\"ph\":\"M\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu64
				",\"name\":\"thread_name\",\"args\":{\"name\":",
				processes[source->id], (uint64_t)lane * ids + source->id);
			json_text(out, name);
			fprintf(out,
				"}},\n{\"ph\":\"M\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu64
				",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%" PRIu32
				"}}",
				processes[source->id], (uint64_t)lane * ids + source->id,
				source->id);
		}
	}
}

/* ---- slices and arrows ---- */

static void export_time(FILE *out, const char *key, sim_time time)
{
	fprintf(out, ",\"%s\":%" PRIu64 ".%06" PRIu64, key, time / US, time % US);
}

/* An arrow needs a slice: a passage of no duration is drawn with 1 ns. */
static void export_slice(const struct slice *slice, const uint32_t *processes, uint32_t ids,
			 FILE *out)
{
	sim_time length = slice->end - slice->begin;

	fprintf(out, ",\n{\"ph\":\"X\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu64,
		processes[slice->source->id], thread_of(slice, ids));
	export_time(out, "ts", slice->begin);
	export_time(out, "dur", length ? length : NS);
	fputs(",\"name\":", out);
	json_text(out, slice->name ? slice->name : slice->source->name);
	fputs(",\"args\":{\"tag\":", out);
	json_u64(out, slice->tag);
	fputs("}}", out);
}

static void export_arrow(const struct slice *slice, const uint32_t *processes, uint32_t ids,
			 const char *phase, FILE *out)
{
	fprintf(out, ",\n{\"ph\":\"%s,\"pid\":%" PRIu32 ",\"tid\":%" PRIu64, phase,
		processes[slice->source->id], thread_of(slice, ids));
	export_time(out, "ts", slice->begin);
	fprintf(out, ",\"cat\":\"work request\",\"name\":\"work request\",\"id\":\"%" PRIu64 "\"}",
		slice->tag);
}

/* Compares by tag, then by time. */
static int by_request(const void *one, const void *other)
{
	const struct slice *const *a = one, *const *b = other;

	if ((*a)->tag != (*b)->tag)
		return (*a)->tag < (*b)->tag ? -1 : 1;
	if ((*a)->begin != (*b)->begin)
		return (*a)->begin < (*b)->begin ? -1 : 1;
	return (*a)->order < (*b)->order ? -1 : (*a)->order > (*b)->order;
}

static bool is_first_stage(const struct slices *slices, uint32_t i)
{
	return slices->stages[i].inside && (i == 0 || !slices->stages[i - 1].inside);
}

/* Slices of a request in one block and without duration have no arrow, and are not drawn. */
static void export_slices(const struct slices *slices, const uint32_t *processes, uint32_t ids,
			  FILE *out)
{
	const struct slice **sorted =
		calloc((size_t)slices->count + slices->stage_count + 1, sizeof(struct slice *));
	uint32_t count = 0;

	assert(sorted);
	for (uint32_t i = 0; i < slices->count; i++)
		sorted[count++] = &slices->list[i];
	for (uint32_t i = 0; i < slices->stage_count; i++)
		if (is_first_stage(slices, i))
			sorted[count++] = &slices->stages[i];
	qsort(sorted, count, sizeof(sorted[0]), by_request);
	for (uint32_t i = 0; i < slices->stage_count; i++)
		if (slices->stages[i].end > slices->stages[i].begin)
			export_slice(&slices->stages[i], processes, ids, out);
	for (uint32_t i = 0; i < count; i++) {
		bool begins = i == 0 || sorted[i - 1]->tag != sorted[i]->tag;
		bool ends = i + 1 == count || sorted[i + 1]->tag != sorted[i]->tag;

		if (!sorted[i]->inside && (!(begins && ends) || sorted[i]->end > sorted[i]->begin))
			export_slice(sorted[i], processes, ids, out);
		if (!(begins && ends))
			export_arrow(sorted[i], processes, ids,
				     begins ? "s\""
				     : ends ? "f\",\"bp\":\"e\""
					    : "t\"",
				     out);
	}
	free(sorted);
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
	struct lanes *lanes;

	trace_reader_rewind(reader);
	while (trace_reader_next(reader, &entry))
		collect(&slices, &entry);
	for (size_t i = 0; (source = trace_reader_source(reader, i)); i++)
		ids = source->id >= ids ? source->id + 1 : ids;
	processes = calloc(ids + 1, sizeof(*processes));
	lanes = calloc(ids + 1, sizeof(*lanes));
	assert(processes && lanes);
	for (size_t i = 0; (source = trace_reader_source(reader, i)); i++)
		processes[source->id] = process_of(reader, source);
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", out);
	export_track_names(reader, processes, out);
	choose_lanes(slices.list, slices.count, lanes);
	choose_lanes(slices.stages, slices.stage_count, lanes);
	export_lane_names(reader, processes, lanes, ids, out);
	export_slices(&slices, processes, ids, out);
	trace_reader_rewind(reader);
	while (trace_reader_next(reader, &entry))
		export_entry(&entry, processes, out);
	fputs("\n]}\n", out);
	free(processes);
	free(slices.list);
	free(slices.slots);
	free(slices.stages);
	free(lanes);
	return fflush(out) == 0 && !ferror(out) && !trace_reader_error(reader);
}
