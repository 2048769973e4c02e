/* SPDX-License-Identifier: Apache-2.0 */
/*
 * division: which part of a divided run (sim/parallel.h) each host and each switch of a scenario is in: parts of about the
 * same number of ports, with few links between them.
 */
#ifndef HCASIM_BUILDER_DIVISION_H
#define HCASIM_BUILDER_DIVISION_H

#include "hcasim/schema/scenario.h"

struct division {
	unsigned parts;
	uint8_t *of;     /* [hosts, then switches] */
	sim_time window; /* the shortest latency of a link between two parts */
	double events; /* estimate: of a window, in all parts but the busiest, if all hosts send at their links' rates */
};

/* NULL: *error says why it cannot be divided: "links without latency hold all of it together". */
struct division *division_create(const struct scenario *scenario, unsigned parts, char *error,
				 size_t error_bytes);
void division_destroy(struct division *division);

#endif
