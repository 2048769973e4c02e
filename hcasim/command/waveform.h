/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waveform: implements --vcd FILE --signals PATTERNS of a run. Use it between build_create() and
 * build_destroy().
 */
#ifndef HCASIM_COMMAND_WAVEFORM_H
#define HCASIM_COMMAND_WAVEFORM_H

#include "hcasim/builder/build.h"
#include "hcasim/command/verb.h"

struct systemc_vcd;

/* Opens the waveform if the arguments request one, and sets *vcd to it or to NULL. Returns false
 * and prints the reason on failure. */
bool waveform_begin(const struct arguments *arguments, const struct build *build,
		    struct systemc_vcd **vcd);

/* Closes the waveform. Returns false and prints the reason if it could not be written. */
bool waveform_end(struct systemc_vcd *vcd);

#endif
