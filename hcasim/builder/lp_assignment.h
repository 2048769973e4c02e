/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lp_assignment: assigns each host and switch of a scenario to an LP of a parallel run
 * (sim/parallel.h). The LPs have about the same number of ports, and few links between them.
 */
#ifndef HCASIM_BUILDER_LP_ASSIGNMENT_H
#define HCASIM_BUILDER_LP_ASSIGNMENT_H

#include "hcasim/schema/scenario.h"
#include "sim/ranks.h"

struct lp_assignment {
	unsigned lps;
	bool measured;   /* real time decides whether threads are used (sim_measure_threads()) */
	uint8_t *of;     /* [hosts, then switches] LP of each */
	sim_time window; /* shortest latency of a link between two LPs */
	/* estimated events per window, without the busiest LP, if all hosts send at link rate */
	double events;
	struct ranks *ranks; /* NULL: a thread for each LP; otherwise a process for each */
};

/* Creates an assignment to threads, or to the processes `ranks` unless that is NULL. `lps` is the
 * number of either. Threads must have enough to do in a window. Returns NULL and writes to *error
 * why the scenario cannot run in parallel, for example "links without latency connect all hosts and
 * switches". */
struct lp_assignment *lp_assignment_create(const struct scenario *scenario, unsigned lps,
					   struct ranks *ranks, char *error, size_t error_bytes);
void lp_assignment_destroy(struct lp_assignment *assignment);

#endif
