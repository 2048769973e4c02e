/* SPDX-License-Identifier: Apache-2.0 */
/* trace: writes the trace file; see trace.h, and trace_format.h for its bytes. */
#include "sim/trace.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/engine.h"
#include "sim/trace_format.h"

#define BUFFER_BYTES (64 * 1024)

struct trace_file {
	struct sim *sim;
	char *patterns; /* each ends with a zero; an empty pattern ends the list */
	int fd;
	int error; /* errno of the first failed write */
	uint64_t written, max_bytes;
	sim_time full_since;
	size_t used;
	_Alignas(8) unsigned char buffer[BUFFER_BYTES];
};

static void flush(struct trace_file *trace)
{
	size_t done = 0;

	while (done < trace->used && trace->error == 0) {
		ssize_t n = write(trace->fd, trace->buffer + done, trace->used - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			trace->error = errno;
	}
	trace->used = 0;
}

static void append(struct trace_file *trace, const void *bytes, size_t count)
{
	trace->written += count;
	while (count > 0) {
		size_t room = BUFFER_BYTES - trace->used;
		size_t part = count < room ? count : room;

		memcpy(trace->buffer + trace->used, bytes, part);
		trace->used += part;
		bytes = (const unsigned char *)bytes + part;
		count -= part;
		if (trace->used == BUFFER_BYTES)
			flush(trace);
	}
}

void trace_write(struct block *block, unsigned point, uint64_t tag, uint64_t first, uint64_t second)
{
	struct trace_record record = {
		.time = sim_now(block->sim),
		.tag = tag,
		.first = first,
		.second = second,
		.block = block->id,
		.point = (uint16_t)point,
		.kind = TRACE_KIND_POINT,
	};

	if (__builtin_expect(block->trace->written + sizeof(record) > block->trace->max_bytes, 0)) {
		if (block->trace->full_since == SIM_NEVER)
			block->trace->full_since = record.time;
		return;
	}
	append(block->trace, &record, sizeof(record));
}

void trace_limit(struct trace_file *trace, uint64_t max_bytes)
{
	trace->max_bytes = max_bytes;
}

sim_time trace_full_since(const struct trace_file *trace)
{
	return trace->full_since;
}

static bool selected(const struct trace_file *trace, const char *name)
{
	for (const char *pattern = trace->patterns; *pattern != '\0';
	     pattern += strlen(pattern) + 1)
		if (fnmatch(pattern, name, 0) == 0)
			return true;
	return false;
}

static size_t text_bytes(const char *text)
{
	return text ? strlen(text) + 1 : 1;
}

static void append_text(struct trace_file *trace, const char *text)
{
	append(trace, text ? text : "", text_bytes(text));
}

static void define_block(struct trace_file *trace, const struct block *block)
{
	const struct block_type *type = block->type;
	struct trace_record record = {
		.time = sim_now(block->sim), .block = block->id, .kind = TRACE_KIND_BLOCK};
	size_t bytes = text_bytes(block->name) + text_bytes(type->name);
	size_t padding;

	for (const struct trace_point *point = type->trace_points; point->name; point++) {
		bytes += text_bytes(point->name) + text_bytes(point->first) +
			 text_bytes(point->second);
		record.second++;
	}
	padding = (8 - bytes % 8) % 8;
	record.first = bytes + padding;
	append(trace, &record, sizeof(record));
	append_text(trace, block->name);
	append_text(trace, type->name);
	for (const struct trace_point *point = type->trace_points; point->name; point++) {
		append_text(trace, point->name);
		append_text(trace, point->first);
		append_text(trace, point->second);
	}
	append(trace, "\0\0\0\0\0\0\0", padding);
}

void trace_attach(struct trace_file *trace, struct block *block)
{
	if (!block->type->trace_points || !selected(trace, block->name))
		return;
	define_block(trace, block);
	block->trace = trace;
}

static char *split_patterns(const char *patterns)
{
	char *list = calloc(1, strlen(patterns) + 2);
	char *end = list;

	assert(list);
	for (const char *p = patterns; *p != '\0'; p++) {
		if (*p != ',')
			*end++ = *p;
		else if (end != list && end[-1] != '\0')
			*end++ = '\0';
	}
	return list;
}

struct trace_file *trace_open(struct sim *sim, const char *path, const char *patterns)
{
	struct trace_header header = {
		.magic = TRACE_MAGIC,
		.version = TRACE_VERSION,
		.record_bytes = TRACE_RECORD_BYTES,
		.picoseconds = 1,
		.seed = sim->seed,
	};
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	struct trace_file *trace;

	assert(!sim->trace);
	if (fd < 0)
		return NULL;
	trace = calloc(1, sizeof(*trace));
	assert(trace);
	trace->sim = sim;
	trace->fd = fd;
	trace->max_bytes = UINT64_MAX;
	trace->full_since = SIM_NEVER;
	trace->patterns = split_patterns(patterns);
	append(trace, &header, sizeof(header));
	sim->trace = trace;
	for (struct block *block = sim_blocks(sim); block; block = block->next)
		trace_attach(trace, block);
	return trace;
}

bool trace_close(struct trace_file *trace)
{
	int error;

	for (struct block *block = sim_blocks(trace->sim); block; block = block->next)
		block->trace = NULL;
	trace->sim->trace = NULL;
	flush(trace);
	if (close(trace->fd) != 0 && trace->error == 0)
		trace->error = errno;
	error = trace->error;
	free(trace->patterns);
	free(trace);
	errno = error;
	return error == 0;
}
