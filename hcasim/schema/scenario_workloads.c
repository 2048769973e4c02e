/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_workloads: the section `workloads`: several workloads side by side, by name. A workload
 * has the keys of `workload`, whose values in that section are its defaults, and:
 *
 *     workloads:
 *       storage: {hosts: ["host[0-3]"], pattern: incast, congestion: dcqcn-paper}
 *       backup:  {hosts: [host2, host5], start: 1ms, post_until: 3ms, posting: {service_level: 1}}
 *
 * Without the section there is one workload, without a name, of all hosts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hcasim/schema/congestion_key.h"
#include "hcasim/schema/endpoint_device.h"
#include "hcasim/schema/scenario_read.h"
#include "sim/hash.h"
#include "traffic/workload/flow_bins.h"

const struct param_section scenario_workload_sections[] = {
	{"posting", flow_driver_param_list, offsetof(struct scenario_workload, posting),
	 "how flows are posted"},
	{"storage", storage_param_list, offsetof(struct scenario_workload, storage.storage),
	 "pattern storage: protocol and sizes of operations"},
	{"device", storage_device_param_list, offsetof(struct scenario_workload, storage.device),
	 "pattern storage: storage device of a target"},
	{"operation_cpu", storage_cpu_param_list, offsetof(struct scenario_workload, storage.cpu),
	 "pattern storage: times of processor cores for an operation, a model of their cost"},
	{0}};

static void *take(size_t count, size_t bytes)
{
	void *memory = calloc(count + 1, bytes);
	if (!memory)
		abort();
	return memory;
}

/* ---- hosts ---- */

static void set_hosts(const struct scenario *scenario, struct scenario_workload *workload,
		      const bool *marks)
{
	workload->hosts = take(scenario->host_count, sizeof(*workload->hosts));
	workload->host_names = take(scenario->host_count, sizeof(*workload->host_names));
	for (uint32_t i = 0; i < scenario->host_count; i++) {
		if (marks && !marks[i])
			continue;
		workload->host_names[workload->host_count] = scenario->hosts[i].name;
		workload->hosts[workload->host_count++] = i;
	}
	workload->files.names = workload->host_names;
}

static void read_hosts(struct scenario_reader *reader, struct yaml_node *node,
		       struct scenario_workload *workload)
{
	bool *marks = take(reader->scenario->host_count, sizeof(*marks));
	bool good = node && scenario_hosts_mark(reader, node, marks);
	set_hosts(reader->scenario, workload, node ? marks : NULL);
	if (good && workload->host_count < 2)
		yaml_error(reader->errors, node,
			   "found %u host; a workload needs two hosts at least",
			   workload->host_count);
	free(marks);
}

/* ---- congestion control ---- */

static void check_congestion(struct scenario_reader *reader, const struct yaml_node *node,
			     const struct scenario_workload *workload)
{
	const struct scenario *scenario = reader->scenario;
	if (scenario->fabric.fidelity == FIDELITY_FLOW) {
		yaml_error(reader->errors, node,
			   "fidelity: flow has no congestion control; expected no congestion");
		return;
	}
	for (uint32_t i = 0; i < workload->host_count; i++) {
		const struct scenario_host *host = &scenario->hosts[workload->hosts[i]];
		bool tcp = scenario_host_has_tcp(host);
		if (host->endpoint && !tcp)
			continue;
		yaml_error(reader->errors, node,
			   "the adapter of %s %s; a workload's own congestion control needs "
			   "RDMA adapters of fidelity: endpoint; expected congestion in its hca",
			   host->name, tcp ? "sends with TCP" : "has fidelity: detailed");
		return;
	}
}

static void read_congestion(struct scenario_reader *reader, struct yaml_node *node,
			    struct scenario_workload *workload)
{
	if (!node)
		return;
	congestion_key_read(node, &workload->congestion, reader->errors);
	check_congestion(reader, node, workload);
}

/* ---- a workload ---- */

static bool is_name_valid(struct scenario_reader *reader, const struct yaml_node *node)
{
	static const char flow[] = "flow";
	const char *name = node->key, *digits = name + strlen(flow);
	if (!scenario_name_valid(name))
		yaml_error_key(reader->errors, node,
			       "the name of a workload is not valid; expected up to %d letters, "
			       "digits, - and _",
			       SCENARIO_NAME_BYTES);
	else if (strcmp(name, FLOW_BINS_ALL) == 0 || (strncmp(name, flow, strlen(flow)) == 0 &&
						      digits[strspn(digits, "0123456789")] == '\0'))
		yaml_error_key(reader->errors, node,
			       "%s has another meaning in results; expected another name", name);
	else
		return true;
	return false;
}

/* Reads the name of a file that goes with the values of another key. The section `workload` may
 * name it. */
static const char *read_file(struct scenario_reader *reader, struct yaml_node *node,
			     const char *key, bool wanted, const char *common, const char *rule)
{
	struct yaml_node *file = yaml_get(node, key);
	const char *name = file ? yaml_expect_text(file, "a file's name", reader->errors) : NULL;
	if (wanted ? !file && !common : !!file)
		yaml_error(reader->errors, file ? file : node, "%s", rule);
	if (name)
		return scenario_read_file_path(reader->scenario, name);
	return wanted && !file && common ? strdup(common) : NULL;
}

static void check_values(struct scenario_reader *reader, const struct yaml_node *node,
			 const struct scenario_workload *workload)
{
	const struct workload_params *params = &workload->params;
	const struct scenario *scenario = reader->scenario;
	if (params->start > workload->posting.start_deadline)
		yaml_error(reader->errors, node, "posting.start_deadline is before start");
	if (params->post_until != 0 && params->post_until <= params->start)
		yaml_error(reader->errors, node, "post_until is not after start");
	if (workload->posting.notification_latency != scenario->posting.notification_latency)
		yaml_error(reader->errors, node,
			   "notification_latency is one value for all workloads; expected it in "
			   "workload: {posting: {notification_latency: ..}}");
}

/* Refuses keys of `workload` that are of hosts, which several workloads may share. */
static void refuse_host_keys(struct scenario_reader *reader, struct yaml_node *node)
{
	static const char *const keys[] = {"host", "cpu"};
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		struct yaml_node *key = yaml_get(node, keys[i]);
		if (key)
			yaml_error_key(reader->errors, key,
				       "%s applies to all workloads of a host; expected workload: "
				       "{%s: ..}",
				       keys[i], keys[i]);
	}
}

static void read_one(struct scenario_reader *reader, struct yaml_node *node,
		     struct scenario_workload *workload)
{
	static const char *const keys[] = {"hosts",      "congestion", "trace", "cdf",
					   "initiators", "targets",    NULL};
	const struct scenario *scenario = reader->scenario;
	workload->name = node->key;
	workload->node = node;
	if (!is_name_valid(reader, node) ||
	    !yaml_expect_map(node, "the keys of a workload", reader->errors))
		return;
	unsigned before = reader->errors->count;
	yaml_override_params(node, workload_param_list, &workload->params, reader->errors);
	yaml_override_sections(node, scenario_workload_sections, workload, reader->errors);
	read_hosts(reader, yaml_get(node, "hosts"), workload);
	read_congestion(reader, yaml_get(node, "congestion"), workload);
	scenario_storage_read(reader, node, yaml_get(reader->root, "workload"), workload);
	workload->files.trace = read_file(
		reader, node, "trace", workload_is_from_file(&workload->params),
		scenario->workload_files.trace,
		"pattern: trace, goal or chakra requires trace: FILE, and no other pattern allows "
		"it");
	workload->files.cdf =
		read_file(reader, node, "cdf", workload->params.sizes == DISTRIBUTION_file,
			  scenario->workload_files.cdf,
			  "sizes: file requires cdf: FILE, and no other value of sizes allows it");
	refuse_host_keys(reader, node);
	scenario_refuse_sections(reader, node, workload_param_list, scenario_workload_sections,
				 keys);
	if (reader->errors->count == before)
		check_values(reader, node, workload);
}

static void set_defaults(const struct scenario *scenario, struct scenario_workload *workload)
{
	workload->params = scenario->workload;
	workload->posting = scenario->posting;
	workload->storage = scenario->storage;
}

/* Sets the only workload, which has the values of the section `workload`. */
static void read_single(struct scenario_reader *reader)
{
	struct scenario *scenario = reader->scenario;
	scenario->workloads = take(1, sizeof(*scenario->workloads));
	scenario->workload_count = scenario->has_workload;
	if (!scenario->has_workload)
		return;
	struct scenario_workload *workload = scenario->workloads;
	set_defaults(scenario, workload);
	set_hosts(scenario, workload, NULL);
	if (scenario->workload_files.trace)
		workload->files.trace = strdup(scenario->workload_files.trace);
	if (scenario->workload_files.cdf)
		workload->files.cdf = strdup(scenario->workload_files.cdf);
	scenario_storage_read(reader, yaml_get(reader->root, "workload"), NULL, workload);
}

const char *const *scenario_workloads_read(struct scenario_reader *reader, struct yaml_node *node)
{
	struct scenario *scenario = reader->scenario;
	if (!node ||
	    !yaml_expect_map(node, "workloads by name, each with its keys", reader->errors)) {
		read_single(reader);
		return NULL;
	}
	struct yaml_node *programs = yaml_get(reader->root, "programs");
	if (programs)
		yaml_error_key(reader->errors, programs,
			       "programs and workloads exclude each other; remove one");
	scenario->has_workload = scenario->has_workloads = true;
	scenario->workloads = scenario_take_entries(node, sizeof(*scenario->workloads),
						    &scenario->workload_count);
	for (struct yaml_node *entry = node->children; entry; entry = entry->next) {
		struct scenario_workload *workload =
			&scenario->workloads[scenario->workload_count++];
		entry->used = true;
		set_defaults(scenario, workload);
		read_one(reader, entry, workload);
	}
	if (scenario->workload_count == 0 || scenario->workload_count > WORKLOAD_PARTS_MAX)
		yaml_error(reader->errors, node, "found %u workloads; expected 1..%d",
			   scenario->workload_count, WORKLOAD_PARTS_MAX);
	return NULL;
}

/* Adding a workload does not change the random streams of the others. */
uint64_t scenario_workload_seed(const struct scenario *scenario,
				const struct scenario_workload *workload)
{
	return workload->name ? hash_bytes(hash_add(HASH_BEGIN, scenario->seed), workload->name,
					   strlen(workload->name))
			      : scenario->seed;
}

static void print_file(const char *key, const char *path, FILE *out)
{
	if (!path)
		return;
	fprintf(out, "    %s: ", key);
	scenario_print_file(path, out);
	fputc('\n', out);
}

static void print_storage(const struct scenario_workload *workload, FILE *out)
{
	scenario_storage_print_hosts(workload, 4, out);
	fputs("    storage:\n", out);
	scenario_print_list(storage_param_list, &workload->storage.storage, 6, out);
	fputs("    device:\n", out);
	scenario_print_list(storage_device_param_list, &workload->storage.device, 6, out);
	fputs("    operation_cpu:\n", out);
	scenario_print_list(storage_cpu_param_list, &workload->storage.cpu, 6, out);
}

void scenario_workloads_print(const struct scenario *scenario, FILE *out)
{
	for (uint32_t i = 0; i < scenario->workload_count; i++) {
		const struct scenario_workload *workload = &scenario->workloads[i];
		fprintf(out, "  %s:\n    hosts:\n", workload->name);
		for (uint32_t k = 0; k < workload->host_count; k++) {
			fputs("      - ", out);
			scenario_print_text(workload->host_names[k], out);
			fputc('\n', out);
		}
		scenario_print_list(workload_param_list, &workload->params, 4, out);
		print_file("trace", workload->files.trace, out);
		print_file("cdf", workload->files.cdf, out);
		if (workload->congestion.congestion.ops)
			congestion_key_print(&workload->congestion, 4, out);
		fputs("    posting:\n", out);
		scenario_print_list(flow_driver_param_list, &workload->posting, 6, out);
		if (workload->params.pattern == PATTERN_storage)
			print_storage(workload, out);
	}
}

void scenario_workloads_release(struct scenario *scenario)
{
	for (uint32_t i = 0; i < scenario->workload_count; i++) {
		struct scenario_workload *workload = &scenario->workloads[i];
		free((char *)workload->files.trace);
		free((char *)workload->files.cdf);
		free(workload->hosts);
		free(workload->host_names);
		scenario_storage_release(workload);
		congestion_choice_fini(&workload->congestion);
	}
	free(scenario->workloads);
}
