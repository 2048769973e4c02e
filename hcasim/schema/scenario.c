/* SPDX-License-Identifier: Apache-2.0 */
/* scenario: reads a scenario from its top to its end, and notes every problem, so that a run shows all of them. */
#include "hcasim/schema/scenario.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "hca/device/hca_params.h"
#include "hcasim/schema/endpoint_device.h"
#include "hcasim/schema/modules.h"
#include "hcasim/schema/preset.h"
#include "hcasim/schema/scenario_read.h"

#define KEYS_MAX        64
#define HOST_NAME_BYTES 31    /* struct endpoint has room for so many */
#define HOSTS_MAX       62500 /* addresses from 127.77.0.1 on */

/* clang-format off */
#define SCENARIO_ROW(...) PARAM_ROW(struct scenario, __VA_ARGS__)
const struct param scenario_param_list[] = { SCENARIO_PARAMS(SCENARIO_ROW) {0} };
#define FABRIC_ROW(...) PARAM_ROW(struct scenario_fabric, __VA_ARGS__)
const struct param scenario_fabric_param_list[] = { FABRIC_PARAMS(FABRIC_ROW) {0} };
#define RECORD_ROW(...) PARAM_ROW(struct scenario_record, __VA_ARGS__)
const struct param scenario_record_param_list[] = { RECORD_PARAMS(RECORD_ROW) {0} };
#define PROGRAM_ROW(...) PARAM_ROW(struct scenario_start, __VA_ARGS__)
const struct param scenario_program_param_list[] = { PROGRAM_PARAMS(PROGRAM_ROW) {0} };

const struct scenario_section scenario_sections[] = {
	{"scenario", scenario_param_list,         "the top of a scenario file"},
	{"cpu",      cpu_param_list,              "what the CPUs of all hosts take for what a program does"},
	{"kernel",   kernel_param_list,           "what the operating systems of all hosts take, and say of their adapter"},
	{"session",  session_param_list,          "how programs are run; changes no result but by `limit`"},
	{"mpi",      mpi_param_list,              "what the MPI library of programs takes (hcasim mpi)"},
	{"mpi.host", load_host_param_list,        "what hosts of detailed adapters ask of them for MPI programs"},
	{"mpi.cpu",  load_cpu_param_list,         "what calls cost the core of a host with a detailed adapter"},
	{"fabric",   scenario_fabric_param_list,  "what joins the hosts"},
	{"fabric.topology", scenario_topology_param_list, "the numbers of a topology"},
	{"workload", workload_param_list,         "who sends what to whom; with `trace` for a file"},
	{"workload.posting", flow_driver_param_list,      "how flows are posted"},
	{"workload.host", load_host_param_list,   "what hosts of detailed adapters ask of them"},
	{"workload.cpu", load_cpu_param_list,     "what calls cost the core of a host with a detailed adapter"},
	{"load",     load_param_list,             "work requests that processor cores post to detailed HCAs, without programs"},
	{"load.cpu", load_cpu_param_list,         "what its calls cost a processor core"},
	{"load.background", load_background_param_list,     "other cores, with work of their own, on the same adapters"},
	{"load.server", load_server_param_list,   "cores of the first host that respond to what the others post (docs/explanation/verbs-load.md)"},
	{"run",      scenario_run_param_list,     "how long a workload runs, and what fails it"},
	{"faults",   scenario_fault_place_list,   "one fault of the list, with `from`, `to` and one action"},
	{"faults.packets", scenario_fault_choice_list,
	 "drop, corrupt_icrc, corrupt_vcrc, delay, reorder: which packets; with `opcode`"},
	{"faults.packets.burst", scenario_fault_burst_list, "a channel that is good or bad, packet by packet (Gilbert-Elliott)"},
	{"faults.ports", scenario_fault_repeat_list, "link_down, pause_storm, slow_receiver: how much, how often; with `priorities`"},
	{"faults.time", scenario_fault_time_list, "of all actions: from when, how long"},
	{"faults.when", scenario_fault_condition_list, "of all actions: not before a `counter` has reached a number"},
	{"record",   scenario_record_param_list,  "what the result folder holds"},
	{"programs", scenario_program_param_list, "one program of the list, with `host` and `command`"},
	{0}};
/* clang-format on */

static void read_hosts(struct scenario_reader *reader, struct yaml_node *node);
static void read_record(struct scenario_reader *reader, struct yaml_node *node);
static void read_programs(struct scenario_reader *reader, struct yaml_node *node);
static void read_scenario(struct scenario_reader *reader, struct yaml_node *root);

struct scenario *scenario_read(const char *file, const char *const *overrides, size_t count,
			       struct yaml_errors *errors)
{
	struct yaml_document *document = yaml_read_file(file, errors);
	unsigned before = errors->count;
	if (!document)
		return NULL;
	struct scenario *scenario = calloc(1, sizeof(*scenario));
	if (!scenario)
		abort();
	scenario->document = document;
	scenario->file = yaml_root(document)->file;
	for (size_t i = 0; i < count; i++)
		yaml_set(document, overrides[i], errors);
	if (errors->count == before)
		read_scenario(&(struct scenario_reader){scenario, errors, false},
			      yaml_root(document));
	if (errors->count == before)
		return scenario;
	scenario_destroy(scenario);
	return NULL;
}

static void read_mpi(struct scenario_reader *reader, struct yaml_node *node)
{
	struct scenario *scenario = reader->scenario;
	params_default(mpi_param_list, &scenario->mpi);
	for (const struct param_section *section = load_host_sections; section->name; section++)
		params_default(section->list, (char *)&scenario->mpi_hosts + section->offset);
	if (!node || !yaml_expect_map(node, "what MPI takes", reader->errors))
		return;
	yaml_override_params(node, mpi_param_list, &scenario->mpi, reader->errors);
	yaml_override_sections(node, load_host_sections, &scenario->mpi_hosts, reader->errors);
	scenario_refuse_sections(reader, node, mpi_param_list, load_host_sections, NULL);
}

static void read_scenario(struct scenario_reader *reader, struct yaml_node *root)
{
	struct scenario *scenario = reader->scenario;
	static const char *const keys[] = {"hosts",  "fabric",   "faults",   "record",
					   "expect", "programs", "workload", "load",
					   "run",    "sweep",    NULL};
	params_default(scenario_param_list, scenario);
	if (!yaml_expect_map(root, "a scenario", reader->errors))
		return;
	yaml_override_params(root, scenario_param_list, scenario, reader->errors);
	yaml_read_params(yaml_get(root, "cpu"), cpu_param_list, &scenario->cpu, reader->errors);
	yaml_read_params(yaml_get(root, "kernel"), kernel_param_list, &scenario->kernel,
			 reader->errors);
	yaml_read_params(yaml_get(root, "session"), session_param_list, &scenario->session,
			 reader->errors);
	read_mpi(reader, yaml_get(root, "mpi"));
	struct yaml_node *hosts = yaml_get(root, "hosts"), *fabric = yaml_get(root, "fabric");
	unsigned before = reader->errors->count;
	if (fabric)
		scenario_read_topology(reader, fabric);
	reader->no_topology = reader->errors->count != before;
	if (hosts)
		read_hosts(reader, hosts);
	else
		yaml_error(reader->errors, root,
			   "no hosts; expected hosts: {host0: {hca: ...}, ...}");
	if (fabric)
		scenario_read_fabric(reader, fabric);
	else
		yaml_error(reader->errors, root,
			   "no fabric; expected fabric: {topology: single-switch, ...}");
	scenario_read_faults(reader, yaml_get(root, "faults"));
	read_record(reader, yaml_get(root, "record"));
	scenario_read_workload(reader, root);
	scenario_read_load(reader, root);
	scenario_read_expectations(reader, yaml_get(root, "expect"));
	read_programs(reader, yaml_get(root, "programs"));
	scenario_refuse_unused(reader, root, scenario_param_list, keys);
	scenario_check_flow(reader, root);
	scenario_check_congestion(reader, root);
	scenario_check_effects(reader, root);
}

void scenario_refuse_unused(struct scenario_reader *reader, const struct yaml_node *map,
			    const struct param *list, const char *const *others)
{
	scenario_refuse_sections(reader, map, list, NULL, others);
}

void scenario_refuse_sections(struct scenario_reader *reader, const struct yaml_node *map,
			      const struct param *list, const struct param_section *sections,
			      const char *const *others)
{
	const char *known[KEYS_MAX];
	size_t count = 0;
	for (; list && list->name; list++)
		known[count++] = list->name;
	for (; sections && sections->name; sections++)
		known[count++] = sections->name;
	for (; others && *others; others++)
		known[count++] = *others;
	assert(count <= KEYS_MAX);
	yaml_refuse_unused(map, known, count, reader->errors);
}

void *scenario_take_entries(const struct yaml_node *node, size_t element_bytes, uint32_t *count)
{
	size_t entries = 0;
	for (const struct yaml_node *child = node->children; child; child = child->next)
		entries++;
	void *elements = calloc(entries > 0 ? entries : 1, element_bytes);
	if (!elements)
		abort();
	*count = 0;
	return elements;
}

bool scenario_name_valid(const char *name)
{
	size_t length = strlen(name);
	return length > 0 && length <= HOST_NAME_BYTES &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") ==
		       length;
}

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
			   "\"%s\" is not of this machine's loop-back network; expected 127.x.x.x",
			   text);
		return;
	}
	for (uint32_t i = 0; i + 1 < scenario->host_count; i++) {
		if (text && memcmp(scenario->hosts[i].ipv4, ipv4, 4) == 0)
			yaml_error(reader->errors, node, "\"%s\" is the address of %s already",
				   text, scenario->hosts[i].name);
	}
}

/* A preset or a map; of which fidelity, the map says. */
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

/* `hca:` and `host:` of a map: the adapter, and the host that it is in. */
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
		scenario_read_slot(reader, hca, slot, host->detailed);
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
			       "\"%s\" cannot be a host's name; expected letters, digits, - and _, "
			       "at most %d",
			       node->key, HOST_NAME_BYTES);
	read_adapter(reader, node, host);
	if (node->kind == YAML_NULL ||
	    !yaml_expect_map(node, "a host's hca, host and address", reader->errors))
		return;
	struct yaml_node *address = yaml_get(node, "address");
	if (address)
		read_address(reader, address, host->ipv4);
	scenario_refuse_unused(reader, node, NULL, keys);
}

/* except: {host3: {hca: ..., host: ...}}: of those that are there */
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
				   "host stands alone; expected hca beside it, which it changes");
			continue;
		}
		host->alike = false;
		host->detailed = NULL;
		host->endpoint = NULL;
		read_adapter(reader, node, host);
	}
}

/* {count: 128, hca: ..., host: ...}: hosts that are all alike; count 0: as many as the topology has. */
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
		yaml_error(reader->errors, node, "the topology has %u hosts; expected %d or less",
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

static void read_hosts(struct scenario_reader *reader, struct yaml_node *node)
{
	struct scenario *scenario = reader->scenario;
	if (!yaml_expect_map(node, "hosts by name", reader->errors))
		return;
	for (struct yaml_node *entry = node->children; entry; entry = entry->next) {
		if (strcmp(entry->key, "count") == 0 && entry->kind == YAML_SCALAR) {
			generate_hosts(reader, node);
			return;
		}
	}
	size_t entries = 0;
	for (struct yaml_node *host = node->children; host; host = host->next)
		entries++;
	if (entries > HOSTS_MAX) {
		yaml_error(reader->errors, node, "%zu hosts; expected %d at most", entries,
			   HOSTS_MAX);
		return;
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
}

/* false, and an error, if it is no list. */
bool scenario_expect_list(struct scenario_reader *reader, const struct yaml_node *node,
			  const char *what)
{
	if (node->kind == YAML_LIST)
		return true;
	yaml_error(reader->errors, node, "found %s; expected a list of %s",
		   yaml_kind_name(node->kind), what);
	return false;
}

static void read_record(struct scenario_reader *reader, struct yaml_node *node)
{
	static const char *const keys[] = {"trace", "series_ports", NULL};
	struct scenario *scenario = reader->scenario;
	params_default(scenario_record_param_list, &scenario->record);
	if (!node || !yaml_expect_map(node, "what to record", reader->errors))
		return;
	yaml_override_params(node, scenario_record_param_list, &scenario->record, reader->errors);
	struct yaml_node *trace = yaml_get(node, "trace");
	if (trace && scenario_expect_list(reader, trace, "block names")) {
		scenario->traces = scenario_take_entries(trace, sizeof(*scenario->traces),
							 &scenario->trace_count);
		for (struct yaml_node *name = trace->children; name; name = name->next) {
			const char *text = yaml_expect_text(name, "a block's name, as host0.hca.*",
							    reader->errors);
			if (text)
				scenario->traces[scenario->trace_count++] = text;
		}
	}
	struct yaml_node *ports = yaml_get(node, "series_ports");
	if (ports && scenario_expect_list(reader, ports, "port names")) {
		scenario->series_ports = scenario_take_entries(
			ports, sizeof(*scenario->series_ports), &scenario->series_port_count);
		for (struct yaml_node *name = ports->children; name; name = name->next) {
			const char *text = yaml_expect_text(name, "a port's name, as switch0.port*",
							    reader->errors);
			if (text)
				scenario->series_ports[scenario->series_port_count++] = text;
		}
	}
	scenario_refuse_unused(reader, node, scenario_record_param_list, keys);
}

static void read_program_host(struct scenario_reader *reader, struct yaml_node *map, uint32_t *host)
{
	struct yaml_node *node = yaml_get(map, "host");
	const char *name = node ? yaml_expect_text(node, "a host's name", reader->errors) : NULL;
	*host = NO_HOST;
	if (!node)
		yaml_error(reader->errors, map, "no host; expected host: and the name of one");
	if (!name)
		return;
	*host = scenario_find_host(reader->scenario, name);
	const char *near = scenario_suggest_host(reader->scenario, name);
	if (*host == NO_HOST && near)
		yaml_error(reader->errors, node, "no host \"%s\"; did you mean \"%s\"?", name,
			   near);
	else if (*host == NO_HOST)
		yaml_error(reader->errors, node, "no host \"%s\"", name);
	else if (!reader->scenario->hosts[*host].detailed)
		yaml_error(reader->errors, node,
			   "%s has an HCA of fidelity endpoint, which no "
			   "program can use",
			   name);
}

static void read_program(struct scenario_reader *reader, struct yaml_node *node)
{
	static const char *const keys[] = {"host", "command", NULL};
	struct scenario *scenario = reader->scenario;
	struct scenario_program *program = &scenario->programs[scenario->program_count++];
	struct scenario_start start;
	params_default(scenario_program_param_list, &start);
	if (!yaml_expect_map(node, "a program's host and command", reader->errors))
		return;
	read_program_host(reader, node, &program->host);
	yaml_override_params(node, scenario_program_param_list, &start, reader->errors);
	program->start = start.start;
	struct yaml_node *command = yaml_get(node, "command");
	if (!command) {
		yaml_error(reader->errors, node,
			   "no command; expected command: [program, argument ...]");
	} else if (scenario_expect_list(reader, command, "a program and its arguments")) {
		uint32_t count = 0, entries = 0;
		for (struct yaml_node *word = command->children; word; word = word->next)
			entries++;
		program->argv = calloc(entries + 1, sizeof(*program->argv));
		if (!program->argv)
			abort();
		for (struct yaml_node *word = command->children; word; word = word->next) {
			const char *text = yaml_expect_text(word, "an argument", reader->errors);
			program->argv[count++] = strdup(text ? text : "");
		}
		if (entries == 0)
			yaml_error(reader->errors, command,
				   "the command is empty; expected [PROGRAM, ARGUMENT, ...]");
	}
	scenario_refuse_unused(reader, node, scenario_program_param_list, keys);
}

static void read_programs(struct scenario_reader *reader, struct yaml_node *node)
{
	struct scenario *scenario = reader->scenario;
	if (!node || !scenario_expect_list(reader, node, "programs"))
		return;
	scenario->programs =
		scenario_take_entries(node, sizeof(*scenario->programs), &scenario->program_count);
	for (struct yaml_node *program = node->children; program; program = program->next)
		read_program(reader, program);
}

const char *scenario_node_name(const struct scenario *scenario, const struct scenario_node *node)
{
	return node->is_switch ? scenario->switches[node->number].name
			       : scenario->hosts[node->number].name;
}

uint32_t scenario_find_host(const struct scenario *scenario, const char *name)
{
	for (uint32_t i = 0; i < scenario->host_count; i++) {
		if (strcmp(scenario->hosts[i].name, name) == 0)
			return i;
	}
	return NO_HOST;
}

const char *scenario_suggest_host(const struct scenario *scenario, const char *name)
{
	const char **names = calloc(scenario->host_count + 1, sizeof(*names));
	if (!names)
		abort();
	for (uint32_t i = 0; i < scenario->host_count; i++)
		names[i] = scenario->hosts[i].name;
	const char *near = yaml_suggest(name, names, scenario->host_count);
	free(names);
	return near;
}

bool scenario_has(const struct scenario *scenario, enum adapter_fidelity fidelity)
{
	for (uint32_t i = 0; i < scenario->host_count; i++) {
		const struct scenario_host *host = &scenario->hosts[i];
		if (fidelity == FIDELITY_ENDPOINT ? !!host->endpoint : !!host->detailed)
			return true;
	}
	return false;
}

static void free_adapter(const struct scenario_host *host)
{
	if (host->detailed)
		congestion_choice_fini(&host->detailed->congestion);
	free(host->detailed);
	endpoint_device_destroy(host->endpoint);
}

void scenario_destroy(struct scenario *scenario)
{
	if (!scenario)
		return;
	for (uint32_t i = 0; i < scenario->host_count; i++) {
		if (!scenario->hosts[i].alike)
			free_adapter(&scenario->hosts[i]);
	}
	free_adapter(&scenario->every_host);
	yaml_errors_free(&scenario->warnings);
	for (uint32_t i = 0; i < scenario->link_rule_count; i++)
		free(scenario->link_rules[i].port);
	free(scenario->link_rules);
	free(scenario->every_switch.params);
	free(scenario->every_link.port);
	free(scenario->host_names);
	free(scenario->series_ports);
	layout_fini(&scenario->layout);
	scenario_free_workload(scenario);
	scenario_free_vls(scenario);
	scenario_free_subnet(scenario);
	for (uint32_t i = 0; i < scenario->switch_count; i++)
		free(scenario->switches[i].params);
	for (uint32_t i = 0; i < scenario->link_count; i++)
		free(scenario->links[i].port);
	for (uint32_t i = 0; i < scenario->program_count; i++) {
		for (char **word = scenario->programs[i].argv; word && *word; word++)
			free(*word);
		free(scenario->programs[i].argv);
	}
	free(scenario->hosts);
	free(scenario->switches);
	free(scenario->links);
	free(scenario->faults);
	free(scenario->programs);
	free(scenario->expectations);
	free(scenario->traces);
	yaml_close(scenario->document);
	free(scenario);
}
