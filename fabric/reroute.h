/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reroute: updates routes when links go down or come up. After a delay, all switches use tables
 * that exclude the links that were down at the time of the change. It models the effect of a
 * subnet manager or a routing protocol, without its messages.
 *
 *     link goes down --delay--> tables without it     link comes up --delay--> tables with it
 *
 * A switch knows the state of its own links at once (switch/balance.c). Reroute informs it of
 * other links. In a parallel run each LP has its own instance for its own switches. All
 * instances use the same plans.
 */
#ifndef FABRIC_REROUTE_H
#define FABRIC_REROUTE_H

#include "fabric/port_fault.h"
#include "fabric/topology.h"

/* clang-format off */
#define REROUTE_COUNTERS(X) \
	X(changes, "times", \
	  "Times that switches received new tables after a link went down or came up.")

struct reroute_counters { REROUTE_COUNTERS(COUNTER_FIELD) };
/* clang-format on */

struct reroute;

/* Creates an instance for the switches of one LP. Their tables change `delay` after a change of
 * links. Only the counter of the first LP counts. The topology must be finished and outlive the
 * instance. */
struct reroute *reroute_create(struct sim *lp, struct topology *topology, sim_time delay);
void reroute_destroy(struct reroute *reroute);

/* Adds links that go down by a plan. `ports` holds the numbers of the ports at both ends
 * (topology_port_number()); the array is copied. For a plan with a condition, the run must be
 * sequential, and `fault` is the fault that follows the plan. Otherwise `fault` is NULL. */
void reroute_add(struct reroute *reroute, const struct port_fault_plan *plan, const uint32_t *ports,
		 uint32_t count, struct port_fault *fault);

#endif
