/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_export: converts a trace file to the formats of viewers:
 *
 *     Perfetto, chrome://tracing   JSON trace events: a process per host or switch, a track per
 *                                  block, a slice for the time that a work request is in a
 *                                  block, and instants with their values
 *     GTKWave and other viewers    VCD: tag and values of each trace point as 64-bit signals,
 *                                  in picoseconds
 */
#ifndef SIM_TRACE_EXPORT_H
#define SIM_TRACE_EXPORT_H

#include <stdio.h>

#include "sim/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Write the trace to `out`, reading the file from its start. Return false if the file is
 * damaged (trace_reader_error()), after exporting the intact part, or if `out` could not be
 * written (ferror()). */
bool trace_export_perfetto(struct trace_reader *reader, FILE *out);
bool trace_export_vcd(struct trace_reader *reader, FILE *out);

#ifdef __cplusplus
}
#endif
#endif
