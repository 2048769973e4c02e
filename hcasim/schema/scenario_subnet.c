/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_subnet: keys of `fabric` for multicast groups and partitions:
 *
 *     multicast:  [{mgid: "ff12:401b::1", mlid: 0xc001, members: ["host*"], senders: [host9],
 *                   changes: [{at: 1ms, leave: host3}]}]
 *     partitions: [{pkey: 1, full: [host0], limited: ["*"]}]
 */
#include "hcasim/schema/scenario_subnet.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "hcasim/schema/scenario_read.h"

/* Marks the hosts whose names match a pattern of the list. */
/* Returns the numbers of the marked hosts. The caller frees the list. */
static uint32_t *gather(const bool *marks, uint32_t hosts, uint32_t *count)
{
	uint32_t *numbers = calloc(hosts + 1, sizeof(*numbers));
	if (!numbers)
		abort();
	*count = 0;
	for (uint32_t i = 0; i < hosts; i++) {
		if (marks[i])
			numbers[(*count)++] = i;
	}
	return numbers;
}

static uint32_t *read_hosts(struct scenario_reader *reader, struct yaml_node *list, uint32_t *count)
{
	uint32_t hosts = reader->scenario->host_count;
	bool *marks = calloc(hosts + 1, sizeof(*marks));
	if (!marks)
		abort();
	if (list)
		scenario_hosts_mark(reader, list, marks);
	uint32_t *numbers = gather(marks, hosts, count);
	free(marks);
	return numbers;
}

/* ---- multicast ---- */

static bool parse_gid(const char *text, uint8_t gid[16])
{
	memset(gid, 0, 16);
	if (inet_pton(AF_INET6, text, gid) == 1)
		return group_has_gid(gid);
	gid[10] = gid[11] = 0xff;
	return inet_pton(AF_INET, text, gid + 12) == 1 && group_has_gid(gid);
}

static void read_gid(struct scenario_reader *reader, struct yaml_node *map,
		     struct scenario_group *entry)
{
	const struct scenario_subnet *subnet = &reader->scenario->subnet;
	struct yaml_node *node = yaml_get(map, "mgid");
	const char *text = node ? yaml_expect_text(node, "a group's GID", reader->errors) : NULL;
	if (!node)
		yaml_error(reader->errors, map, "no mgid; expected mgid: \"ff12::1\" or 224.1.2.3");
	if (!text)
		return;
	if (!parse_gid(text, entry->group.gid)) {
		yaml_error(reader->errors, node,
			   "\"%s\" is not a multicast GID; expected an IPv6 address that begins "
			   "with ff, or 224.0.0.0 to 239.255.255.255",
			   text);
		return;
	}
	for (const struct scenario_group *other = subnet->groups; other < entry; other++) {
		if (memcmp(other->group.gid, entry->group.gid, 16) == 0)
			yaml_error(reader->errors, node,
				   "\"%s\" is already the GID of another "
				   "group",
				   text);
	}
}

/* Reads a multicast LID. Groups without one have LIDs in the order of the list, from the first
 * multicast LID on. */
static void read_lid(struct scenario_reader *reader, struct yaml_node *map,
		     struct scenario_group *entry)
{
	const struct scenario_subnet *subnet = &reader->scenario->subnet;
	struct yaml_node *node = yaml_get(map, "mlid");
	unsigned long lid = GROUP_LID_FIRST + (unsigned long)(entry - subnet->groups);
	if (reader->scenario->fabric.link_layer != 0) {
		if (node)
			yaml_error(
				reader->errors, node,
				"mlid: expected link_layer: infiniband; RoCE groups have no LID");
		return;
	}
	if (node) {
		const char *text = yaml_expect_text(node, "a group's LID", reader->errors);
		char *end = NULL;
		lid = text ? strtoul(text, &end, 0) : lid;
		if (text && (*end != '\0' || lid < GROUP_LID_FIRST || lid > GROUP_LID_LAST)) {
			yaml_error(reader->errors, node,
				   "\"%s\" is not a multicast LID; expected 0x%x to 0x%x", text,
				   GROUP_LID_FIRST, GROUP_LID_LAST);
			return;
		}
	}
	entry->group.lid = (uint16_t)lid;
	for (const struct scenario_group *other = subnet->groups; other < entry; other++) {
		if (other->group.lid == entry->group.lid)
			yaml_error(reader->errors, node ? node : map,
				   "0x%lx is already the LID of another group", lid);
	}
}

static void refuse_endpoints(struct scenario_reader *reader, const struct yaml_node *map,
			     const uint32_t *hosts, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct scenario_host *host = &reader->scenario->hosts[hosts[i]];
		if (host->detailed)
			continue;
		yaml_error(reader->errors, map,
			   "%s has an HCA of fidelity endpoint, which does not support multicast; "
			   "expected fidelity: detailed",
			   host->name);
		return;
	}
}

static bool is_member(const struct scenario_group *group, uint32_t host)
{
	bool is = false;
	for (uint32_t i = 0; i < group->member_count; i++)
		is |= group->members[i] == host;
	for (uint32_t i = 0; i < group->change_count; i++) {
		if (group->changes[i].host == host)
			is = group->changes[i].joins;
	}
	return is;
}

static bool read_at(struct scenario_reader *reader, struct yaml_node *node, sim_time *at)
{
	static const struct param param = {"at", PARAM_TIME, 0, "0ps", "0ps..1000s", "", ""};
	const char *text = yaml_expect_text(node, "a time", reader->errors);
	char error[256];
	if (!text)
		return false;
	if (param_parse(&param, text, at, error, sizeof(error)))
		return true;
	yaml_error(reader->errors, node, "at: %s", error);
	return false;
}

static bool find_host(struct scenario_reader *reader, struct yaml_node *node, uint32_t *host)
{
	const struct scenario *scenario = reader->scenario;
	const char *name = yaml_expect_text(node, "a host's name", reader->errors);
	for (*host = 0; name && *host < scenario->host_count; ++*host) {
		if (strcmp(scenario->hosts[*host].name, name) == 0)
			return true;
	}
	if (name)
		scenario_hosts_refuse(reader, node, name);
	return false;
}

/* {at: 1ms, join: host3} or {at: 1ms, leave: host3} */
static void read_change(struct scenario_reader *reader, struct yaml_node *map,
			struct scenario_group *group)
{
	static const char *const keys[] = {"at", "join", "leave", NULL};
	static const char expected[] = "{at: 1ms, join: host3}, or leave";
	if (!yaml_expect_map(map, expected, reader->errors))
		return;
	struct yaml_node *at = yaml_get(map, "at"), *join = yaml_get(map, "join"),
			 *leave = yaml_get(map, "leave");
	if (!at || !join == !leave) {
		yaml_error(reader->errors, map, "expected %s", expected);
		return;
	}
	struct scenario_membership *change = &group->changes[group->change_count];
	change->joins = join;
	if (!read_at(reader, at, &change->at) ||
	    !find_host(reader, change->joins ? join : leave, &change->host))
		return;
	scenario_refuse_unused(reader, map, NULL, keys);
	refuse_endpoints(reader, map, &change->host, 1);
	if (group->change_count > 0 && change->at < change[-1].at)
		yaml_error(reader->errors, map,
			   "at: earlier than the previous change; expected times that do not "
			   "decrease");
	else if (is_member(group, change->host) == change->joins)
		yaml_error(reader->errors, map, "%s is %s at this time; expected %s",
			   reader->scenario->hosts[change->host].name,
			   change->joins ? "a member" : "no member",
			   change->joins ? "leave" : "join");
	else
		group->change_count++;
}

static void read_group(struct scenario_reader *reader, struct yaml_node *map,
		       struct scenario_group *entry)
{
	static const char *const keys[] = {"mgid", "mlid", "members", "senders", "changes", NULL};
	if (!yaml_expect_map(map, "{mgid: \"ff12::1\", members: [host0, host1]}", reader->errors))
		return;
	read_gid(reader, map, entry);
	read_lid(reader, map, entry);
	entry->members = read_hosts(reader, yaml_get(map, "members"), &entry->member_count);
	entry->senders = read_hosts(reader, yaml_get(map, "senders"), &entry->sender_count);
	if (!yaml_get(map, "members"))
		yaml_error(reader->errors, map, "no members; expected members: [host0, host1]");
	refuse_endpoints(reader, map, entry->members, entry->member_count);
	refuse_endpoints(reader, map, entry->senders, entry->sender_count);
	struct yaml_node *changes = yaml_get(map, "changes");
	uint32_t none;
	if (changes && scenario_expect_list(reader, changes, "changes")) {
		entry->changes = scenario_take_entries(changes, sizeof(*entry->changes), &none);
		for (struct yaml_node *node = changes->children; node; node = node->next)
			read_change(reader, node, entry);
	}
	scenario_refuse_unused(reader, map, NULL, keys);
}

/* ---- partitions ---- */

#define PARTITION_DEFAULT (PKEY_DEFAULT & PKEY_NUMBER)

static void read_number(struct scenario_reader *reader, struct yaml_node *map,
			struct scenario_partition *entry)
{
	const struct scenario_subnet *subnet = &reader->scenario->subnet;
	struct yaml_node *node = yaml_get(map, "pkey");
	const char *text = node ? yaml_expect_text(node, "a P_Key", reader->errors) : NULL;
	char *end = NULL;
	if (!node)
		yaml_error(reader->errors, map, "no pkey; expected pkey: 1");
	if (!text)
		return;
	unsigned long number = strtoul(text, &end, 0);
	if (*end != '\0' || number < 1 || number > PKEY_NUMBER) {
		yaml_error(reader->errors, node,
			   "\"%s\" is not a P_Key without membership bit; expected 1 to 0x%x", text,
			   PKEY_NUMBER);
		return;
	}
	entry->number = (uint16_t)number;
	for (const struct scenario_partition *other = subnet->partitions; other < entry; other++) {
		if (other->number == entry->number)
			yaml_error(reader->errors, node, "partition 0x%lx is defined twice",
				   number);
	}
}

static void read_partition(struct scenario_reader *reader, struct yaml_node *map,
			   struct scenario_partition *entry)
{
	static const char *const keys[] = {"pkey", "full", "limited", NULL};
	if (!yaml_expect_map(map, "{pkey: 1, full: [host0], limited: [host1]}", reader->errors))
		return;
	read_number(reader, map, entry);
	entry->full = read_hosts(reader, yaml_get(map, "full"), &entry->full_count);
	entry->limited = read_hosts(reader, yaml_get(map, "limited"), &entry->limited_count);
	if (entry->full_count + entry->limited_count == 0)
		yaml_error(reader->errors, map, "no members; expected full: or limited:");
	scenario_refuse_unused(reader, map, NULL, keys);
}

/* Adds a host to a partition. A host in both lists is a full member. */
static void enter(struct scenario_reader *reader, const struct yaml_node *node, uint32_t host,
		  uint16_t pkey)
{
	struct partitions *partitions = &reader->scenario->subnet.of_hosts[host];
	if (partitions_have(partitions, pkey))
		return;
	if (partitions->count == PKEYS_MAX)
		yaml_error(reader->errors, node, "%s is in more than %d partitions",
			   reader->scenario->hosts[host].name, PKEYS_MAX);
	else
		partitions->keys[partitions->count++] = pkey;
}

static void enter_members(struct scenario_reader *reader, const struct yaml_node *node,
			  const struct scenario_partition *entry)
{
	for (uint32_t i = 0; i < entry->full_count; i++)
		enter(reader, node, entry->full[i], entry->number | PKEY_FULL);
	for (uint32_t i = 0; i < entry->limited_count; i++)
		enter(reader, node, entry->limited[i], entry->number);
}

/* Creates the tables of all hosts. They begin with the default partition, in which all hosts are
 * limited members unless the list defines it, as in OpenSM. */
static void make_tables(struct scenario_reader *reader, const struct yaml_node *node)
{
	struct scenario *scenario = reader->scenario;
	struct scenario_subnet *subnet = &scenario->subnet;
	bool said = false;
	subnet->of_hosts = calloc(scenario->host_count + 1, sizeof(*subnet->of_hosts));
	if (!subnet->of_hosts)
		abort();
	for (uint32_t i = 0; i < subnet->partition_count; i++) {
		if (subnet->partitions[i].number != PARTITION_DEFAULT)
			continue;
		said = true;
		enter_members(reader, node, &subnet->partitions[i]);
	}
	for (uint32_t i = 0; !said && i < scenario->host_count; i++)
		enter(reader, node, i, PARTITION_DEFAULT);
	for (uint32_t i = 0; i < subnet->partition_count; i++)
		enter_members(reader, node, &subnet->partitions[i]);
	for (uint32_t i = 0; i < scenario->host_count; i++) {
		if (subnet->of_hosts[i].count == 0)
			yaml_error(reader->errors, node, "%s is in no partition",
				   scenario->hosts[i].name);
	}
}

static void read_partitions(struct scenario_reader *reader, struct yaml_node *list)
{
	struct scenario_subnet *subnet = &reader->scenario->subnet;
	unsigned before = reader->errors->count;
	if (!list || !scenario_expect_list(reader, list, "partitions"))
		return;
	if (reader->scenario->fabric.link_layer != 0) {
		yaml_error(reader->errors, list,
			   "partitions: expected link_layer: infiniband; RoCE has only the default "
			   "partition");
		return;
	}
	subnet->partitions =
		scenario_take_entries(list, sizeof(*subnet->partitions), &subnet->partition_count);
	for (struct yaml_node *node = list->children; node; node = node->next)
		read_partition(reader, node, &subnet->partitions[subnet->partition_count++]);
	if (reader->errors->count == before)
		make_tables(reader, list);
}

void scenario_subnet_read(struct scenario_reader *reader, struct yaml_node *fabric)
{
	struct scenario_subnet *subnet = &reader->scenario->subnet;
	struct yaml_node *groups = yaml_get(fabric, "multicast");
	read_partitions(reader, yaml_get(fabric, "partitions"));
	if (groups && scenario_expect_list(reader, groups, "groups")) {
		subnet->groups = scenario_take_entries(groups, sizeof(*subnet->groups),
						       &subnet->group_count);
		for (struct yaml_node *node = groups->children; node; node = node->next)
			read_group(reader, node, &subnet->groups[subnet->group_count++]);
	}
}

void scenario_subnet_free(struct scenario *scenario)
{
	for (uint32_t i = 0; i < scenario->subnet.group_count; i++) {
		free(scenario->subnet.groups[i].members);
		free(scenario->subnet.groups[i].senders);
		free(scenario->subnet.groups[i].changes);
	}
	for (uint32_t i = 0; i < scenario->subnet.partition_count; i++) {
		free(scenario->subnet.partitions[i].full);
		free(scenario->subnet.partitions[i].limited);
	}
	free(scenario->subnet.groups);
	free(scenario->subnet.partitions);
	free(scenario->subnet.of_hosts);
}

/* ---- the effective configuration ---- */

static void print_hosts(const struct scenario *scenario, const char *key, const uint32_t *hosts,
			uint32_t count, FILE *out)
{
	fprintf(out, ", %s: [", key);
	for (uint32_t i = 0; i < count; i++) {
		fprintf(out, "%s", i > 0 ? ", " : "");
		scenario_print_text(scenario->hosts[hosts[i]].name, out);
	}
	fputc(']', out);
}

static void print_changes(const struct scenario *scenario, const struct scenario_group *group,
			  FILE *out)
{
	for (uint32_t i = 0; i < group->change_count; i++) {
		const struct scenario_membership *change = &group->changes[i];
		fprintf(out, "%s{at: %" PRIu64 "ps, %s: ", i > 0 ? ", " : ", changes: [",
			change->at, change->joins ? "join" : "leave");
		scenario_print_text(scenario->hosts[change->host].name, out);
		fputc('}', out);
	}
	if (group->change_count > 0)
		fputc(']', out);
}

void scenario_subnet_print(const struct scenario *scenario, FILE *out)
{
	const struct scenario_subnet *subnet = &scenario->subnet;
	if (subnet->group_count > 0)
		fprintf(out, "  multicast:\n");
	for (uint32_t i = 0; i < subnet->group_count; i++) {
		const struct scenario_group *entry = &subnet->groups[i];
		char text[INET6_ADDRSTRLEN];
		inet_ntop(AF_INET6, entry->group.gid, text, sizeof(text));
		fprintf(out, "    - {mgid: \"%s\"", text);
		if (entry->group.lid != 0)
			fprintf(out, ", mlid: 0x%x", entry->group.lid);
		print_hosts(scenario, "members", entry->members, entry->member_count, out);
		print_hosts(scenario, "senders", entry->senders, entry->sender_count, out);
		print_changes(scenario, entry, out);
		fprintf(out, "}\n");
	}
	if (subnet->partition_count > 0)
		fprintf(out, "  partitions:\n");
	for (uint32_t i = 0; i < subnet->partition_count; i++) {
		const struct scenario_partition *entry = &subnet->partitions[i];
		fprintf(out, "    - {pkey: 0x%04x", entry->number);
		print_hosts(scenario, "full", entry->full, entry->full_count, out);
		print_hosts(scenario, "limited", entry->limited, entry->limited_count, out);
		fprintf(out, "}\n");
	}
}
