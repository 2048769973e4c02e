/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot: the counters of all blocks of a run, and the integrals of their gauges, at one time.
 * Two snapshots give the figures of the time between them.
 *
 *     for each block: its counters, then the areas of its gauges, in the order of its lists
 *
 * The area of a single server leaves out service that is booked for later.
 */
#ifndef SIM_SNAPSHOT_H
#define SIM_SNAPSHOT_H

#include "sim/gauge.h"

#ifdef __cplusplus
extern "C" {
#endif

struct snapshot { /* all zero: none */
	sim_time at;
	size_t count;
	uint64_t *values;
};

/* Takes a snapshot now. Replaces the values of an earlier one. */
void snapshot_take(struct snapshot *snapshot, const struct sim *sim);
void snapshot_free(struct snapshot *snapshot);

/* Return the number of counters and of gauges of a block. */
size_t snapshot_counters(const struct block *block);
size_t snapshot_gauges(const struct block *block);

#ifdef __cplusplus
}
#endif
#endif
