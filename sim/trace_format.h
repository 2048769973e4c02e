/* SPDX-License-Identifier: Apache-2.0 */
/* trace_format: the bytes of a trace file, shared by its writer (trace.c) and its reader (trace_reader.c). */
#ifndef SIM_TRACE_FORMAT_H
#define SIM_TRACE_FORMAT_H

#include <stdint.h>

#define TRACE_MAGIC   UINT64_C(0x6563617274616368) /* "hcatrace" when little-endian */
#define TRACE_VERSION 1

struct trace_header {
	uint64_t magic;
	uint32_t version;
	uint32_t record_bytes;
	uint64_t picoseconds; /* per unit of time */
	uint64_t seed;
};

enum trace_kind { TRACE_KIND_POINT, TRACE_KIND_BLOCK };

/* TRACE_KIND_BLOCK: `first` bytes of text follow, a multiple of 8: the names of the block, of its type, and for each of
 * `second` points its own and those of its two values, each ending with a zero, the whole filled up with zeros. */
struct trace_record {
	uint64_t time;
	uint64_t tag;
	uint64_t first;
	uint64_t second;
	uint32_t block;
	uint16_t point;
	uint16_t kind;
};
_Static_assert(sizeof(struct trace_record) == 40, "records have no holes");

#endif
