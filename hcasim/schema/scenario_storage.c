/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_storage: keys of a workload of pattern storage that name hosts, and checks of its
 * sections `storage`, `device` and `operation_cpu`.
 *
 *     workload:
 *       pattern: storage
 *       initiators: [host0, host1]
 *       targets: [host2]
 *       storage: {protocol: nvme_of, queue_depth: 32, block_sizes: [4KiB], read_fraction: 0.7}
 *
 * With `targets` alone, the initiators are all other hosts of the workload. With `initiators`
 * alone, the targets are all other hosts. With neither list, the only target is the host of
 * workload.target. storage_add() fills in the missing list.
 */
#include <stdlib.h>

#include "hcasim/schema/endpoint_device.h"
#include "hcasim/schema/scenario_read.h"

static void *take(size_t count, size_t bytes)
{
	void *memory = calloc(count + 1, bytes);
	if (!memory)
		abort();
	return memory;
}

/* Reads a list of hosts as numbers of the workload's hosts. */
static void read_list(struct scenario_reader *reader, const struct yaml_node *node,
		      const struct scenario_workload *workload, uint32_t **list, uint32_t *count)
{
	const struct scenario *scenario = reader->scenario;
	bool *marks = take(scenario->host_count, sizeof(*marks));
	if (scenario_hosts_mark(reader, node, marks)) {
		*list = take(workload->host_count, sizeof(**list));
		for (uint32_t i = 0; i < workload->host_count; i++) {
			if (marks[workload->hosts[i]])
				(*list)[(*count)++] = i;
			marks[workload->hosts[i]] = false;
		}
	}
	for (uint32_t i = 0; *list && i < scenario->host_count; i++) {
		if (marks[i])
			yaml_error(reader->errors, node,
				   "%s is not in the hosts of the workload; expected one of them",
				   scenario->hosts[i].name);
	}
	free(marks);
}

static bool sends_with(const struct scenario_host *host, enum endpoint_transport transport)
{
	return host->endpoint && host->endpoint->endpoint.transport == (uint64_t)transport;
}

static void check(struct scenario_reader *reader, struct yaml_node *node,
		  const struct scenario_workload *workload)
{
	if (workload->posting.message != 0)
		yaml_error(reader->errors, node,
			   "posting.message splits flows, but pattern storage needs the messages "
			   "of its protocol; expected posting: {message: 0B}");
}

void scenario_storage_read(struct scenario_reader *reader, struct yaml_node *node,
			   struct yaml_node *common, struct scenario_workload *workload)
{
	struct yaml_node *initiators = node ? yaml_get(node, "initiators") : NULL;
	struct yaml_node *targets = node ? yaml_get(node, "targets") : NULL;
	bool is_storage = workload->params.pattern == PATTERN_storage;
	if (!is_storage && (initiators || targets)) {
		yaml_error_key(reader->errors, initiators ? initiators : targets,
			       "initiators and targets belong to pattern: storage; expected this "
			       "pattern, or the key hosts");
		return;
	}
	if (!is_storage)
		return;
	if (common && !initiators)
		initiators = yaml_get(common, "initiators");
	if (common && !targets)
		targets = yaml_get(common, "targets");
	if (initiators)
		read_list(reader, initiators, workload, &workload->initiators,
			  &workload->operations.initiator_count);
	if (targets)
		read_list(reader, targets, workload, &workload->targets,
			  &workload->operations.target_count);
	check(reader, node, workload);
	workload->operations.params = &workload->storage.storage;
	workload->operations.device = &workload->storage.device;
	workload->operations.cpu = &workload->storage.cpu;
	workload->operations.initiators = workload->initiators;
	workload->operations.targets = workload->targets;
	const struct scenario_host *host = &reader->scenario->hosts[workload->hosts[0]];
	workload->operations.tcp = sends_with(host, ENDPOINT_TCP);
	workload->files.storage = &workload->operations;
}

bool scenario_has_storage(const struct scenario *scenario)
{
	for (uint32_t i = 0; i < scenario->workload_count; i++) {
		if (scenario->workloads[i].params.pattern == PATTERN_storage)
			return true;
	}
	return false;
}

static void print_list(const struct scenario_workload *workload, const char *key, int indent,
		       const uint32_t *hosts, uint32_t count, FILE *out)
{
	const char **names = take(count, sizeof(*names));
	for (uint32_t i = 0; i < count; i++)
		names[i] = workload->host_names[hosts[i]];
	scenario_print_texts(key, indent, names, count, out);
	free(names);
}

void scenario_storage_print_hosts(const struct scenario_workload *workload, int indent, FILE *out)
{
	print_list(workload, "initiators", indent, workload->initiators,
		   workload->operations.initiator_count, out);
	print_list(workload, "targets", indent, workload->targets,
		   workload->operations.target_count, out);
}

void scenario_storage_release(struct scenario_workload *workload)
{
	free(workload->initiators);
	free(workload->targets);
}
