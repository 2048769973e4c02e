/*
 * scenario_subnet: who belongs together, as a scenario says it: groups of multicast. What a subnet manager would have been
 * told by those who join.
 */
#ifndef SCENARIOS_SCENARIO_SUBNET_H
#define SCENARIOS_SCENARIO_SUBNET_H

#include "fabric/groups.h"
#include "fabric/topology.h"

struct scenario_group {
	struct group group;
	uint32_t *members, *senders; /* hosts, ours */
	uint32_t member_count, sender_count;
};

struct scenario_subnet {
	struct scenario_group *groups;
	uint32_t group_count;
};

#endif
