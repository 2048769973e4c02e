/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snooping: IGMP and MLD snooping, RFC 4541. The switch reads the membership reports of hosts, and
 * sends packets of a group only to ports behind which a host is a member. It tracks each host, so a
 * port is removed at once when its last member leaves (RFC 3376 A.2).
 *
 *     host --report--> switch --report--> other switches along the tree of unknown groups
 *                        |
 *     ports of members <-'<-- packets of the group
 *
 * Reports go to other switches only. There is no querier, and no entry ages. Packets of groups
 * without members, and of the groups of a link (224.0.0.x, ff02::), leave as without snooping.
 */
#include <stdlib.h>
#include <string.h>

#include "fabric/wire/ethernet.h"
#include "fabric/wire/igmp.h"
#include "switch/switch_state.h"

#define ETHERNET_BYTES 14
#define TAG_BYTES      4
#define REPORTS_MOST   64 /* of one packet */

struct member {
	uint8_t host[16]; /* source address of its reports */
	uint8_t port;
};

struct snooped_group {
	uint8_t gid[16];
	struct member *members;
	uint32_t count;
	struct port_set ports;
};

struct snooping {
	struct port_set switches; /* ports that lead to switches */
	struct port_set outputs;  /* of the report under way */
	struct snooped_group *groups;
	uint32_t count;
};

static struct snooped_group *find(const struct snooping *snooping, const uint8_t gid[16])
{
	for (uint32_t i = 0; i < snooping->count; i++)
		if (memcmp(snooping->groups[i].gid, gid, 16) == 0)
			return &snooping->groups[i];
	return NULL;
}

static struct snooped_group *add_group(struct snooping *snooping, const uint8_t gid[16])
{
	struct snooped_group *group;

	snooping->groups =
		realloc(snooping->groups, (snooping->count + 1) * sizeof(snooping->groups[0]));
	assert(snooping->groups);
	group = &snooping->groups[snooping->count++];
	*group = (struct snooped_group){.count = 0};
	memcpy(group->gid, gid, 16);
	return group;
}

static void set_ports(struct snooped_group *group)
{
	group->ports = (struct port_set){0};
	for (uint32_t i = 0; i < group->count; i++)
		port_set_add(&group->ports, group->members[i].port);
}

static void join(struct snooped_group *group, const uint8_t host[16], unsigned port)
{
	uint32_t place = 0;

	while (place < group->count && memcmp(group->members[place].host, host, 16) != 0)
		place++;
	if (place == group->count) {
		group->members = realloc(group->members, (place + 1) * sizeof(group->members[0]));
		assert(group->members);
		group->count++;
		memcpy(group->members[place].host, host, 16);
	}
	group->members[place].port = (uint8_t)port;
	set_ports(group);
}

static void leave(struct snooping *snooping, struct snooped_group *group, const uint8_t host[16])
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < group->count; i++)
		if (memcmp(group->members[i].host, host, 16) != 0)
			group->members[kept++] = group->members[i];
	group->count = kept;
	set_ports(group);
	if (kept)
		return;
	free(group->members);
	*group = snooping->groups[--snooping->count];
}

static void learn(struct snooping *snooping, const struct igmp_report *report,
		  const uint8_t host[16], unsigned port)
{
	struct snooped_group *group = find(snooping, report->group);

	if (!report->leaves)
		join(group ? group : add_group(snooping, report->group), host, port);
	else if (group)
		leave(snooping, group, host);
}

static unsigned parse(const struct packet *packet, struct igmp_report reports[REPORTS_MOST])
{
	size_t ip = path_vlan_tag(packet->path) ? ETHERNET_BYTES + TAG_BYTES : ETHERNET_BYTES;
	size_t bytes = packet->payload_bytes < PAYLOAD_MAX ? packet->payload_bytes : PAYLOAD_MAX;

	if (packet->kind != PACKET_RAW || !packet->payload || bytes <= ip)
		return 0;
	return igmp_parse(packet->payload->bytes + ip, bytes - ip, reports, REPORTS_MOST);
}

static bool is_of_link(const uint8_t gid[16])
{
	return gid[0] == 0xff ? (gid[1] & 15) <= 2 : gid[12] == 224 && gid[13] == 0 && gid[14] == 0;
}

/* Ends a report. */
static void take(struct switch_port *input, struct packet *packet)
{
	struct fabric_switch *sw = input->sw;

	if (!sw->buffer)
		port_release_at(input->port, packet->vl, packet->wire_bytes, packet->tail_at);
	sw->count.control_packets_received++;
	packet_free(sw->pool, packet);
}

/* Sets the outputs to the other switches of the tree of unknown groups. */
static void to_switches(struct snooping *snooping, const struct port_set *tree, unsigned input)
{
	snooping->outputs = *tree;
	for (unsigned i = 0; i < PORT_SET_WORDS; i++)
		snooping->outputs.words[i] &= snooping->switches.words[i];
	port_set_remove(&snooping->outputs, input);
}

bool snooping_takes(struct switch_port *input, struct packet *packet,
		    const struct port_set **outputs)
{
	struct snooping *snooping = input->sw->snooping;
	struct igmp_report reports[REPORTS_MOST];
	const struct path *path = packet->path;
	const struct snooped_group *group;
	unsigned count;

	if (!(path->dmac[0] & 1) || path->destination != NO_ENDPOINT)
		return false; /* also a group of the scenario */
	count = parse(packet, reports);
	if (!count) {
		group = is_of_link(path->dgid) ? NULL : find(snooping, path->dgid);
		if (group)
			*outputs = &group->ports;
		return false;
	}
	for (unsigned i = 0; i < count; i++)
		learn(snooping, &reports[i], path->sgid, port_index(input));
	to_switches(snooping, &input->sw->unknown_group, port_index(input));
	*outputs = &snooping->outputs;
	if (port_set_count(&snooping->outputs))
		return false;
	take(input, packet);
	return true;
}

void switch_set_neighbours(struct fabric_switch *sw, const struct port_set *switches)
{
	if (sw->snooping)
		sw->snooping->switches = *switches;
}

void snooping_init(struct fabric_switch *sw)
{
	if (!sw->params.snooping || sw->by_lid)
		return;
	sw->snooping = calloc(1, sizeof(*sw->snooping));
	assert(sw->snooping);
}

void snooping_fini(struct fabric_switch *sw)
{
	struct snooping *snooping = sw->snooping;

	if (!snooping)
		return;
	for (uint32_t i = 0; i < snooping->count; i++)
		free(snooping->groups[i].members);
	free(snooping->groups);
	free(snooping);
}
