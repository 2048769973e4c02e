/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dependencies: what flows wait for, and when they have it. What happens at a flow's own host counts at once. What happens at
 * another is known there `notification_latency` later, as if a small message told of it. That a barrier is reached is known to all
 * hosts at the same time, `notification_latency` after the last of what it waits for.
 *
 *     dependencies_happened() --same host--> release()
 *                      --another----> notification_latency, over a channel if it is in another LP of the run --> release()
 *
 * So nothing that one host does has an effect at another at once, and a run can be divided (sim/parallel.h) between them.
 * Each LP counts what has happened in it, and tells all LPs when a barrier's flows are complete there.
 */
#ifndef TRAFFIC_WORKLOAD_DEPENDENCIES_H
#define TRAFFIC_WORKLOAD_DEPENDENCIES_H

#include "traffic/workload/workload.h"

struct dependencies;

struct dependencies_user {
	/* Nothing is left that the flow waits for: it begins at `at`, which may be now. notified: see dependencies_are_notified(). Then it may
	 * be between two windows of a parallel run, and only sim_schedule_last() is the same in all runs. */
	void (*release)(struct dependencies_user *user, uint32_t flow, sim_time at, bool notified);
	/* A barrier of all hosts is over; in the LP of its host. */
	void (*reached)(struct dependencies_user *user, uint32_t barrier, sim_time at);
};

/* sims: one a host, where it is. The workload and the user outlive it. */
struct dependencies *dependencies_create(const struct workload *workload,
					 sim_time notification_latency, struct sim *const *sims,
					 struct dependencies_user *user);
void dependencies_destroy(struct dependencies *dependencies);

/* Releases what waits for nothing. Once, before the run. */
void dependencies_start(struct dependencies *dependencies);

/* Does it wait for another host, or for a barrier of all? */
bool dependencies_are_notified(const struct dependencies *dependencies, uint32_t flow);

/* Within an event of the host where it happened: its data have arrived, or it is complete for who asked for it. */
void dependencies_happened(struct dependencies *dependencies, uint32_t flow, bool arrival,
			   sim_time now);

#endif
