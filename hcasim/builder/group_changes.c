/* SPDX-License-Identifier: Apache-2.0 */
/* group_changes: see group_changes.h. */
#include "hcasim/builder/group_changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 32

struct group_changes {
	struct block block;
	struct group_changes_counters count;
	struct event event; /* the next change */
	struct topology *topology;
	const struct scenario_group *group;
	uint32_t number, next;
	uint32_t *members;
	uint32_t member_count;
};

/* clang-format off */
static const struct block_type type = {
	.name     = "group_changes",
	.counters = (const struct counter[]){ GROUP_CHANGES_COUNTERS(COUNTER_ENTRY) { 0 } },
};
/* clang-format on */

static bool set_tree(struct group_changes *changes, char *error, size_t error_bytes)
{
	const struct scenario_group *group = changes->group;
	const struct topology_hosts members = {changes->members, changes->member_count};
	const struct topology_hosts senders = {group->senders, group->sender_count};
	return topology_set_group(changes->topology, changes->number, &members, &senders, error,
				  error_bytes);
}

static void apply(struct group_changes *changes, const struct scenario_membership *change)
{
	uint32_t *members = changes->members, kept = 0;
	if (change->joins) {
		members[changes->member_count++] = change->host;
		return;
	}
	for (uint32_t i = 0; i < changes->member_count; i++) {
		if (members[i] != change->host)
			members[kept++] = members[i];
	}
	changes->member_count = kept;
}

static void begin(struct group_changes *changes)
{
	const struct scenario_group *group = changes->group;
	changes->member_count = group->member_count;
	memcpy(changes->members, group->members, group->member_count * sizeof(*group->members));
}

static void change(struct event *event)
{
	struct group_changes *changes = container_of(event, struct group_changes, event);
	const struct scenario_group *group = changes->group;
	char error[256];
	while (changes->next < group->change_count &&
	       group->changes[changes->next].at <= sim_now(changes->block.sim)) {
		const struct scenario_membership *now = &group->changes[changes->next++];
		apply(changes, now);
		changes->count.joins += now->joins;
		changes->count.leaves += !now->joins;
	}
	bool good = set_tree(changes, error, sizeof(error));
	assert(good); /* this tree was tried before */
	if (changes->next < group->change_count)
		sim_schedule_at(event, group->changes[changes->next].at);
}

struct group_changes *group_changes_create(struct sim *sim, struct topology *topology,
					   uint32_t number, const struct scenario_group *group,
					   char *error, size_t error_bytes)
{
	struct group_changes *changes = calloc(1, sizeof(*changes));
	size_t most = (size_t)group->member_count + group->change_count;
	char name[NAME_BYTES];
	bool good = true;
	if (!changes)
		abort();
	*changes = (struct group_changes){.topology = topology, .group = group, .number = number};
	changes->members = calloc(most, sizeof(*changes->members));
	if (!changes->members)
		abort();
	snprintf(name, sizeof(name), "multicast.%u", number);
	block_init(&changes->block, sim, &type, name, NULL, &changes->count);
	event_init(&changes->event, &changes->block, change);
	begin(changes);
	for (uint32_t i = 0; good && i < group->change_count; i++) {
		apply(changes, &group->changes[i]);
		good = set_tree(changes, error, error_bytes);
	}
	begin(changes);
	good = good && set_tree(changes, error, error_bytes);
	if (!good) {
		group_changes_destroy(changes);
		return NULL;
	}
	sim_schedule_at(&changes->event, group->changes[0].at);
	return changes;
}

void group_changes_destroy(struct group_changes *changes)
{
	sim_cancel(&changes->event);
	block_fini(&changes->block);
	free(changes->members);
	free(changes);
}
