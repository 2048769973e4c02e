/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_file: lines that a run collects in a temporary file, so that a long run needs no memory.
 */
#ifndef HCASIM_RUN_LINE_FILE_H
#define HCASIM_RUN_LINE_FILE_H

#include <stdbool.h>
#include <stdio.h>

/* Copies all lines to `out`. Returns false if the lines could not be written, with errno. */
bool line_file_copy(FILE *lines, FILE *out);

#endif
