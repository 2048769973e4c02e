/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_traces: time-independent traces of MPI programs. A list file names one trace file per rank,
 * and each line of a trace is one call. SimGrid names the trace files after the wall clock and the
 * working folder. These functions give them names that are the same in every run, relative to the
 * list.
 */
#ifndef TRAFFIC_MPI_RANK_TRACES_H
#define TRAFFIC_MPI_RANK_TRACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Renames the trace files of a finished run to LIST_files/rank0.txt and so on. Returns false and
 * writes the reason to *error on failure. */
bool rank_traces_name(const char *list, char *error, size_t error_bytes);

/* Checks that a replay supports all calls in the traces. Call it after rank_traces_name().
 * Otherwise removes the files, writes the call to *error and returns false. */
bool rank_traces_check(const char *list, char *error, size_t error_bytes);

/* Writes a list with absolute file names for SimGrid to `resolved`. Returns the number of ranks, or
 * 0 with the reason in *error. */
uint32_t rank_traces_resolve(const char *list, const char *resolved, char *error,
			     size_t error_bytes);

#endif
