/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judgement: results of a finished run: its laws and its expectations.
 *
 *     experiment, load --judgement_...()--> result_outcome, 0 or 1, lines for the reader
 */
#ifndef HCASIM_RECORD_JUDGEMENT_H
#define HCASIM_RECORD_JUDGEMENT_H

#include "hcasim/record/result.h"

/* Exit codes of a run. */
enum { JUDGEMENT_GOOD = 0, JUDGEMENT_NOT_AS_EXPECTED = 1 };

/* Fills in the outcome of a workload, and writes a line to `complaints` for each law and each
 * expectation that does not hold. Returns the exit code, which is also in the outcome. */
int judgement_workload(const struct build *build, const struct experiment *experiment,
		       struct result_outcome *outcome, FILE *complaints);

/* Does the same for a load, and adds the metrics of the load to `metrics`. */
int judgement_load(const struct build *build, struct load_result *metrics,
		   struct result_outcome *outcome, FILE *complaints);

#endif
