/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dependency: determines whether packets can wait for each other in a cycle. Each buffer, of a
 * switch's input and VL, depends on the buffers that its packets enter next. If no buffer depends
 * on itself, no deadlock is possible with any traffic. Otherwise a deadlock is possible, but not
 * certain.
 *
 * Dally and Seitz, IEEE ToC 1987. deadlock.h detects a deadlock during a run.
 */
#ifndef FABRIC_DEPENDENCY_H
#define FABRIC_DEPENDENCY_H

#include "fabric/topology.h"

#define DEPENDENCY_HOPS 64

struct dependency_hop {
	const struct port *input; /* an input of a switch */
	unsigned vl;
};

struct dependency_cycle {
	unsigned count; /* 0 if there is no cycle */
	bool cut;       /* the cycle is longer than `hops` */
	struct dependency_hop hops[DEPENDENCY_HOPS];
};

/* Searches the routes between all hosts, for packets with these service levels (bit i: level i). It
 * includes all ports that a switch may choose, but not multicast. Call it after topology_finish(),
 * with the tables of the run. Returns true and fills *cycle if there is a cycle. Returns false if
 * there is none, or if there are too many routes to search. *known is false in the second case;
 * `known` may be NULL. */
bool dependency_find(const struct topology *topology, unsigned service_levels,
		     struct dependency_cycle *cycle, bool *known);

/* Writes for example "switch0.port1 VL 0, switch1.port2 VL 0, ...". Returns `text`. */
const char *dependency_print(const struct dependency_cycle *cycle, char *text, size_t text_bytes);

#endif
