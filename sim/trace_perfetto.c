/* trace_perfetto: a trace file as Chrome trace events (trace_export.h). The format counts in microseconds; six
 * decimals keep the picoseconds. */
#include <inttypes.h>

#include "sim/json.h"
#include "sim/trace_export.h"

#define PROCESS 1 /* all tracks belong to one process, the run */

static void export_track_names(const struct trace_reader *reader, FILE *out)
{
	const struct trace_source *source;

	fprintf(out,
		"{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_name\",\"args\":{\"name\":\"hcasim\"}"
		"}",
		PROCESS);
	for (size_t i = 0; (source = trace_reader_source(reader, i)) != NULL; i++) {
		fprintf(out,
			",\n{\"ph\":\"M\",\"pid\":%d,\"tid\":%" PRIu32
			",\"name\":\"thread_name\",\"args\":{\"name\":",
			PROCESS, source->id);
		json_text(out, source->name);
		fprintf(out,
			"}},\n{\"ph\":\"M\",\"pid\":%d,\"tid\":%" PRIu32
			",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%" PRIu32 "}}",
			PROCESS, source->id, source->id);
	}
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

static void export_entry(const struct trace_entry *entry, FILE *out)
{
	const struct trace_point *point = &entry->source->points[entry->point];

	fprintf(out,
		",\n{\"ph\":\"i\",\"s\":\"t\",\"pid\":%d,\"tid\":%" PRIu32 ",\"ts\":%" PRIu64
		".%06" PRIu64 ",\"name\":",
		PROCESS, entry->source->id, entry->time / US, entry->time % US);
	json_text(out, point->name);
	fputs(",\"args\":{\"tag\":", out);
	json_u64(out, entry->tag);
	export_value(out, point->first, entry->first);
	export_value(out, point->second, entry->second);
	fputs("}}", out);
}

bool trace_export_perfetto(struct trace_reader *reader, FILE *out)
{
	struct trace_entry entry;

	trace_reader_rewind(reader);
	while (trace_reader_next(reader, &entry))
		;
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", out);
	export_track_names(reader, out);
	trace_reader_rewind(reader);
	while (trace_reader_next(reader, &entry))
		export_entry(&entry, out);
	fputs("\n]}\n", out);
	return fflush(out) == 0 && !ferror(out) && trace_reader_error(reader) == NULL;
}
