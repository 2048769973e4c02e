/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_print: the effective configuration: every value that the run went by, whatever preset or default it came
 * from, as a scenario file that reads back to an equal one.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/port_params.h"
#include "hcasim/schema/endpoint_device.h"
#include "hcasim/schema/scenario_read.h"

#define HASH_BASE   UINT64_C(0xcbf29ce484222325) /* FNV-1a */
#define HASH_FACTOR UINT64_C(0x100000001b3)

static bool by_contents; /* files stand for what they hold */

void scenario_print_list(const struct param *list, const void *params, int indent, FILE *out)
{
	char text[128];
	for (const struct param *param = list; param->name; param++) {
		param_print(param, params, text, sizeof(text));
		fprintf(out, "%*s%s: %s\n", indent, "", param->name, text);
	}
}

/* Always in double quotes, so that no text is taken for anything else. */
void scenario_print_text(const char *text, FILE *out)
{
	fputc('"', out);
	for (; *text != '\0'; text++) {
		unsigned char letter = (unsigned char)*text;
		if (letter == '"' || letter == '\\')
			fprintf(out, "\\%c", letter);
		else if (letter < 0x20 || letter == 0x7f)
			fprintf(out, "\\x%02x", letter);
		else
			fputc(letter, out);
	}
	fputc('"', out);
}

bool scenario_blame(const struct scenario *scenario, const char *path, char *error,
		    size_t error_bytes)
{
	struct yaml_errors errors = {0};
	const struct yaml_node *root = yaml_root(scenario->document);
	const struct yaml_node *node = yaml_find(root, path);
	const struct yaml_node whole = {.file = scenario->file};
	if (node == root)
		yaml_error(&errors, &whole, "%s", error);
	else if (node->key)
		yaml_error_key(&errors, node, "%s", error);
	else
		yaml_error(&errors, node, "%s", error);
	snprintf(error, error_bytes, "%.*s", (int)errors.length - 1, errors.text);
	yaml_errors_free(&errors);
	return false;
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		hash = (hash ^ ((const unsigned char *)bytes)[i]) * HASH_FACTOR;
	return hash;
}

static void print_contents(const char *path, FILE *out)
{
	uint64_t hash = HASH_BASE;
	char bytes[4096];
	size_t count;
	FILE *in = fopen(path, "r");
	while (in && (count = fread(bytes, 1, sizeof(bytes), in)) > 0)
		hash = hash_bytes(hash, bytes, count);
	if (in)
		fclose(in);
	fprintf(out, "\"%016" PRIx64 "\"", hash);
}

void scenario_print_file(const char *path, FILE *out)
{
	char whole[PATH_MAX];
	if (by_contents) {
		print_contents(path, out);
		return;
	}
	scenario_print_text(realpath(path, whole) ? whole : path, out);
}

void scenario_print_name(const char *name, FILE *out)
{
	if (strchr(name, '/'))
		scenario_print_file(name, out);
	else
		scenario_print_text(name, out);
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

static void print_hosts(const struct scenario *scenario, FILE *out)
{
	fprintf(out, "hosts:\n");
	if (scenario->generated && scenario->topology.kind != TOPOLOGY_NET_FILE) {
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

/* Those values of a link that it says itself. */
static void print_given(const struct port_params *port, uint64_t given, int indent, FILE *out)
{
	const struct param *list = composite_of(COMPOSITE_LINK)->list;
	char text[128];
	for (unsigned i = 0; list && list[i].name; i++) {
		if ((given >> i & 1) == 0)
			continue;
		param_print(&list[i], port, text, sizeof(text));
		fprintf(out, "%*s%s: %s\n", indent, "", list[i].name, text);
	}
}

static void print_link(const struct scenario *scenario, const struct scenario_link *link, FILE *out)
{
	fprintf(out, "    - between: [%s, %s]\n", scenario_node_name(scenario, &link->ends[0]),
		scenario_node_name(scenario, &link->ends[1]));
	if (link->numbered)
		fprintf(out, "      ports: [%u, %u]\n", link->ports[0], link->ports[1]);
	print_given(link->port, link->given, 6, out);
}

/* One that a builder makes again of the same numbers. */
static void print_shape(const struct scenario *scenario, FILE *out)
{
	scenario_print_topology(scenario, out);
	fprintf(out, "  switch:\n");
	composite_print(COMPOSITE_SWITCH, scenario->every_switch.params, 4, out);
	if (scenario->every_link.given != 0) {
		fprintf(out, "  link:\n");
		print_given(scenario->every_link.port, scenario->every_link.given, 4, out);
	}
	if (scenario->link_rule_count > 0)
		fprintf(out, "  link_rules:\n");
	for (uint32_t i = 0; i < scenario->link_rule_count; i++) {
		const struct scenario_link_rule *rule = &scenario->link_rules[i];
		fprintf(out, "    - between: [");
		scenario_print_text(rule->ends[0], out);
		fprintf(out, ", ");
		scenario_print_text(rule->ends[1], out);
		fprintf(out, "]\n");
		print_given(rule->port, rule->given, 6, out);
	}
}

/* A topology by name, or from a file, as lists of switches and links. */
static void print_fabric(const struct scenario *scenario, FILE *out)
{
	fprintf(out, "fabric:\n");
	scenario_print_list(scenario_fabric_param_list, &scenario->fabric, 2, out);
	if (scenario->every_switch.params && scenario->topology.kind != TOPOLOGY_NET_FILE) {
		print_shape(scenario, out);
		scenario_print_vls(scenario, out);
		scenario_print_subnet(scenario, out);
		return;
	}
	fprintf(out, "  topology: links\n");
	if (scenario->switch_count > 0)
		fprintf(out, "  switches:\n");
	for (uint32_t i = 0; i < scenario->switch_count; i++) {
		fprintf(out, "    %s:\n", scenario->switches[i].name);
		composite_print(COMPOSITE_SWITCH, scenario->switches[i].params, 6, out);
	}
	if (scenario->link_count > 0)
		fprintf(out, "  links:\n");
	for (uint32_t i = 0; i < scenario->link_count; i++)
		print_link(scenario, &scenario->links[i], out);
	scenario_print_vls(scenario, out);
	scenario_print_subnet(scenario, out);
}

static void print_record(const struct scenario *scenario, FILE *out)
{
	fprintf(out, "record:\n");
	scenario_print_list(scenario_record_param_list, &scenario->record, 2, out);
	if (scenario->series_port_count > 0)
		fprintf(out, "  series_ports:\n");
	for (uint32_t i = 0; i < scenario->series_port_count; i++) {
		fprintf(out, "    - ");
		scenario_print_text(scenario->series_ports[i], out);
		fputc('\n', out);
	}
	if (scenario->trace_count > 0)
		fprintf(out, "  trace:\n");
	for (uint32_t i = 0; i < scenario->trace_count; i++) {
		fprintf(out, "    - ");
		scenario_print_text(scenario->traces[i], out);
		fputc('\n', out);
	}
}

static void print_programs(const struct scenario *scenario, FILE *out)
{
	if (scenario->program_count > 0)
		fprintf(out, "programs:\n");
	for (uint32_t i = 0; i < scenario->program_count; i++) {
		const struct scenario_program *program = &scenario->programs[i];
		struct scenario_start start = {.start = program->start};
		fprintf(out, "  - host: %s\n", scenario->hosts[program->host].name);
		scenario_print_list(scenario_program_param_list, &start, 4, out);
		fprintf(out, "    command: [");
		for (char **word = program->argv; *word; word++) {
			fprintf(out, "%s", word != program->argv ? ", " : "");
			scenario_print_text(*word, out);
		}
		fprintf(out, "]\n");
	}
}

void scenario_print(const struct scenario *scenario, FILE *out)
{
	fprintf(out, "# the effective configuration: all values, whatever preset or default they "
		     "came from\n");
	scenario_print_list(scenario_param_list, scenario, 0, out);
	fprintf(out, "cpu:\n");
	scenario_print_list(cpu_param_list, &scenario->cpu, 2, out);
	fprintf(out, "kernel:\n");
	scenario_print_list(kernel_param_list, &scenario->kernel, 2, out);
	fprintf(out, "session:\n");
	scenario_print_list(session_param_list, &scenario->session, 2, out);
	fprintf(out, "mpi:\n");
	scenario_print_list(mpi_param_list, &scenario->mpi, 2, out);
	scenario_print_hosts(&scenario->mpi_hosts, out);
	print_hosts(scenario, out);
	print_fabric(scenario, out);
	scenario_print_workload(scenario, out);
	scenario_print_load(scenario, out);
	scenario_print_faults(scenario, out);
	print_record(scenario, out);
	scenario_print_expectations(scenario, out);
	print_programs(scenario, out);
}

uint64_t scenario_hash(const struct scenario *scenario)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	if (!out)
		abort();
	by_contents = true;
	scenario_print(scenario, out);
	by_contents = false;
	fclose(out);
	uint64_t hash = hash_bytes(HASH_BASE, text, length);
	free(text);
	return hash;
}
