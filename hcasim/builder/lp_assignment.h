/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lp_assignment: which LP of a parallel run (sim/parallel.h) each host and each switch of a scenario is in: LPs of about the
 * same number of ports, with few links between them.
 */
#ifndef HCASIM_BUILDER_LP_ASSIGNMENT_H
#define HCASIM_BUILDER_LP_ASSIGNMENT_H

#include "hcasim/schema/scenario.h"

struct lp_assignment {
	unsigned lps;
	uint8_t *of;     /* [hosts, then switches] */
	sim_time window; /* the shortest latency of a link between two LPs */
	double events; /* estimate: of a window, in all LPs but the busiest, if all hosts send at their links' rates */
};

/* NULL: *error says why it cannot run in parallel: "links without latency hold all of it together". */
struct lp_assignment *lp_assignment_create(const struct scenario *scenario, unsigned lps,
					   char *error, size_t error_bytes);
void lp_assignment_destroy(struct lp_assignment *assignment);

#endif
