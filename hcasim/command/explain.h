/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain: declarations shared by the files of `hcasim explain`.
 *
 *     verb_explain.c reads and prints breakdowns, explain_timeline.c draws them,
 *     explain_bottleneck.c reports queues instead
 */
#ifndef HCASIM_COMMAND_EXPLAIN_H
#define HCASIM_COMMAND_EXPLAIN_H

#include "hcasim/report/breakdown.h"

/* Writes a timeline of the stages of these breakdowns. Returns false if the file cannot be written,
 * and prints the reason. */
bool explain_timeline(const char *path, const struct breakdown_side *side,
		      const struct breakdown_sources *sources, const struct breakdown *shown,
		      size_t count);

#endif
