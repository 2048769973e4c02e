/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_workload: the sections `workload` and `run`.
 *
 *     workload: {pattern: incast, bytes: 1MB, posting: {message: 64KB, outstanding_messages: 4}}
 *     run: {until: 100ms, warm_up: 50ms}
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hca/device/hca_params.h"
#include "hcasim/schema/endpoint_device.h"
#include "hcasim/schema/scenario_read.h"
#include "switch/switch_params.h"
#include "traffic/workload/distribution.h"

char *scenario_read_file_path(const struct scenario *scenario, const char *name)
{
	const char *slash = strrchr(scenario->file, '/');
	int length = slash && *name != '/' ? (int)(slash - scenario->file) + 1 : 0;
	char *path = NULL;
	if (asprintf(&path, "%.*s%s", length, scenario->file, name) < 0)
		abort();
	return path;
}

/* Reads the name of a file that some values of another key require, and that its other values
 * exclude. */
static const char *read_file_name(struct scenario_reader *reader, struct yaml_node *node,
				  const char *key, bool wanted, const char *rule)
{
	struct yaml_node *file = yaml_get(node, key);
	const char *name = file ? yaml_expect_text(file, "a file's name", reader->errors) : NULL;
	if (wanted != !!file)
		yaml_error(reader->errors, file ? file : node, "%s", rule);
	return name ? scenario_read_file_path(reader->scenario, name) : NULL;
}

const char *const *scenario_workload_read(struct scenario_reader *reader, struct yaml_node *node)
{
	static const char *const keys[] = {"trace", "cdf", "initiators", "targets", NULL};
	struct scenario *scenario = reader->scenario;
	const struct workload_params *params = &scenario->workload;
	scenario->has_workload = node != NULL;
	if (!node || node->kind != YAML_MAP)
		return keys;
	yaml_get(node, "initiators"); /* scenario_storage.c reads both */
	yaml_get(node, "targets");
	scenario->workload_files.trace = read_file_name(
		reader, node, "trace", workload_is_from_file(params),
		"pattern: trace, goal or chakra requires trace: FILE, and no other pattern allows "
		"it");
	scenario->workload_files.cdf =
		read_file_name(reader, node, "cdf", params->sizes == DISTRIBUTION_file,
			       "sizes: file requires cdf: FILE, and no other value of sizes allows "
			       "it");
	return keys;
}

/* Returns the expected setting of an adapter of fidelity endpoint whose value is not supported
 * beside detailed adapters, or NULL. */
static const char *expected_beside_detailed(const struct scenario *scenario,
					    const struct endpoint_params *params)
{
	if (params->recovery != 0)
		return "recovery: go_back_n, as detailed adapters use it";
	if (params->cumulative_ack == 0)
		return "cumulative_ack: true, because ACKs of detailed adapters are cumulative";
	if (scenario->has_workload &&
	    params->max_rd_atomic > scenario->workload_hosts.max_rd_atomic)
		return "max_rd_atomic of no more than workload.host.max_rd_atomic";
	return NULL;
}

void scenario_workload_check_fidelities(struct scenario_reader *reader)
{
	struct yaml_node *root = reader->root;
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
			yaml_error(reader->errors, root,
				   "%s and %s have HCAs of different fidelity; programs need one "
				   "fidelity for all hosts",
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

void scenario_workload_check(struct scenario_reader *reader, struct yaml_node *node)
{
	const struct scenario *scenario = reader->scenario;
	struct yaml_node *programs = yaml_get(reader->root, "programs");
	if (programs)
		yaml_error_key(reader->errors, programs,
			       "programs and workload exclude each other; remove one");
	if (scenario->workload.start > scenario->posting.start_deadline)
		yaml_error(reader->errors, node,
			   "workload: posting.start_deadline is before start");
	if (scenario->workload.post_until != 0 &&
	    scenario->workload.post_until <= scenario->workload.start)
		yaml_error(reader->errors, node, "workload: post_until is not after start");
}

void scenario_workload_check_run(struct scenario_reader *reader, struct yaml_node *node)
{
	const struct scenario *scenario = reader->scenario;
	const struct scenario_run *run = &scenario->run;
	for (uint32_t i = 0; run->until != 0 && i < scenario->workload_count; i++) {
		const struct scenario_workload *workload = &scenario->workloads[i];
		if (workload->params.start < run->until)
			continue;
		yaml_error(reader->errors, node, "run: until is not after %s%s.start",
			   workload->name ? "workloads." : "workload",
			   workload->name ? workload->name : "");
	}
	if (run->until != 0 && run->warm_up >= run->until)
		yaml_error(reader->errors, node, "run: warm_up is not before until");
	for (uint32_t i = 1; i < run->bins.count; i++) {
		if (run->bins.bytes[i - 1] >= run->bins.bytes[i]) {
			yaml_error(
				reader->errors, yaml_get(node, "bins"),
				"limits of bins do not ascend; expected for example [10KB, 100KB]");
			break;
		}
	}
	if (run->measure_until != 0 && run->warm_up >= run->measure_until)
		yaml_error(reader->errors, node, "run: warm_up is not before measure_until");
}

static void print_file_name(const char *key, const char *path, FILE *out)
{
	if (!path)
		return;
	fprintf(out, "  %s: ", key);
	scenario_print_file(path, out);
	fputc('\n', out);
}

void scenario_workload_print(const struct scenario *scenario, FILE *out)
{
	print_file_name("trace", scenario->workload_files.trace, out);
	print_file_name("cdf", scenario->workload_files.cdf, out);
	if (!scenario->has_workloads && scenario->workload_count == 1)
		scenario_storage_print_hosts(&scenario->workloads[0], 2, out);
}

void scenario_workload_release(struct scenario *scenario)
{
	free((char *)scenario->workload_files.trace);
	free((char *)scenario->workload_files.cdf);
}
