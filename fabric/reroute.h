/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reroute: routes that change when links go down or come up again: a time after the change, all switches go by tables
 * without the links that were down then. What a subnet manager or a routing protocol does, without its messages.
 *
 *     link goes down --delay--> tables without it        link comes up --delay--> tables with it again
 *
 * A switch knows at once which of its own links are down (switch/balance.c); this is what it hears of others. In a divided
 * run each LP has one of its own for its own switches, and all go by the same plans.
 */
#ifndef FABRIC_REROUTE_H
#define FABRIC_REROUTE_H

#include "fabric/port_fault.h"
#include "fabric/topology.h"

/* clang-format off */
#define REROUTE_COUNTERS(X)                                                                                \
	X(changes, "times", "switches got other tables, since links had gone down or come up")

struct reroute_counters { REROUTE_COUNTERS(COUNTER_FIELD) };
/* clang-format on */

struct reroute;

/* Tables change `delay` after links do, at the switches of that LP of the run. Only the first LP's counts. The topology is finished, and outlives it. */
struct reroute *reroute_create(struct sim *lp, struct topology *topology, sim_time delay);
void reroute_destroy(struct reroute *reroute);

/* Links that go down by that plan, by numbers of ports of both ends (topology_port_number()); the array is copied. With a condition:
 * the run is sequential, and `fault` is it; else NULL. */
void reroute_add(struct reroute *reroute, const struct port_fault_plan *plan, const uint32_t *ports,
		 uint32_t count, struct port_fault *fault);

#endif
