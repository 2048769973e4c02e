/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_congestion: congestion control that would never hear of congestion: the marks, the telemetry or the ACKs by
 * which it lives do not exist. It would run as if there were none, so that is an error. A scenario that means it says
 * so: `mark: off` or `threshold: 0` of a switch, `notify: none` of an HCA.
 */
#include <string.h>

#include "fabric/fault.h"
#include "hca/device/hca_params.h"
#include "hcasim/schema/endpoint_device.h"
#include "hcasim/schema/scenario_read.h"
#include "switch/switch_params.h"

static const struct congestion_ops *ops_of(const struct scenario_host *host)
{
	return host->endpoint ? host->endpoint->choice.congestion.ops
			      : host->detailed->congestion.congestion.ops;
}

/* notify: none, which no default is: its packets are not to be marked. */
static bool wants_no_marks(const struct scenario_host *host)
{
	return host->endpoint ? host->endpoint->endpoint.notify == NOTIFY_NONE
			      : host->detailed->notification.notify == NOTIFICATION_NONE;
}

/* Returns the first host whose algorithm cannot do without the signal. NULL: none. */
static const struct scenario_host *find(const struct scenario *scenario, uint32_t signal)
{
	for (uint32_t i = 0; i < scenario->host_count; i++) {
		const struct scenario_host *host = &scenario->hosts[i];
		const struct congestion_ops *ops = ops_of(host);
		if (!ops || !(ops->lives_by & signal))
			continue;
		if (signal == CONGESTION_MARKS && wants_no_marks(host))
			continue;
		return host;
	}
	return NULL;
}

static bool marks(const struct scenario *scenario, const struct switch_params *sw)
{
	if (scenario->fabric.link_layer == LINK_INFINIBAND)
		return sw->fecn.threshold != 0;
	return sw->ecn.mark != ECN_MARK_OFF && sw->ecn.priorities != 0;
}

static bool is_marked(const struct scenario *scenario)
{
	for (uint32_t i = 0; i < scenario->switch_count; i++)
		if (marks(scenario, scenario->switches[i].params))
			return true;
	for (uint32_t i = 0; i < scenario->fault_count; i++)
		if (!scenario->faults[i].of_ports && scenario->faults[i].action == FAULT_mark)
			return true;
	return false;
}

static bool gathers(const struct scenario *scenario)
{
	for (uint32_t i = 0; i < scenario->switch_count; i++)
		if (scenario->switches[i].params->telemetry)
			return true;
	return false;
}

/* Does the switch have that value in the scenario itself? */
static bool says(struct yaml_node *sw, const char *group, const char *key, const char *value)
{
	struct yaml_node *map = sw->kind == YAML_MAP ? yaml_get(sw, group) : NULL;
	struct yaml_node *node = map && map->kind == YAML_MAP ? yaml_get(map, key) : NULL;
	return node && node->kind == YAML_SCALAR && strcmp(node->text, value) == 0;
}

static bool means_no_marks(const struct scenario *scenario, struct yaml_node *fabric)
{
	bool infiniband = scenario->fabric.link_layer == LINK_INFINIBAND;
	const char *group = infiniband ? "fecn" : "ecn", *key = infiniband ? "threshold" : "mark";
	const char *value = infiniband ? "0" : "off";
	struct yaml_node *sw = yaml_get(fabric, "switch"), *all = yaml_get(fabric, "switches");
	if (sw && says(sw, group, key, value))
		return true;
	for (sw = all ? all->children : NULL; sw; sw = sw->next)
		if (says(sw, group, key, value))
			return true;
	return false;
}

static void check_marks(struct scenario_reader *reader, struct yaml_node *fabric)
{
	const struct scenario *scenario = reader->scenario;
	const struct scenario_host *host = find(scenario, CONGESTION_MARKS);
	const char *expected = "switch: {ecn: {mark: dequeue}}, or {mark: off} to mean it";
	if (!host || is_marked(scenario) || means_no_marks(scenario, fabric))
		return;
	if (scenario->switch_count == 0)
		expected = "a switch, a fault that marks, or notify: none of the HCA to mean it";
	else if (scenario->fabric.link_layer == LINK_INFINIBAND)
		expected = "switch: {fecn: {threshold: 1..15}}, or {threshold: 0} to mean it";
	yaml_error(reader->errors, fabric,
		   "congestion of %s, %s, lives by congestion marks, and nothing marks packets; "
		   "expected %s",
		   host->name, ops_of(host)->name, expected);
}

/* Without any of it, such an algorithm would leave its window as it began. */
static void check_telemetry(struct scenario_reader *reader, struct yaml_node *fabric)
{
	const struct scenario *scenario = reader->scenario;
	const struct scenario_host *host = find(scenario, CONGESTION_TELEMETRY);
	if (!host || scenario->switch_count == 0 || gathers(scenario))
		return;
	yaml_error(reader->errors, fabric,
		   "congestion of %s lives by telemetry, which no switch adds; expected switch: "
		   "{telemetry: true}",
		   host->name);
}

/* What has no ACKs that tell of its data: reads, whose responses are the data, and unreliable queue pairs. */
static const char *without_acks(const struct scenario *scenario, const char **expected)
{
	if (scenario->has_workload && scenario->workload.operation == WORKLOAD_READ &&
	    scenario->workload.pattern != PATTERN_trace &&
	    scenario->workload.pattern != PATTERN_goal) {
		*expected = "operation: write or send";
		return "read responses";
	}
	if (scenario->has_load && scenario->load.verb == LOAD_READ) {
		*expected = "verb: write or send";
		return "read responses";
	}
	if (scenario->has_load &&
	    (scenario->load.transport == LOAD_UC || scenario->load.transport == LOAD_UD)) {
		*expected = "transport: rc or dc";
		return "packets of unreliable queue pairs";
	}
	return NULL;
}

static void check_acks(struct scenario_reader *reader, struct yaml_node *root)
{
	const struct scenario *scenario = reader->scenario;
	const struct scenario_host *host = find(scenario, CONGESTION_ACKS);
	const char *expected, *what = without_acks(scenario, &expected);
	if (!host || !what)
		return;
	yaml_error(reader->errors, yaml_get(root, scenario->has_load ? "load" : "workload"),
		   "congestion of %s, %s, lives by ACKs, which %s have not; expected %s, or an "
		   "algorithm that lives by marks",
		   host->name, ops_of(host)->name, what, expected);
}

void scenario_check_congestion(struct scenario_reader *reader, struct yaml_node *root)
{
	struct yaml_node *fabric = yaml_get(root, "fabric");
	if (reader->errors->count > 0 || !fabric ||
	    reader->scenario->fabric.fidelity == FIDELITY_FLOW)
		return;
	check_telemetry(reader, fabric);
	check_marks(reader, fabric);
	check_acks(reader, root);
}
