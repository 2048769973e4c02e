/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dependencies: tracks the events that flows wait for, and when each host knows of them. An event
 * at the flow's own host counts without delay. An event at another host is known
 * `notification_latency` later, as if a small message reported it. All hosts learn at the same time
 * that a barrier is complete, which is `notification_latency` after its last flow.
 *
 *     dependencies_happened() --same host--> release()
 *             --another--> notification_latency (another LP: over a channel) --> release()
 *
 * An action of one host therefore never affects another host without delay. This allows a run to be
 * divided between hosts (sim/parallel.h). Each LP counts its own events and tells all LPs when its
 * flows of a barrier are complete.
 */
#ifndef TRAFFIC_WORKLOAD_DEPENDENCIES_H
#define TRAFFIC_WORKLOAD_DEPENDENCIES_H

#include "traffic/workload/workload.h"

struct dependencies;

struct dependencies_user {
	/* Releases a flow that waits for nothing more. The flow begins at `at`, which may be now.
	 * dependencies_are_notified() describes `notified`. A notified flow may be released between
	 * two windows of a parallel run. Only sim_schedule_last() then gives the same order in all
	 * runs. */
	void (*release)(struct dependencies_user *user, uint32_t flow, sim_time at, bool notified);
	/* Reports that a barrier of all hosts is complete, in the LP of the barrier's host. */
	void (*reached)(struct dependencies_user *user, uint32_t barrier, sim_time at);
};

/* Creates the dependencies. `sims` has the LP of each host. `workload` and `user` must outlive the
 * result. */
struct dependencies *dependencies_create(const struct workload *workload,
					 sim_time notification_latency, struct sim *const *sims,
					 struct dependencies_user *user);
void dependencies_destroy(struct dependencies *dependencies);

/* Releases all flows that wait for nothing. Call it once, before the run. */
void dependencies_start(struct dependencies *dependencies);

/* Returns true if the flow waits for another host or for a barrier of all hosts. */
bool dependencies_are_notified(const struct dependencies *dependencies, uint32_t flow);

/* Reports that a flow's data have arrived (`arrival`), or that the flow is complete at its
 * requester. Call it within an event of the host where this happens. */
void dependencies_happened(struct dependencies *dependencies, uint32_t flow, bool arrival,
			   sim_time now);

/* Copies the waits of the `count` flows from `from` on to the corresponding flows from `from` +
 * `distance` on. Both wait for corresponding flows. The call is possible only in a sequential
 * run. */
void dependencies_copy(struct dependencies *dependencies, uint32_t from, uint32_t count,
		       uint32_t distance);

#endif
