/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_packets: the map `only` of the section `record`: which packets are recorded. A packet
 * must meet all given keys.
 *
 *     record: {packets: true, only: {hosts: [host0], opcodes: [RC_ACK], until: 20us}}
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/wire/opcode.h"
#include "fabric/wire/packet.h"
#include "hcasim/schema/scenario_read.h"

#define QPN_MAX      UINT32_C(0xffffff)
#define OPCODE_COUNT 256
#define KINDS        (PACKET_TCP + 1)

/* Names of packets without a BTH. Other packets have the names of their opcodes. */
static const char *const kind_names[KINDS] = {[PACKET_FLOW_CONTROL] = "CREDITS",
					      [PACKET_PFC] = "PFC",
					      [PACKET_RAW] = "RAW",
					      [PACKET_TCP] = "TCP"};

/* clang-format off */
#define ROW(...) PARAM_ROW(struct scenario_record_only, __VA_ARGS__)
static const struct param window_param_list[] = { RECORD_ONLY_PARAMS(ROW) {0} };
/* clang-format on */

static void read_hosts(struct scenario_reader *reader, struct yaml_node *node)
{
	struct scenario *scenario = reader->scenario;
	if (!node)
		return;
	bool *hosts = scenario->packets.hosts = calloc(scenario->host_count + 1, sizeof(*hosts));
	if (!hosts)
		abort();
	scenario_hosts_mark(reader, node, hosts);
}

static void read_qps(struct scenario_reader *reader, struct yaml_node *node)
{
	struct scenario_packets *packets = &reader->scenario->packets;
	if (!node || !scenario_expect_list(reader, node, "queue pair numbers"))
		return;
	packets->qps = scenario_take_entries(node, sizeof(*packets->qps), &packets->qp_count);
	for (struct yaml_node *entry = node->children; entry; entry = entry->next) {
		const char *text = yaml_expect_text(entry, "a queue pair's number", reader->errors);
		char *end = NULL;
		unsigned long number = text ? strtoul(text, &end, 0) : 0;
		if (text && (end == text || *end != '\0' || *text == '-' || number > QPN_MAX))
			yaml_error(reader->errors, entry,
				   "found \"%s\"; expected a queue pair's number, as 0x40", text);
		packets->qps[packets->qp_count++] = (uint32_t)number;
	}
}

/* Returns the name of an opcode or of a packet kind, whose numbers follow the opcodes. Returns NULL
 * if there is none. */
static const char *name_of(unsigned number)
{
	if (number >= OPCODE_COUNT)
		return kind_names[number - OPCODE_COUNT];
	return opcode_known((uint8_t)number) ? opcode_name((uint8_t)number) : NULL;
}

static bool choose_opcodes(bool *chosen, const char *pattern)
{
	bool found = false;
	for (unsigned i = 0; i < OPCODE_COUNT + KINDS; i++) {
		if (!name_of(i) || fnmatch(pattern, name_of(i), 0) != 0)
			continue;
		chosen[i] = found = true;
	}
	return found;
}

static void refuse_opcode(struct scenario_reader *reader, const struct yaml_node *entry)
{
	const char *names[OPCODE_COUNT + KINDS];
	size_t count = 0;
	for (unsigned i = 0; i < OPCODE_COUNT + KINDS; i++)
		if (name_of(i))
			names[count++] = name_of(i);
	const char *near = yaml_suggest(entry->text, names, count);
	yaml_error(reader->errors, entry,
		   near ? "no opcode matches \"%s\"; did you mean \"%s\"?"
			: "no opcode matches \"%s\"; expected a name such as %s, with * for any "
			  "text",
		   entry->text, near ? near : "RC_WRITE_ONLY");
}

static void read_opcodes(struct scenario_reader *reader, struct yaml_node *node)
{
	struct scenario_packets *packets = &reader->scenario->packets;
	packets->opcodes = scenario_read_texts(
		reader, node, "opcodes", "an opcode's name, as RC_ACK", &packets->opcode_count);
	if (!packets->opcodes)
		return;
	packets->chosen = calloc(OPCODE_COUNT + KINDS, sizeof(*packets->chosen));
	if (!packets->chosen)
		abort();
	for (struct yaml_node *entry = node->children; entry; entry = entry->next)
		if (entry->kind == YAML_SCALAR && !choose_opcodes(packets->chosen, entry->text))
			refuse_opcode(reader, entry);
}

void scenario_packets_read(struct scenario_reader *reader, struct yaml_node *node)
{
	static const char *const keys[] = {"ports", "hosts", "qps", "opcodes", NULL};
	struct scenario_packets *packets = &reader->scenario->packets;
	params_default(window_param_list, &packets->window);
	if (!node || !yaml_expect_map(node, "the packets to record", reader->errors))
		return;
	yaml_override_params(node, window_param_list, &packets->window, reader->errors);
	packets->ports =
		scenario_read_texts(reader, yaml_get(node, "ports"), "port names",
				    "a port's name, as switch0.port*", &packets->port_count);
	read_hosts(reader, yaml_get(node, "hosts"));
	read_qps(reader, yaml_get(node, "qps"));
	read_opcodes(reader, yaml_get(node, "opcodes"));
	if (packets->window.until != 0 && packets->window.until <= packets->window.from)
		yaml_error(reader->errors, node, "only: until is not after from");
	scenario_refuse_unused(reader, node, window_param_list, keys);
}

static bool is_of_host(const struct scenario *scenario, const struct packet *packet)
{
	const bool *hosts = scenario->packets.hosts;
	const struct path *path = packet->path;
	return path && ((path->source < scenario->host_count && hosts[path->source]) ||
			(path->destination < scenario->host_count && hosts[path->destination]));
}

static bool is_of_qp(const struct scenario_packets *packets, const struct packet *packet)
{
	for (uint32_t i = 0; i < packets->qp_count; i++)
		if (packet->kind == PACKET_DATA && packet->dest_qp == packets->qps[i])
			return true;
	return false;
}

/* A packet of the link itself has neither host nor queue pair. `opcodes` selects it by its name. */
bool scenario_packets_choose(const struct scenario *scenario, const struct packet *packet)
{
	const struct scenario_packets *packets = &scenario->packets;
	unsigned number = packet->kind == PACKET_DATA ? packet->opcode
						      : OPCODE_COUNT + (unsigned)packet->kind;
	bool of_link = packet->kind == PACKET_PFC || packet->kind == PACKET_FLOW_CONTROL;
	if (packets->chosen && !packets->chosen[number])
		return false;
	if (of_link)
		return packets->chosen || (!packets->hosts && packets->qp_count == 0);
	return (!packets->hosts || is_of_host(scenario, packet)) &&
	       (packets->qp_count == 0 || is_of_qp(packets, packet));
}

void scenario_packets_print(const struct scenario *scenario, FILE *out)
{
	const struct scenario_packets *packets = &scenario->packets;
	fputs("  only:\n", out);
	scenario_print_list(window_param_list, &packets->window, 4, out);
	scenario_print_texts("ports", 4, packets->ports, packets->port_count, out);
	if (packets->hosts)
		fputs("    hosts:\n", out);
	for (uint32_t i = 0; packets->hosts && i < scenario->host_count; i++) {
		if (!packets->hosts[i])
			continue;
		fputs("      - ", out);
		scenario_print_text(scenario->hosts[i].name, out);
		fputc('\n', out);
	}
	for (uint32_t i = 0; i < packets->qp_count; i++)
		fprintf(out, "%s%u%s", i == 0 ? "    qps: [" : ", ", packets->qps[i],
			i + 1 == packets->qp_count ? "]\n" : "");
	scenario_print_texts("opcodes", 4, packets->opcodes, packets->opcode_count, out);
}

void scenario_packets_release(struct scenario *scenario)
{
	free(scenario->packets.ports);
	free(scenario->packets.opcodes);
	free(scenario->packets.hosts);
	free(scenario->packets.chosen);
	free(scenario->packets.qps);
}
