/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_tcp: checks hosts that send with TCP (`transport: tcp` or `iwarp`), and adapters of
 * iWARP for programs (`device: {driver: siw}`). It refuses what they do not support.
 */
#include <string.h>

#include "hca/device/hca_params.h"
#include "hcasim/schema/endpoint_device.h"
#include "hcasim/schema/scenario_read.h"
#include "tcp/tcp.h"

static bool sends_with(const struct scenario_host *host, enum endpoint_transport transport)
{
	return host->endpoint && host->endpoint->endpoint.transport == (uint64_t)transport;
}

bool scenario_host_has_tcp(const struct scenario_host *host)
{
	return sends_with(host, ENDPOINT_TCP) || sends_with(host, ENDPOINT_IWARP);
}

/* Returns the first host that sends with TCP, or NULL. */
static const struct scenario_host *find_sender(const struct scenario *scenario)
{
	for (uint32_t i = 0; i < scenario->host_count; i++)
		if (scenario_host_has_tcp(&scenario->hosts[i]))
			return &scenario->hosts[i];
	return NULL;
}

bool scenario_has_tcp(const struct scenario *scenario)
{
	return find_sender(scenario);
}

static bool any_sends_with(const struct scenario *scenario, enum endpoint_transport transport)
{
	for (uint32_t i = 0; i < scenario->host_count; i++)
		if (sends_with(&scenario->hosts[i], transport))
			return true;
	return false;
}

bool scenario_has_plain_tcp(const struct scenario *scenario)
{
	return any_sends_with(scenario, ENDPOINT_TCP);
}

bool scenario_has_iwarp(const struct scenario *scenario)
{
	return any_sends_with(scenario, ENDPOINT_IWARP);
}

bool scenario_sends_rdma(const struct scenario *scenario)
{
	for (uint32_t i = 0; i < scenario->host_count; i++)
		if (!scenario_host_has_tcp(&scenario->hosts[i]))
			return true;
	return false;
}

static bool has_siw(const struct scenario_host *host)
{
	return host->detailed && host->detailed->device.driver == DRIVER_SIW;
}

bool scenario_has_siw(const struct scenario *scenario)
{
	for (uint32_t i = 0; i < scenario->host_count; i++)
		if (has_siw(&scenario->hosts[i]))
			return true;
	return false;
}

/* Returns the node with the line of `transport` or `driver`. */
static struct yaml_node *find_key(struct yaml_node *node, const char *key)
{
	for (struct yaml_node *child = node->children; child; child = child->next) {
		struct yaml_node *found = find_key(child, key);

		if (found)
			return found;
		if (child->kind == YAML_SCALAR && child->key && strcmp(child->key, key) == 0)
			return child;
	}
	return NULL;
}

static void refuse(struct scenario_reader *reader, struct yaml_node *node, const char *found,
		   const char *expected)
{
	yaml_error(reader->errors, node, "transport: %s does not support %s; expected %s",
		   scenario_has_plain_tcp(reader->scenario) ? "tcp" : "iwarp", found, expected);
}

/* Refuses marks to which the algorithm does not react. They would be negotiated and ignored. */
static void refuse_ecn(struct scenario_reader *reader, const struct scenario_host *host)
{
	struct yaml_node *hosts = yaml_get(reader->root, "hosts"), *node = find_key(hosts, "ecn");
	const struct congestion_ops *ops = host->endpoint->choice.congestion.ops;

	yaml_error(reader->errors, node ? node : hosts,
		   "%s: congestion: %s does not react to the marks of its ecn; expected %s",
		   host->name, ops->name,
		   ops->on_cnp                        ? "ecn: classic, auto or off"
		   : ops->lives_by & CONGESTION_MARKS ? "ecn: dctcp, auto or off"
						      : "ecn: auto or off");
}

static void check_congestion(struct scenario_reader *reader, struct yaml_node *node)
{
	const struct scenario *scenario = reader->scenario;

	for (uint32_t i = 0; i < scenario->host_count; i++) {
		const struct endpoint_device *device = scenario->hosts[i].endpoint;
		const struct congestion_ops *ops = device ? device->choice.congestion.ops : NULL;

		if (!ops || !scenario_host_has_tcp(&scenario->hosts[i]))
			continue;
		if (strcmp(ops->name, "none") == 0)
			refuse(reader, node, "congestion: none, which has no window",
			       "congestion: cubic, newreno or dctcp");
		else if (ops->lives_by & CONGESTION_TELEMETRY)
			refuse(reader, node, "congestion control that needs telemetry",
			       "congestion: cubic, newreno or dctcp");
		else if (!tcp_ecn_fits((const struct tcp_params *)&device->tcp,
				       &device->choice.congestion))
			refuse_ecn(reader, &scenario->hosts[i]);
		else
			continue;
		return;
	}
}

static bool has_handshake(const struct scenario *scenario)
{
	for (uint32_t i = 0; i < scenario->host_count; i++)
		if (scenario_host_has_tcp(&scenario->hosts[i]) &&
		    scenario->hosts[i].endpoint->tcp.handshake)
			return true;
	return false;
}

/* Returns true if a READ may be the first message of a connection. */
static bool begins_with_read(const struct scenario_workload *workload)
{
	return workload->params.operation == WORKLOAD_READ ||
	       (workload->params.pattern == PATTERN_storage &&
		workload->storage.storage.protocol == STORAGE_KV_ONE_SIDED);
}

static void check_operations(struct scenario_reader *reader, struct yaml_node *node)
{
	const struct scenario *scenario = reader->scenario;
	uint64_t last = scenario_has_plain_tcp(scenario) ? WORKLOAD_SEND : WORKLOAD_READ;

	if (!scenario->has_workload)
		refuse(reader, node, "a scenario without a workload", "workload: {...}");
	for (uint32_t i = 0; i < scenario->workload_count; i++) {
		const struct workload_params *workload = &scenario->workloads[i].params;

		if (workload->operation > last)
			refuse(reader, node,
			       last == WORKLOAD_READ ? "operation: atomic"
						     : "operations that fetch data",
			       last == WORKLOAD_READ ? "operation: write, send or read"
						     : "operation: write or send");
		else if (has_handshake(scenario) && begins_with_read(&scenario->workloads[i]))
			refuse(reader, node,
			       "handshake: true for flows whose receiver opens the connection",
			       "tcp: {handshake: false}, or an operation other than read");
		else if (workload_is_from_file(workload))
			refuse(reader, node, "flows from a file, which may read",
			       "another pattern");
		else
			continue;
		return;
	}
}

void scenario_tcp_check(struct scenario_reader *reader)
{
	const struct scenario *scenario = reader->scenario;
	struct yaml_node *hosts = yaml_get(reader->root, "hosts"), *node;

	if (reader->errors->count > 0 || !hosts || !find_sender(scenario))
		return;
	node = find_key(hosts, "transport");
	node = node ? node : hosts;
	if (scenario->fabric.link_layer == LINK_INFINIBAND)
		refuse(reader, node, "link_layer: infiniband", "fabric: {link_layer: roce}");
	if (scenario->fabric.fidelity == FIDELITY_FLOW)
		refuse(reader, node, "fabric.fidelity: flow", "fabric: {fidelity: packet}");
	if (scenario_has(scenario, FIDELITY_DETAILED))
		refuse(reader, node, "adapters of fidelity detailed", "fidelity: endpoint");
	check_congestion(reader, node);
	check_operations(reader, node);
}

void scenario_tcp_check_siw(struct scenario_reader *reader)
{
	const struct scenario *scenario = reader->scenario;
	struct yaml_node *hosts = yaml_get(reader->root, "hosts"), *node;

	if (reader->errors->count > 0 || !hosts || !scenario_has_siw(scenario))
		return;
	node = find_key(hosts, "driver");
	node = node ? node : hosts;
	if (scenario->fabric.link_layer == LINK_INFINIBAND)
		yaml_error(reader->errors, node,
			   "driver: siw needs Ethernet; expected fabric: {link_layer: roce}");
	if (scenario->has_workload || scenario->has_load)
		yaml_error(reader->errors, node,
			   "driver: siw is for programs; expected no workload and no load, or "
			   "hca: {fidelity: endpoint, transport: iwarp}");
	for (uint32_t i = 0; i < scenario->host_count; i++)
		if (!has_siw(&scenario->hosts[i])) {
			yaml_error(reader->errors, node,
				   "the adapter of %s has another driver; expected driver: siw at "
				   "all hosts",
				   scenario->hosts[i].name);
			return;
		}
}
