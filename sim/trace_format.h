/* SPDX-License-Identifier: Apache-2.0 */
/* trace_format: the bytes of a trace file, shared by its writer (trace.c) and its reader
 * (trace_reader.c). */
#ifndef SIM_TRACE_FORMAT_H
#define SIM_TRACE_FORMAT_H

#include <stdint.h>

#define TRACE_MAGIC   UINT64_C(0x6563617274616368) /* "hcatrace" when little-endian */
#define TRACE_VERSION 1

struct trace_header {
	uint64_t magic;
	uint32_t version;
	uint32_t record_bytes;
	uint64_t picoseconds; /* picoseconds per unit of time */
	uint64_t seed;
};

enum trace_kind { TRACE_KIND_POINT, TRACE_KIND_BLOCK };

/* Record of a trace file. After a record of TRACE_KIND_BLOCK, `first` bytes of text follow, a
 * multiple of 8. The text holds the names of the block and of its type. For each of `second`
 * points it then holds the point's name and the names of its two values. Each name ends with a
 * zero byte, and zero bytes pad the text. */
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
