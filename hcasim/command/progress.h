/*
 * progress: how far a long run is, on a terminal, once a second of wall time; only what is shown depends on it.
 */
#ifndef HCASIM_COMMAND_PROGRESS_H
#define HCASIM_COMMAND_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/sim.h"

struct progress {
	double begun, told; /* wall time */
	bool shown;
};

/* From now on; nothing is shown in the first second. Who calls knows that standard error is a terminal. */
struct progress progress_begin(void);

/* "12.345 us  3 of 16 flows, 12 s left" if the rest takes as long each */
void progress_show(struct progress *progress, sim_time now, uint64_t done, uint64_t all,
		   const char *what);
void progress_end(const struct progress *progress); /* wipes it off */

#endif
