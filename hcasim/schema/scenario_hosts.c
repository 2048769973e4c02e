/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_hosts: the section `hosts`: hosts by name, or their number.
 *
 *     hosts: {host0: {hca: connectx4-edr}, host1: {hca: {preset: connectx4-edr, pcie: {lanes: 8}}}}
 *     hosts: {count: 128, hca: {fidelity: endpoint}, except: {host3: {hca: {max_rd_atomic: 4}}}}
 */
#include <arpa/inet.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hca/device/hca_params.h"
#include "hcasim/schema/endpoint_device.h"
#include "hcasim/schema/modules.h"
#include "hcasim/schema/preset.h"
#include "hcasim/schema/scenario_read.h"

#define HOSTS_MAX 62500 /* addresses from 127.77.0.1 on */

static void read_address(struct scenario_reader *reader, struct yaml_node *node, uint8_t ipv4[4])
{
	const struct scenario *scenario = reader->scenario;
	const char *text = yaml_expect_text(node, "an IPv4 address", reader->errors);
	if (text && inet_pton(AF_INET, text, ipv4) != 1) {
		yaml_error(reader->errors, node,
			   "\"%s\" is not an IPv4 address; expected 127.77.0.1", text);
		return;
	}
	if (text && ipv4[0] != 127) {
		yaml_error(reader->errors, node,
			   "\"%s\" is not in this machine's loopback network; expected 127.x.x.x",
			   text);
		return;
	}
	for (uint32_t i = 0; i + 1 < scenario->host_count; i++) {
		if (text && memcmp(scenario->hosts[i].ipv4, ipv4, 4) == 0)
			yaml_error(reader->errors, node, "\"%s\" is already the address of %s",
				   text, scenario->hosts[i].name);
	}
}

/* Reads an adapter from a preset or a map. The map selects the fidelity. */
static void read_hca(struct scenario_reader *reader, struct yaml_node *node,
		     struct scenario_host *host)
{
	static const char *const others[] = {"fidelity", NULL};
	struct yaml_node *fidelity = node->kind == YAML_MAP ? yaml_get(node, "fidelity") : NULL;
	const char *name =
		fidelity ? yaml_expect_text(fidelity, "endpoint or detailed", reader->errors)
			 : NULL;
	if (name && strcmp(name, "endpoint") == 0) {
		host->endpoint = composite_create(COMPOSITE_ENDPOINT);
		preset_read(COMPOSITE_ENDPOINT, node, others, host->endpoint, NULL, reader->errors);
		return;
	}
	if (name && strcmp(name, "detailed") != 0)
		yaml_error(reader->errors, fidelity,
			   "no fidelity \"%s\"; expected endpoint or detailed", name);
	host->detailed = composite_create(COMPOSITE_HCA);
	unsigned before = reader->errors->count;
	if (node->kind != YAML_NULL)
		preset_read(COMPOSITE_HCA, node, others, host->detailed, NULL, reader->errors);
	if (reader->errors->count == before)
		modules_check(node, host->detailed, reader->errors);
}

/* Reads `hca:` and `host:` of a map: the adapter and its host. */
static void read_adapter(struct scenario_reader *reader, struct yaml_node *map,
			 struct scenario_host *host)
{
	struct yaml_node *hca = map->kind == YAML_MAP ? yaml_get(map, "hca") : NULL;
	struct yaml_node *slot = map->kind == YAML_MAP ? yaml_get(map, "host") : NULL;
	if (hca)
		read_hca(reader, hca, host);
	else
		host->detailed = composite_create(COMPOSITE_HCA);
	if (slot && slot->kind != YAML_NULL)
		scenario_slot_read(reader, hca, slot, host->detailed);
}

static void give_address(struct scenario_host *host, uint32_t number)
{
	memcpy(host->ipv4,
	       (uint8_t[]){127, 77, (uint8_t)(number / 250), (uint8_t)(number % 250 + 1)}, 4);
}

static void read_host(struct scenario_reader *reader, struct yaml_node *node)
{
	static const char *const keys[] = {"hca", "host", "address", NULL};
	struct scenario *scenario = reader->scenario;
	uint32_t number = scenario->host_count++;
	struct scenario_host *host = &scenario->hosts[number];
	host->name = node->key;
	give_address(host, number);
	if (!scenario_name_valid(node->key))
		yaml_error_key(reader->errors, node,
			       "\"%s\" is not a valid host name; expected letters, digits, - and "
			       "_, at most %d",
			       node->key, SCENARIO_NAME_BYTES);
	read_adapter(reader, node, host);
	if (node->kind == YAML_NULL ||
	    !yaml_expect_map(node, "a host's hca, host and address", reader->errors))
		return;
	struct yaml_node *address = yaml_get(node, "address");
	if (address)
		read_address(reader, address, host->ipv4);
	scenario_refuse_unused(reader, node, NULL, keys);
}

bool scenario_hosts_mark(struct scenario_reader *reader, const struct yaml_node *list, bool *marks)
{
	const struct scenario *scenario = reader->scenario;
	if (!scenario_expect_list(reader, list, "hosts; * and ? allowed"))
		return false;
	bool good = true;
	for (struct yaml_node *entry = list->children; entry; entry = entry->next) {
		const char *pattern =
			yaml_expect_text(entry, "a host's name; * and ? allowed", reader->errors);
		bool found = false;
		for (uint32_t i = 0; pattern && i < scenario->host_count; i++) {
			if (fnmatch(pattern, scenario->hosts[i].name, 0) == 0)
				marks[i] = found = true;
		}
		if (pattern && !found)
			scenario_hosts_refuse(reader, entry, pattern);
		good &= found;
	}
	return good;
}

void scenario_hosts_refuse(struct scenario_reader *reader, const struct yaml_node *node,
			   const char *name)
{
	const char *near = scenario_suggest_host(reader->scenario, name);
	yaml_error(reader->errors, node, "no host \"%s\"%s%s%s", name,
		   near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

/* Reads `except: {host3: {hca: ..., host: ...}}` for generated hosts. */
static void read_exceptions(struct scenario_reader *reader, struct yaml_node *map)
{
	static const char *const keys[] = {"hca", "host", NULL};
	struct scenario *scenario = reader->scenario;
	if (!yaml_expect_map(map, "hosts by name", reader->errors))
		return;
	for (struct yaml_node *node = map->children; node; node = node->next) {
		uint32_t number = scenario_find_host(scenario, node->key);
		const char *near = scenario_suggest_host(scenario, node->key);
		if (number == NO_HOST)
			yaml_error_key(reader->errors, node,
				       near ? "no host \"%s\"; did you mean \"%s\"?"
					    : "no host \"%s\"",
				       node->key, near);
		if (number == NO_HOST ||
		    !yaml_expect_map(node, "a host's hca and host", reader->errors))
			continue;
		struct scenario_host *host = &scenario->hosts[number];
		struct yaml_node *hca = yaml_get(node, "hca"), *slot = yaml_get(node, "host");
		scenario_refuse_unused(reader, node, NULL, keys);
		if ((!hca && !slot) || !host->alike)
			continue;
		if (!hca) {
			yaml_error(reader->errors, slot,
				   "host needs hca: in the same map, because it changes values of "
				   "that adapter");
			continue;
		}
		host->alike = false;
		host->detailed = NULL;
		host->endpoint = NULL;
		read_adapter(reader, node, host);
	}
}

/* Reads {count: 128, hca: ..., host: ...}: equal hosts. A count of 0 uses all places of the
 * topology. */
static void generate_hosts(struct scenario_reader *reader, struct yaml_node *node)
{
	static const struct param list[] = {
		{"count", PARAM_COUNT, 0, "0", "0..62500", "hosts", "choice"}, {0}};
	static const char *const others[] = {"hca", "host", "except", NULL};
	struct scenario *scenario = reader->scenario;
	uint64_t count = 0;
	uint32_t places = layout_hosts(&scenario->layout), next = 0;
	unsigned before = reader->errors->count;
	yaml_override_params(node, list, &count, reader->errors);
	if (reader->errors->count != before)
		return;
	if (count == 0)
		count = places;
	if (count > HOSTS_MAX) {
		yaml_error(reader->errors, node, "the topology has %u hosts; expected at most %d",
			   places, HOSTS_MAX);
		return;
	}
	if (places > 0 && count != places)
		yaml_error(reader->errors, yaml_get(node, "count"),
			   "%u hosts; the topology has places for %u", (unsigned)count, places);
	if (count == 0 && !reader->no_topology)
		yaml_error(reader->errors, node, "no hosts; expected count: 1 or more");
	if (count == 0 || (places > 0 && count != places))
		return;
	scenario->hosts = calloc(count, sizeof(*scenario->hosts));
	scenario->host_names = calloc(count, sizeof(*scenario->host_names));
	if (!scenario->hosts || !scenario->host_names)
		abort();
	scenario->generated = true;
	read_adapter(reader, node, &scenario->every_host);
	for (uint32_t i = 0; i < count; i++) {
		struct scenario_host *host = &scenario->hosts[i];
		while (places > 0 && scenario->layout.nodes[next].is_switch)
			next++;
		if (places > 0)
			snprintf(scenario->host_names[i], LAYOUT_NAME_BYTES, "%s",
				 scenario->layout.nodes[next++].name);
		else
			snprintf(scenario->host_names[i], LAYOUT_NAME_BYTES, "host%u", i);
		host->name = scenario->host_names[i];
		host->alike = true;
		host->detailed = scenario->every_host.detailed;
		host->endpoint = scenario->every_host.endpoint;
		give_address(host, i);
	}
	scenario->host_count = (uint32_t)count;
	struct yaml_node *exceptions = yaml_get(node, "except");
	if (exceptions)
		read_exceptions(reader, exceptions);
	scenario_refuse_unused(reader, node, list, others);
}

const char *const *scenario_hosts_read(struct scenario_reader *reader, struct yaml_node *node)
{
	struct scenario *scenario = reader->scenario;
	if (!node)
		yaml_error(reader->errors, reader->root,
			   "no hosts; expected hosts: {host0: {hca: ...}, ...}");
	if (!node || !yaml_expect_map(node, "hosts by name", reader->errors))
		return NULL;
	for (struct yaml_node *entry = node->children; entry; entry = entry->next) {
		if (strcmp(entry->key, "count") == 0 && entry->kind == YAML_SCALAR) {
			generate_hosts(reader, node);
			return NULL;
		}
	}
	size_t entries = 0;
	for (struct yaml_node *host = node->children; host; host = host->next)
		entries++;
	if (entries > HOSTS_MAX) {
		yaml_error(reader->errors, node, "%zu hosts; expected at most %d", entries,
			   HOSTS_MAX);
		return NULL;
	}
	scenario->hosts =
		scenario_take_entries(node, sizeof(*scenario->hosts), &scenario->host_count);
	for (struct yaml_node *host = node->children; host; host = host->next)
		read_host(reader, host);
	uint32_t places = layout_hosts(&scenario->layout);
	if (scenario->host_count == 0)
		yaml_error(reader->errors, node,
			   "no hosts; expected {host0: {hca: ...}, ...} or {count: 2, ...}");
	else if (places > 0 && places != scenario->host_count)
		yaml_error(reader->errors, node, "%u hosts; the topology has places for %u",
			   scenario->host_count, places);
	return NULL;
}

static void print_hca(const struct scenario_host *host, unsigned indent, FILE *out)
{
	fprintf(out, "%*shca:\n", (int)indent, "");
	if (host->endpoint) {
		fprintf(out, "%*sfidelity: endpoint\n", (int)indent + 2, "");
		composite_print(COMPOSITE_ENDPOINT, host->endpoint, indent + 2, out);
	} else {
		composite_print(COMPOSITE_HCA, host->detailed, indent + 2, out);
	}
}

static void print_exceptions(const struct scenario *scenario, FILE *out)
{
	bool any = false;
	for (uint32_t i = 0; i < scenario->host_count; i++) {
		if (scenario->hosts[i].alike)
			continue;
		fprintf(out, "%s    %s:\n", any ? "" : "  except:\n", scenario->hosts[i].name);
		print_hca(&scenario->hosts[i], 6, out);
		any = true;
	}
}

void scenario_hosts_print(const struct scenario *scenario, FILE *out)
{
	if (scenario->generated && !scenario_topology_is_file(scenario)) {
		fprintf(out, "  count: %u\n", scenario->host_count);
		print_hca(&scenario->every_host, 2, out);
		print_exceptions(scenario, out);
		return;
	}
	for (uint32_t i = 0; i < scenario->host_count; i++) {
		const struct scenario_host *host = &scenario->hosts[i];
		fprintf(out, "  %s:\n    address: %u.%u.%u.%u\n", host->name, host->ipv4[0],
			host->ipv4[1], host->ipv4[2], host->ipv4[3]);
		print_hca(host, 4, out);
	}
}

static void free_adapter(const struct scenario_host *host)
{
	if (host->detailed)
		congestion_choice_fini(&host->detailed->congestion);
	free(host->detailed);
	endpoint_device_destroy(host->endpoint);
}

void scenario_hosts_release(struct scenario *scenario)
{
	for (uint32_t i = 0; i < scenario->host_count; i++) {
		if (!scenario->hosts[i].alike)
			free_adapter(&scenario->hosts[i]);
	}
	free_adapter(&scenario->every_host);
	free(scenario->host_names);
	free(scenario->hosts);
}
