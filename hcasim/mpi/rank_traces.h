/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_traces: time-independent traces of MPI programs: a file that lists one file a rank, in which each line is a call.
 * SimGrid names them after the clock on the wall and after where it was run; here they are the same in every run, and
 * names are looked for beside the list.
 */
#ifndef HCASIM_MPI_RANK_TRACES_H
#define HCASIM_MPI_RANK_TRACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* After a run that has written them: gives the files their names, LIST_files/rank0.txt and so on. false: *error. */
bool rank_traces_name(const char *list, char *error, size_t error_bytes);

/* After rank_traces_name(): returns whether a replay knows all calls. If not, removes the files and writes the call to `error`. */
bool rank_traces_check(const char *list, char *error, size_t error_bytes);

/* Writes a list of full names for SimGrid to read. Returns how many ranks there are; 0: *error. */
uint32_t rank_traces_resolve(const char *list, const char *resolved, char *error,
			     size_t error_bytes);

#endif
