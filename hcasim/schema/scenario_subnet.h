/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_subnet: multicast groups and partitions of a scenario. In a real subnet, the subnet
 * manager learns them from joining hosts and from the administrator.
 */
#ifndef HCASIM_SCHEMA_SCENARIO_SUBNET_H
#define HCASIM_SCHEMA_SCENARIO_SUBNET_H

#include "fabric/groups.h"
#include "fabric/partition.h"
#include "fabric/topology.h"

/* Change of a group's membership during the run. */
struct scenario_membership {
	sim_time at;
	uint32_t host;
	bool joins;
};

struct scenario_group {
	struct group group;
	uint32_t *members, *senders; /* hosts; owned */
	uint32_t member_count, sender_count;
	struct scenario_membership *changes; /* in order of time; owned */
	uint32_t change_count;
};

struct scenario_partition {
	uint16_t number;
	uint32_t *full, *limited; /* hosts; owned */
	uint32_t full_count, limited_count;
};

struct scenario_subnet {
	struct scenario_group *groups;
	struct scenario_partition *partitions;
	uint32_t group_count, partition_count;
	/* resulting partitions of each host; NULL: the default partition */
	struct partitions *of_hosts;
};

#endif
