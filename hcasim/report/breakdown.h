/* SPDX-License-Identifier: Apache-2.0 */
/*
 * breakdown: where the time of work requests went, as a trace has it: the stages of each, from the records of the adapters' `error`
 * blocks (hca/work/latency_stages.h).
 *
 *     trace --breakdowns_read()--> a breakdown a work request --> hcasim explain, hcasim report
 */
#ifndef HCASIM_REPORT_BREAKDOWN_H
#define HCASIM_REPORT_BREAKDOWN_H

#include "hca/work/latency_stages.h"

struct breakdown_side { /* sends, or receives: which trace points tell of them */
	unsigned first, count;
	const char *const *names, *const *meanings;
};

struct breakdown { /* of one work request, or of several */
	uint64_t tag, qpn;
	uint32_t source; /* its adapter, in the sources */
	sim_time closed_at, latency;
	sim_time stages[STAGE_COUNT];
};

struct breakdown_sources { /* the latency blocks of the trace, in the order of their first record */
	char **names;
	uint32_t count;
};

struct breakdowns {
	const struct breakdown_side *side;
	struct breakdown *list;
	size_t count, size;
	struct breakdown_sources sources;
};

extern const struct breakdown_side breakdown_sides[]; /* [0]: sends, [1]: receives */

/* Reads the breakdowns of one side. Returns false, and why, if the file is no trace. A file that is damaged from some place on
 * gives what stands before it, and why; otherwise `error` is empty. */
bool breakdowns_read(struct breakdowns *all, const char *file, bool received, char *error,
		     size_t error_bytes);
void breakdowns_free(struct breakdowns *all);

/* By latency, the shortest first. */
void breakdowns_sort(struct breakdowns *all);

/* Adds all up. */
struct breakdown breakdowns_sum(const struct breakdowns *all);

#endif
