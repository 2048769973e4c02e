/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dependency: may packets wait for each other in a circle? Each buffer, of a switch's input and VL, depends on those that
 * its packets go on to. Where no buffer depends on itself, no deadlock is possible, whatever the traffic; where one does, it is
 * possible, not certain.
 *
 * Dally and Seitz, IEEE ToC 1987. What runs into a deadlock is found by deadlock.h.
 */
#ifndef FABRIC_DEPENDENCY_H
#define FABRIC_DEPENDENCY_H

#include "fabric/topology.h"

#define DEPENDENCY_HOPS 64

struct dependency_hop {
	const struct port *input; /* of a switch */
	unsigned vl;
};

struct dependency_cycle {
	unsigned count; /* 0: there is none */
	bool cut;       /* the cycle is longer than `hops` */
	struct dependency_hop hops[DEPENDENCY_HOPS];
};

/* After topology_finish(), with all tables as the run has them: looks at the routes from all hosts to all hosts, by all ports
 * that a switch may choose, of packets with these service levels (bit i: level i). Returns false if they form no cycle, or
 * if there are too many routes to look at (`known`, which may be NULL, says which). Nothing is said of multicast. */
bool dependency_find(const struct topology *topology, unsigned service_levels,
		     struct dependency_cycle *cycle, bool *known);

/* "switch0.port1 VL 0, switch1.port2 VL 0, ..." Returns text. */
const char *dependency_print(const struct dependency_cycle *cycle, char *text, size_t text_bytes);

#endif
