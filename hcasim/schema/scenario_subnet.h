/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_subnet: who belongs together, as a scenario says it: groups of multicast, partitions. What a subnet manager would have
 * been told by those who join, and by its administrator.
 */
#ifndef HCASIM_SCHEMA_SCENARIO_SUBNET_H
#define HCASIM_SCHEMA_SCENARIO_SUBNET_H

#include "fabric/groups.h"
#include "fabric/partition.h"
#include "fabric/topology.h"

/* A host joins or leaves a group during the run. */
struct scenario_membership {
	sim_time at;
	uint32_t host;
	bool joins;
};

struct scenario_group {
	struct group group;
	uint32_t *members, *senders; /* hosts, ours */
	uint32_t member_count, sender_count;
	struct scenario_membership *changes; /* in the order of time; ours */
	uint32_t change_count;
};

struct scenario_partition {
	uint16_t number;
	uint32_t *full, *limited; /* hosts, ours */
	uint32_t full_count, limited_count;
};

struct scenario_subnet {
	struct scenario_group *groups;
	struct scenario_partition *partitions;
	uint32_t group_count, partition_count;
	struct partitions *of_hosts; /* what follows for each host; NULL: the default partition */
};

#endif
