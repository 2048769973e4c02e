/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain: what the files of `hcasim explain` share: breakdowns of work requests, as read from a trace.
 *
 *     verb_explain.c reads and prints them, explain_timeline.c draws them, explain_bottleneck.c looks at queues instead
 */
#ifndef HCASIM_COMMAND_EXPLAIN_H
#define HCASIM_COMMAND_EXPLAIN_H

#include "hca/work/why.h"

struct explain_side { /* sends, or receives: which trace points tell of them */
	unsigned first, count;
	const char *const *names, *const *meanings;
};

struct breakdown { /* of one work request, or of several */
	uint64_t tag, qpn;
	uint32_t source; /* its adapter, in explain_sources */
	sim_time closed_at, latency;
	sim_time stages[WHY_STAGE_COUNT];
};

struct explain_sources { /* the why blocks of the trace, in the order of their first record */
	char **names;
	uint32_t count;
};

/* Writes the stages of those breakdowns. false, having said why: the file could not be written. */
bool explain_timeline(const char *path, const struct explain_side *side,
		      const struct explain_sources *sources, const struct breakdown *shown,
		      size_t count);

#endif
