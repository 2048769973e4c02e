/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress: how far a long run is: on a terminal one line that changes once a second of wall time, elsewhere a line a minute.
 * Nothing but that text depends on wall time.
 */
#ifndef HCASIM_COMMAND_PROGRESS_H
#define HCASIM_COMMAND_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/sim.h"

struct progress {
	double begun, told; /* wall time */
	bool shown;         /* on the terminal stands a line to wipe off */
	bool terminal;
};

/* From now on. Nothing is shown in the first second, or in the first minute where standard error is no terminal. */
struct progress progress_begin(void);

/* "12.345 us  3 of 16 flows, 12 s left" if the rest takes as long each */
void progress_show(struct progress *progress, sim_time now, uint64_t done, uint64_t all,
		   const char *what);
void progress_end(const struct progress *progress); /* wipes it off */

#endif
