/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process: state that all simulations of a process share. It is the current context of SystemC, and
 * the engine of SimGrid.
 *
 *     hcasim_start() --process_claim()--> refused, or owned until process_release()
 */
#ifndef HCASIM_LIBRARY_PROCESS_H
#define HCASIM_LIBRARY_PROCESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct process_claim {
	bool systemc; /* all of these belong to one thread */
	/* one at a time, and none after a simulation that ran: SimGrid's platform is sealed */
	bool flow_level;
};

/* Returns false if the process cannot have such a simulation now. Writes the reason to `error`. */
bool process_claim(struct process_claim claim, char *error, size_t error_bytes);

/* `ran`: the simulation has left time 0. */
void process_release(struct process_claim claim, bool ran);

/* Returns false if the simulation may not go on in this thread. Writes the reason to `error`. */
bool process_may_run(struct process_claim claim, char *error, size_t error_bytes);

#endif
