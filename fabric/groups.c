/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups: see groups.h. There are few groups, and they are searched linearly, when a path is
 * created.
 */
#include "fabric/groups.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct groups {
	struct group *list;
	uint32_t count;
};

uint32_t groups_add(struct groups *groups, const struct group *group)
{
	uint32_t number = groups->count++;

	assert(group_has_gid(group->gid));
	groups->list = realloc(groups->list, groups->count * sizeof(groups->list[0]));
	assert(groups->list);
	groups->list[number] = *group;
	return number;
}

uint32_t groups_count(const struct groups *groups)
{
	return groups->count;
}

const struct group *groups_get(const struct groups *groups, uint32_t number)
{
	assert(number < groups->count);
	return &groups->list[number];
}

uint32_t groups_by_lid(const struct groups *groups, uint16_t lid)
{
	for (uint32_t i = 0; lid && i < groups->count; i++)
		if (groups->list[i].lid == lid)
			return GROUP_ADDRESS | i;
	return GROUP_NONE;
}

uint32_t groups_by_gid(const struct groups *groups, const uint8_t gid[16])
{
	for (uint32_t i = 0; i < groups->count; i++)
		if (memcmp(groups->list[i].gid, gid, sizeof(groups->list[i].gid)) == 0)
			return GROUP_ADDRESS | i;
	return GROUP_NONE;
}

static bool has_ipv4(const uint8_t gid[16])
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(gid, prefix, sizeof(prefix)) == 0;
}

bool group_has_gid(const uint8_t gid[16])
{
	return gid[0] == 0xff || (has_ipv4(gid) && (gid[12] & 0xf0) == 0xe0);
}

void group_mac(const uint8_t gid[16], uint8_t mac[6])
{
	assert(group_has_gid(gid));
	if (gid[0] == 0xff) {
		mac[0] = mac[1] = 0x33;
		memcpy(mac + 2, gid + 12, 4);
		return;
	}
	memcpy(mac, (const uint8_t[]){0x01, 0x00, 0x5e}, 3);
	mac[3] = gid[13] & 0x7f;
	memcpy(mac + 4, gid + 14, 2);
}

struct groups *groups_create(void)
{
	struct groups *groups = calloc(1, sizeof(*groups));

	assert(groups);
	return groups;
}

void groups_destroy(struct groups *groups)
{
	free(groups->list);
	free(groups);
}
