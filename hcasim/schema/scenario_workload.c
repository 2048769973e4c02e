/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_workload: the sections `workload`, `run` and `sweep`.
 *
 *     workload: {pattern: incast, bytes: 1MB, posting: {message: 64KB, outstanding_messages: 4}}
 *     run: {until: 100ms, warm_up: 50ms}
 *     sweep: {workload.offered_load: [0.2, 0.4], seed: {from: 1, to: 5, step: 1}, hosts.hca: [{pcie.lanes: 8, port.mtu: 1024B}]}
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hca/device/hca_params.h"
#include "hcasim/schema/endpoint_device.h"
#include "hcasim/schema/scenario_read.h"
#include "switch/switch_params.h"

#define POINTS_MAX 10000 /* of an axis */

/* clang-format off */
#define RUN_ROW(...) PARAM_ROW(struct scenario_run, __VA_ARGS__)
const struct param scenario_run_param_list[] = { RUN_PARAMS(RUN_ROW) {0} };
/* clang-format on */

char *scenario_file_path(const struct scenario *scenario, const char *name)
{
	const char *slash = strrchr(scenario->file, '/');
	int length = slash && *name != '/' ? (int)(slash - scenario->file) + 1 : 0;
	char *path = NULL;
	if (asprintf(&path, "%.*s%s", length, scenario->file, name) < 0)
		abort();
	return path;
}

static void read_posting(struct scenario_reader *reader, struct yaml_node *node)
{
	static const char *const others[] = {"posting", "trace", NULL};
	struct scenario *scenario = reader->scenario;
	scenario->has_workload = true;
	if (!yaml_expect_map(node, "a workload's pattern and numbers", reader->errors))
		return;
	yaml_override_params(node, workload_param_list, &scenario->workload, reader->errors);
	yaml_read_params(yaml_get(node, "posting"), flow_driver_param_list, &scenario->posting,
			 reader->errors);
	struct yaml_node *trace = yaml_get(node, "trace");
	const char *name = trace ? yaml_expect_text(trace, "a file's name", reader->errors) : NULL;
	if (name)
		scenario->trace_file = scenario_file_path(scenario, name);
	bool from_file = scenario->workload.pattern == PATTERN_trace ||
			 scenario->workload.pattern == PATTERN_goal;
	if (from_file != !!trace)
		yaml_error(reader->errors, node,
			   "pattern: trace or goal, and trace: FILE stand together or not at all");
	yaml_override_sections(node, load_host_sections, &scenario->workload_hosts, reader->errors);
	scenario_refuse_sections(reader, node, workload_param_list, load_host_sections, others);
}

static struct scenario_sweep_value *new_value(struct scenario_sweep_axis *axis)
{
	axis->values = realloc(axis->values, (axis->count + 1) * sizeof(*axis->values));
	if (!axis->values)
		abort();
	struct scenario_sweep_value *value = &axis->values[axis->count++];
	*value = (struct scenario_sweep_value){.sets = calloc(1, sizeof(*value->sets))};
	if (!value->sets)
		abort();
	return value;
}

static void add_set(struct scenario_sweep_value *value, const char *path, const char *text)
{
	size_t count = 0;
	while (value->sets[count])
		count++;
	value->sets = realloc(value->sets, (count + 2) * sizeof(*value->sets));
	if (!value->sets || asprintf(&value->sets[count], "%s=%s", path, text) < 0)
		abort();
	value->sets[count + 1] = NULL;
}

static void add_value(struct scenario_sweep_axis *axis, const char *text)
{
	struct scenario_sweep_value *value = new_value(axis);
	if (!(value->text = strdup(text)))
		abort();
	add_set(value, axis->path, text);
}

/* As one line of YAML. */
static void print_flow(const struct yaml_node *node, FILE *out)
{
	bool is_map = node->kind == YAML_MAP;
	if (node->kind == YAML_NULL)
		return;
	if (node->kind == YAML_SCALAR) {
		if (node->quoted)
			scenario_print_text(node->text, out);
		else
			fprintf(out, "%s", node->text);
		return;
	}
	fputc(is_map ? '{' : '[', out);
	for (const struct yaml_node *child = node->children; child; child = child->next) {
		if (child != node->children)
			fprintf(out, ", ");
		if (is_map)
			fprintf(out, "%s: ", child->key);
		print_flow(child, out);
	}
	fputc(is_map ? '}' : ']', out);
}

static char *flow_text(const struct yaml_node *node)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	if (!out)
		abort();
	print_flow(node, out);
	fclose(out);
	return text;
}

/* A map sets each of its keys below the path, and leaves the others as the file has them. */
static void add_sets(struct scenario_sweep_value *value, const char *path, struct yaml_node *node)
{
	node->used = true;
	if (node->kind != YAML_MAP) {
		char *text = flow_text(node);
		add_set(value, path, text);
		free(text);
		return;
	}
	for (struct yaml_node *child = node->children; child; child = child->next) {
		char *below;
		bool top = strcmp(path, ".") == 0;
		if (asprintf(&below, "%s%s%s", top ? "" : path, top ? "" : ".", child->key) < 0)
			abort();
		add_sets(value, below, child);
		free(below);
	}
}

/* {pcie.lanes: 8, pcie.generation: 3}: keys that vary together; or a list, as of `faults`. */
static void add_tree(struct scenario_sweep_axis *axis, struct yaml_node *node)
{
	struct scenario_sweep_value *value = new_value(axis);
	value->text = flow_text(node);
	add_sets(value, axis->path, node);
}

/* {from: 1, to: 16, step: 1} or {from: 1, to: 16, times: 2}: plain numbers. */
static void read_range(struct scenario_reader *reader, struct yaml_node *node,
		       struct scenario_sweep_axis *axis)
{
	static const char *const names[] = {"from", "to", "step", "times"};
	double values[4] = {0}, value;
	bool given[4] = {false};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct yaml_node *entry = yaml_get(node, names[i]);
		char *end;
		const char *text =
			entry ? yaml_expect_text(entry, "a number", reader->errors) : NULL;
		given[i] = text;
		if (!text)
			continue;
		values[i] = strtod(text, &end);
		if (*end != '\0' || end == text)
			yaml_error(reader->errors, entry, "\"%s\" is not a number", text);
	}
	yaml_refuse_unused(node, names, ARRAY_SIZE(names), reader->errors);
	bool adds = given[2] && values[2] > 0, multiplies = given[3] && values[3] > 1;
	if (!given[0] || !given[1] || adds == multiplies || values[0] > values[1] ||
	    (multiplies && values[0] <= 0)) {
		yaml_error(reader->errors, node,
			   "expected from and to, and either step above 0 or times above 1");
		return;
	}
	value = values[0];
	for (unsigned i = 0; value <= values[1] * (1 + 1e-12); i++) {
		char text[64];
		if (i == POINTS_MAX) {
			yaml_error(reader->errors, node, "more than %d values", POINTS_MAX);
			return;
		}
		snprintf(text, sizeof(text), "%.12g", value);
		add_value(axis, text);
		value = adds ? values[0] + (i + 1) * values[2] : value * values[3];
	}
}

static void read_axis(struct scenario_reader *reader, struct yaml_node *node)
{
	struct scenario *scenario = reader->scenario;
	struct scenario_sweep_axis *axis = &scenario->axes[scenario->axis_count++];
	axis->path = node->key;
	axis->line = node->key_line;
	axis->column = node->key_column;
	node->used = true;
	if (node->kind == YAML_MAP) {
		read_range(reader, node, axis);
		return;
	}
	if (!scenario_expect_list(reader, node, "values, or {from, to, step}"))
		return;
	for (struct yaml_node *value = node->children; value; value = value->next) {
		bool is_tree = value->kind == YAML_MAP || value->kind == YAML_LIST;
		if (is_tree) {
			add_tree(axis, value);
			continue;
		}
		const char *text =
			yaml_expect_text(value, "a value, or a map of keys", reader->errors);
		if (text && strcmp(axis->path, ".") == 0)
			yaml_error(reader->errors, value, "found %s; expected a map of keys", text);
		else if (text)
			add_value(axis, text);
	}
	if (axis->count == 0)
		yaml_error(reader->errors, node, "no values");
}

/* What an adapter of fidelity endpoint may not do where others are detailed: NULL, or what is expected. */
static const char *expected_beside_detailed(const struct scenario *scenario,
					    const struct endpoint_params *params)
{
	if (params->recovery != 0)
		return "recovery: go_back_n, as detailed adapters have it";
	if (params->cumulative_ack == 0)
		return "cumulative_ack: true, since ACKs of detailed adapters are for all that "
		       "came "
		       "before";
	if (scenario->has_workload && params->reads_max > scenario->workload_hosts.max_rd_atomic)
		return "reads_max of no more than workload.host.max_rd_atomic";
	return NULL;
}

static void check_fidelities(struct scenario_reader *reader, struct yaml_node *root)
{
	const struct scenario *scenario = reader->scenario;
	if (!scenario_has(scenario, FIDELITY_ENDPOINT) ||
	    !scenario_has(scenario, FIDELITY_DETAILED))
		return;
	for (uint32_t i = 0; i < scenario->host_count; i++) {
		const struct scenario_host *host = &scenario->hosts[i];
		const struct scenario_host *first = &scenario->hosts[0];
		const char *expected =
			host->endpoint
				? expected_beside_detailed(scenario, &host->endpoint->endpoint)
				: NULL;
		if (yaml_get(root, "programs") && !host->endpoint != !first->endpoint) {
			yaml_error(
				reader->errors, root,
				"%s and %s have HCAs of different fidelity; expected one for all "
				"beside programs",
				first->name, host->name);
			return;
		}
		if (!expected)
			continue;
		yaml_error(reader->errors, root,
			   "%s has an HCA of fidelity endpoint beside detailed ones; expected %s",
			   host->name, expected);
		return;
	}
}

void scenario_read_workload(struct scenario_reader *reader, struct yaml_node *root)
{
	struct scenario *scenario = reader->scenario;
	struct yaml_node *workload = yaml_get(root, "workload"), *sweep = yaml_get(root, "sweep");
	struct yaml_node *programs = yaml_get(root, "programs");
	params_default(workload_param_list, &scenario->workload);
	params_default(flow_driver_param_list, &scenario->posting);
	for (const struct param_section *section = load_host_sections; section->name; section++)
		params_default(section->list, (char *)&scenario->workload_hosts + section->offset);
	struct yaml_node *run = yaml_get(root, "run");
	yaml_read_params(run, scenario_run_param_list, &scenario->run, reader->errors);
	if (workload)
		read_posting(reader, workload);
	if (workload && programs)
		yaml_error_key(reader->errors, programs,
			       "programs stands beside workload; expected one of them");
	check_fidelities(reader, root);
	if (scenario->run.until != 0 && scenario->workload.start >= scenario->run.until)
		yaml_error(reader->errors, run, "run: until is not behind workload.start");
	if (scenario->workload.start > scenario->posting.start_deadline)
		yaml_error(reader->errors, workload,
			   "workload: posting.start_deadline is before start");
	if (scenario->run.until != 0 && scenario->run.warm_up >= scenario->run.until)
		yaml_error(reader->errors, run, "run: warm_up is not before until");
	if (scenario->run.measure_until != 0 &&
	    scenario->run.warm_up >= scenario->run.measure_until)
		yaml_error(reader->errors, run, "run: warm_up is not before measure_until");
	if (!sweep || !yaml_expect_map(sweep, "values by key path", reader->errors))
		return;
	scenario->axes =
		scenario_take_entries(sweep, sizeof(*scenario->axes), &scenario->axis_count);
	for (struct yaml_node *axis = sweep->children; axis; axis = axis->next)
		read_axis(reader, axis);
}

void scenario_print_hosts(const struct load_host_params *params, FILE *out)
{
	for (const struct param_section *section = load_host_sections; section->name; section++) {
		fprintf(out, "  %s:\n", section->name);
		scenario_print_list(section->list, (const char *)params + section->offset, 4, out);
	}
}

/* Without the sweep: what a run goes by. */
void scenario_print_workload(const struct scenario *scenario, FILE *out)
{
	if (!scenario->has_workload)
		return;
	fprintf(out, "workload:\n");
	scenario_print_list(workload_param_list, &scenario->workload, 2, out);
	if (scenario->trace_file) {
		fprintf(out, "  trace: ");
		scenario_print_file(scenario->trace_file, out);
		fputc('\n', out);
	}
	fprintf(out, "  posting:\n");
	scenario_print_list(flow_driver_param_list, &scenario->posting, 4, out);
	scenario_print_hosts(&scenario->workload_hosts, out);
	fprintf(out, "run:\n");
	scenario_print_list(scenario_run_param_list, &scenario->run, 2, out);
}

void scenario_free_workload(struct scenario *scenario)
{
	for (uint32_t i = 0; i < scenario->axis_count; i++) {
		for (uint32_t k = 0; k < scenario->axes[i].count; k++) {
			struct scenario_sweep_value *value = &scenario->axes[i].values[k];
			for (char **set = value->sets; *set; set++)
				free(*set);
			free(value->sets);
			free(value->text);
		}
		free(scenario->axes[i].values);
	}
	free(scenario->axes);
	free(scenario->trace_file);
}
