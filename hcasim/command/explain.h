/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain: what the files of `hcasim explain` share.
 *
 *     verb_explain.c reads and prints them, explain_timeline.c draws them, explain_bottleneck.c looks at queues instead
 */
#ifndef HCASIM_COMMAND_EXPLAIN_H
#define HCASIM_COMMAND_EXPLAIN_H

#include "hcasim/report/breakdown.h"

/* Writes the stages of those breakdowns. false, having said why: the file could not be written. */
bool explain_timeline(const char *path, const struct breakdown_side *side,
		      const struct breakdown_sources *sources, const struct breakdown *shown,
		      size_t count);

#endif
