/* SPDX-License-Identifier: Apache-2.0 */
/*
 * breakdown: latency breakdown of work requests from a trace: the time in each stage, from the
 * records of the adapters' `latency` blocks (hca/work/latency_stages.h).
 *
 *     trace --breakdowns_read()--> a breakdown per work request --> hcasim explain, hcasim report
 */
#ifndef HCASIM_REPORT_BREAKDOWN_H
#define HCASIM_REPORT_BREAKDOWN_H

#include "hca/work/latency_stages.h"

struct breakdown_side { /* sends or receives: the trace points that describe them */
	unsigned first, count;
	const char *const *names, *const *meanings;
};

struct breakdown { /* of one work request, or the sum of several */
	uint64_t tag, qpn;
	uint32_t source; /* adapter, as an index into the sources */
	sim_time closed_at, latency;
	sim_time stages[STAGE_COUNT];
};

struct breakdown_sources { /* latency blocks of the trace, in order of their first record */
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

/* Reads the breakdowns of one side. Returns false with the reason in `error` if the file is not a
 * trace. If the file is damaged, returns the breakdowns before the damage, with the reason in
 * `error`. Otherwise `error` is empty. */
bool breakdowns_read(struct breakdowns *all, const char *file, bool received, char *error,
		     size_t error_bytes);
void breakdowns_free(struct breakdowns *all);

/* Sorts by latency, shortest first. */
void breakdowns_sort(struct breakdowns *all);

/* Returns the sum of all breakdowns. */
struct breakdown breakdowns_sum(const struct breakdowns *all);

#endif
