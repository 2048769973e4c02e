/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_export: a trace file as others read it.
 *
 *     Perfetto, chrome://tracing   JSON trace events: a process per host or switch, a track per block; a slice for the time that a
 *                                  work request is in a block, and instants with their values
 *     GTKWave and other viewers    VCD: tag and values of each trace point as 64-bit signals, in picoseconds
 */
#ifndef SIM_TRACE_EXPORT_H
#define SIM_TRACE_EXPORT_H

#include <stdio.h>

#include "sim/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Both read the file from its start. false: the file is damaged (trace_reader_error(); what came before the damage is
 * exported) or `out` could not be written (ferror()). */
bool trace_export_perfetto(struct trace_reader *reader, FILE *out);
bool trace_export_vcd(struct trace_reader *reader, FILE *out);

#ifdef __cplusplus
}
#endif
#endif
