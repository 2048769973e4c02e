/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace: writes the trace points that a run's traced blocks pass to a compact binary file, and
 * reads that file.
 *
 *     trace(block, POINT, tag, first, second) --> trace_write() --> file
 *     file --> trace_reader --> trace_export.h
 *
 * The file is a header followed by records of TRACE_RECORD_BYTES. A block's first record
 * defines the block, and its names follow as text. A truncated file is therefore readable up to
 * the truncation. Numbers have the byte order of the machine that wrote the file, which the
 * magic number of the header reveals.
 */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include "sim/block.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TRACE_RECORD_BYTES 40

/* Traces all present and future blocks whose names match one of the comma-separated glob
 * patterns. '*' matches dots too. A run has at most one open trace. Returns NULL on failure and
 * sets errno. */
struct trace_file *trace_open(struct sim *sim, const char *path, const char *patterns);

/* Limits the size of the file. Records that would exceed `max_bytes` are omitted, except for
 * definitions of blocks. */
void trace_limit(struct trace_file *trace, uint64_t max_bytes);

/* Returns the time of the first omitted record, or SIM_NEVER if no record was omitted. */
sim_time trace_full_since(const struct trace_file *trace);

/* Closes the trace; call it before sim_destroy(). Returns false if part of the file could not
 * be written, and sets errno. */
bool trace_close(struct trace_file *trace);

struct trace_source {
	uint32_t id;
	const char *name;
	const char *type;
	unsigned point_count;
	/* `meaning` is NULL if the file does not contain meanings */
	const struct trace_point *points;
};

struct trace_entry {
	sim_time time;
	uint64_t tag;
	uint64_t first;
	uint64_t second;
	const struct trace_source *source; /* valid until the next entry is read */
	unsigned point;
};

struct trace_reader;

/* Opens a trace file. Returns NULL on failure and sets *error to a static text. */
struct trace_reader *trace_reader_open(const char *path, const char **error);
void trace_reader_close(struct trace_reader *reader);

/* Reads the next entry. Returns false at the end, or if the rest of the file is damaged.
 * trace_reader_error() distinguishes the two cases. */
bool trace_reader_next(struct trace_reader *reader, struct trace_entry *entry);
/* returns NULL if the file is intact so far */
const char *trace_reader_error(const struct trace_reader *reader);
void trace_reader_rewind(struct trace_reader *reader);

/* Returns the i-th source read so far, in the order of their ids. Returns NULL if there are no
 * more. */
const struct trace_source *trace_reader_source(const struct trace_reader *reader, size_t i);

#ifdef __cplusplus
}
#endif
#endif
