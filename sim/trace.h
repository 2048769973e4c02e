/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace: what the traced blocks of a run went through, in a compact binary file, and the reader of it.
 *
 *     trace(block, POINT, tag, first, second) --> trace_write() --> file --> trace_reader --> trace_export.h
 *
 * The file is a header and then records of TRACE_RECORD_BYTES. A block's first record defines it (names of the
 * block and its points follow as text), so a file that was cut off is readable up to there. Numbers are in the byte
 * order of the machine that wrote it; the header's magic number tells.
 */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include "sim/block.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TRACE_RECORD_BYTES 40

/* Traces the blocks, present and future, whose names match one of the comma-separated glob patterns; '*' matches
 * dots too. One trace at a time. NULL: errno says why. */
struct trace_file *trace_open(struct sim *sim, const char *path, const char *patterns);

/* Records with which the file would be larger are left out, but for what defines blocks. */
void trace_limit(struct trace_file *trace, uint64_t max_bytes);

/* The time of the first record that was left out; SIM_NEVER: none was. */
sim_time trace_full_since(const struct trace_file *trace);

/* Before sim_destroy(). false: something could not be written; errno says why. */
bool trace_close(struct trace_file *trace);

struct trace_source {
	uint32_t id;
	const char *name;
	const char *type;
	unsigned point_count;
	const struct trace_point *points; /* their meanings stay in the program: NULL */
};

struct trace_entry {
	sim_time time;
	uint64_t tag;
	uint64_t first;
	uint64_t second;
	const struct trace_source *source; /* until the next entry is read */
	unsigned point;
};

struct trace_reader;

/* NULL: *error (static) says what is wrong. */
struct trace_reader *trace_reader_open(const char *path, const char **error);
void trace_reader_close(struct trace_reader *reader);

/* false: the end, or the file is damaged from here on: see trace_reader_error(). */
bool trace_reader_next(struct trace_reader *reader, struct trace_entry *entry);
const char *trace_reader_error(const struct trace_reader *reader); /* NULL: none */
void trace_reader_rewind(struct trace_reader *reader);

/* The i-th source met so far, in order of their ids; NULL: no more. */
const struct trace_source *trace_reader_source(const struct trace_reader *reader, size_t i);

#ifdef __cplusplus
}
#endif
#endif
