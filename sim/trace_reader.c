/* SPDX-License-Identifier: Apache-2.0 */
/* trace_reader: reads a trace file (trace.h). The file is user input, so the reader checks
 * everything in it. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/input.h"
#include "sim/trace.h"
#include "sim/trace_format.h"

#define TEXT_MAX   (1 << 20)
#define POINTS_MAX (1 << 16)

struct source {
	struct trace_source source;
	char *text;
	struct trace_point *points;
};

struct trace_reader {
	FILE *file;
	struct source *sources; /* sorted by id */
	size_t source_count;
	const char *error;
};

static int compare_ids(const void *key, const void *element)
{
	uint32_t id = *(const uint32_t *)key;
	uint32_t other = ((const struct source *)element)->source.id;

	return id < other ? -1 : id > other;
}

static struct source *find_source(const struct trace_reader *reader, uint32_t id)
{
	return reader->source_count == 0 ? NULL
					 : bsearch(&id, reader->sources, reader->source_count,
						   sizeof(*reader->sources), compare_ids);
}

static void insert_source(struct trace_reader *reader, struct source source)
{
	size_t i = reader->source_count++;

	reader->sources = realloc(reader->sources, reader->source_count * sizeof(*reader->sources));
	assert(reader->sources);
	for (; i > 0 && reader->sources[i - 1].source.id > source.source.id; i--)
		reader->sources[i] = reader->sources[i - 1];
	reader->sources[i] = source;
}

/* Returns the next zero-terminated text, or NULL if there is none before the end. */
static const char *next_text(const char **cursor, const char *end)
{
	const char *text = *cursor;
	const char *zero = memchr(text, '\0', (size_t)(end - text));

	if (!zero)
		return NULL;
	*cursor = zero + 1;
	return text;
}

static bool parse_names(struct source *source, const char *end)
{
	const char *cursor = source->text;

	source->source.name = next_text(&cursor, end);
	source->source.type = source->source.name ? next_text(&cursor, end) : NULL;
	if (!source->source.type)
		return false;
	for (unsigned i = 0; i < source->source.point_count; i++) {
		struct trace_point *point = &source->points[i];

		point->name = next_text(&cursor, end);
		point->first = point->name ? next_text(&cursor, end) : NULL;
		point->second = point->first ? next_text(&cursor, end) : NULL;
		if (!point->second)
			return false;
	}
	return true;
}

static bool read_definition(struct trace_reader *reader, const struct trace_record *record)
{
	struct source source = {
		.source = {.id = record->block, .point_count = (unsigned)record->second}};

	if (record->first > TEXT_MAX || record->second > POINTS_MAX || record->first % 8 != 0)
		return false;
	source.text = malloc(record->first + 1);
	source.points = calloc(record->second + 1, sizeof(*source.points));
	assert(source.text && source.points);
	source.source.points = source.points;
	if (fread(source.text, 1, record->first, reader->file) != record->first ||
	    !parse_names(&source, source.text + record->first)) {
		free(source.text);
		free(source.points);
		return false;
	}
	if (!find_source(reader, record->block)) {
		insert_source(reader, source);
	} else { /* read before a rewind */
		free(source.text);
		free(source.points);
	}
	return true;
}

bool trace_reader_next(struct trace_reader *reader, struct trace_entry *entry)
{
	struct trace_record record;
	const struct source *source;
	size_t bytes;

	while ((bytes = fread(&record, 1, sizeof(record), reader->file)) == sizeof(record)) {
		if (record.kind == TRACE_KIND_BLOCK) {
			if (read_definition(reader, &record))
				continue;
			reader->error = "a block's definition is damaged or cut off";
			return false;
		}
		source = find_source(reader, record.block);
		if (record.kind != TRACE_KIND_POINT || !source ||
		    record.point >= source->source.point_count) {
			reader->error = "a record names no known block or point";
			return false;
		}
		*entry = (struct trace_entry){
			.time = record.time,
			.tag = record.tag,
			.first = record.first,
			.second = record.second,
			.source = &source->source,
			.point = record.point,
		};
		return true;
	}
	if (bytes != 0)
		reader->error = "the last record is cut off";
	return false;
}

const char *trace_reader_error(const struct trace_reader *reader)
{
	return reader->error;
}

void trace_reader_rewind(struct trace_reader *reader)
{
	reader->error = NULL;
	fseek(reader->file, sizeof(struct trace_header), SEEK_SET);
}

const struct trace_source *trace_reader_source(const struct trace_reader *reader, size_t i)
{
	return i < reader->source_count ? &reader->sources[i].source : NULL;
}

struct trace_reader *trace_reader_open(const char *path, const char **error)
{
	struct trace_reader *reader;
	struct trace_header header;
	FILE *file = input_open(path);

	if (!file) {
		*error = input_error();
		return NULL;
	}
	if (fread(&header, 1, sizeof(header), file) != sizeof(header) ||
	    header.magic != TRACE_MAGIC)
		*error = "not a trace file of this machine's byte order";
	else if (header.version != TRACE_VERSION || header.record_bytes != TRACE_RECORD_BYTES)
		*error = "a trace file of another version";
	else
		*error = NULL;
	if (*error) {
		fclose(file);
		return NULL;
	}
	reader = calloc(1, sizeof(*reader));
	assert(reader);
	reader->file = file;
	return reader;
}

void trace_reader_close(struct trace_reader *reader)
{
	for (size_t i = 0; i < reader->source_count; i++) {
		free(reader->sources[i].text);
		free(reader->sources[i].points);
	}
	free(reader->sources);
	fclose(reader->file);
	free(reader);
}
