/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits: what flows wait for, and when they have it. What happens at a flow's own host counts at once. What happens at
 * another is known there `notice` later, as if a small message told of it. That a barrier is reached is known to all
 * hosts at the same time, `notice` after the last of what it waits for.
 *
 *     waits_happened() --same host--> release()
 *                      --another----> notice, over a crossing if it is in another part of the run --> release()
 *
 * So nothing that one host does has an effect at another at once, and a run can be divided (sim/parallel.h) between them.
 * Each part counts what has happened in it, and tells all parts when a barrier's flows are complete there.
 */
#ifndef TRAFFIC_WORKLOAD_WAITS_H
#define TRAFFIC_WORKLOAD_WAITS_H

#include "traffic/workload/workload.h"

struct waits;

struct waits_user {
	/* Nothing is left that the flow waits for: it begins at `at`, which may be now. told: see waits_told(). Then it may
	 * be between two windows of a divided run, and only sim_schedule_last() is the same in all runs. */
	void (*release)(struct waits_user *user, uint32_t flow, sim_time at, bool told);
	/* A barrier of all hosts is over; in the part of its host. */
	void (*reached)(struct waits_user *user, uint32_t barrier, sim_time at);
};

/* sims: one a host, where it is. The workload and the user outlive it. */
struct waits *waits_create(const struct workload *workload, sim_time notice,
			   struct sim *const *sims, struct waits_user *user);
void waits_destroy(struct waits *waits);

/* Releases what waits for nothing. Once, before the run. */
void waits_start(struct waits *waits);

/* Does it wait for another host, or for a barrier of all? */
bool waits_told(const struct waits *waits, uint32_t flow);

/* Within an event of the host where it happened: its data have arrived, or it is complete for who asked for it. */
void waits_happened(struct waits *waits, uint32_t flow, bool arrival, sim_time now);

#endif
