/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waveform: --vcd FILE --signals PATTERNS of a run: between build_create() and build_destroy().
 */
#ifndef HCASIM_COMMAND_WAVEFORM_H
#define HCASIM_COMMAND_WAVEFORM_H

#include "hcasim/builder/build.h"
#include "hcasim/command/verb.h"

struct systemc_vcd;

/* Opens it, if one is wanted: *vcd, else NULL. false, having said why: it cannot be had. */
bool waveform_begin(const struct arguments *arguments, const struct build *build,
		    struct systemc_vcd **vcd);

/* false, having said why: it could not be written. */
bool waveform_end(struct systemc_vcd *vcd);

#endif
