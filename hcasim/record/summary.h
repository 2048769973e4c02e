/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary: writes summary.json: outcome of a run, violations and resource usage.
 *
 *     simulation, outcome --summary_print()--> summary.json, `hcasim run --json`
 */
#ifndef HCASIM_RECORD_SUMMARY_H
#define HCASIM_RECORD_SUMMARY_H

#include "hcasim/record/result.h"

/* Prints the summary. `packets` points to the number of recorded packets, or is NULL. */
void summary_print(const struct build *build, const struct result_outcome *outcome,
		   const uint64_t *packets, FILE *out);

#endif
