/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress: prints the progress of a long run. A terminal gets one line, updated once per second of
 * wall time. Other outputs get a line per minute. Wall time affects this text only.
 */
#ifndef HCASIM_COMMAND_PROGRESS_H
#define HCASIM_COMMAND_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/sim.h"

struct progress {
	double begun, printed; /* wall time */
	bool shown;            /* a line on the terminal has to be erased */
	bool terminal;
};

/* Starts. Prints nothing in the first second, or in the first minute if standard error is not a
 * terminal. */
struct progress progress_begin(void);

/* Prints for example "12.345 us 3 of 16 flows, 12 s left". The estimate assumes a constant rate. */
void progress_show(struct progress *progress, sim_time now, uint64_t done, uint64_t all,
		   const char *what);
void progress_end(const struct progress *progress); /* erases the line */

#endif
