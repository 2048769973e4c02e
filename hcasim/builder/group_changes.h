/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group_changes: hosts that join and leave a multicast group during a run, as the scenario says: at that time the subnet's manager
 * gives all switches the tables of a new tree (IBTA vol. 1, 15.2.5.17: JoinState; how long that takes is left to the manager,
 * here it takes no time). Packets that are past the switch where the routes part keep theirs.
 */
#ifndef HCASIM_BUILDER_GROUP_CHANGES_H
#define HCASIM_BUILDER_GROUP_CHANGES_H

#include "fabric/topology.h"
#include "hcasim/schema/scenario_subnet.h"
#include "sim/block.h"

/* clang-format off */
#define GROUP_CHANGES_COUNTERS(X)                                                                          \
	X(joins,  "hosts", "that joined the group")                                                        \
	X(leaves, "hosts", "that left it")

struct group_changes_counters { GROUP_CHANGES_COUNTERS(COUNTER_FIELD) };
/* clang-format on */

struct group_changes;

/* For a group that has changes; all trees are tried out, and the last one set is the first. false: *error, no tree joins all. */
struct group_changes *group_changes_create(struct sim *sim, struct topology *topology,
					   uint32_t number, const struct scenario_group *group,
					   char *error, size_t error_bytes);
void group_changes_destroy(struct group_changes *changes);

#endif
