/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group_changes: hosts that join and leave a multicast group during a run, as the scenario
 * specifies. At each change the subnet manager gives all switches the tables of a new tree (IBTA
 * vol. 1, 15.2.5.17: JoinState). The standard leaves the duration to the manager; in hcasim it is
 * zero. Packets beyond the switch where the old and new routes separate keep their old route.
 */
#ifndef HCASIM_BUILDER_GROUP_CHANGES_H
#define HCASIM_BUILDER_GROUP_CHANGES_H

#include "fabric/topology.h"
#include "hcasim/schema/scenario_subnet.h"
#include "sim/block.h"

/* clang-format off */
#define GROUP_CHANGES_COUNTERS(X) \
	X(joins, "hosts", \
	  "Hosts that joined the group.") \
	X(leaves, "hosts", "Hosts that left the group.")

struct group_changes_counters { GROUP_CHANGES_COUNTERS(COUNTER_FIELD) };
/* clang-format on */

struct group_changes;

/* Creates the changes of a group that has some. Tries all trees; the tree set last is the initial
 * one. Returns NULL and writes the reason to *error if no tree connects all members. */
struct group_changes *group_changes_create(struct sim *sim, struct topology *topology,
					   uint32_t number, const struct scenario_group *group,
					   char *error, size_t error_bytes);
void group_changes_destroy(struct group_changes *changes);

#endif
