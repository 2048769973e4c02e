/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_congestion: refuses congestion control that never receives its signal, because the
 * scenario has no marks, telemetry or ACKs. It would run without any control. A scenario that
 * intends this states it: `mark: off` or `threshold: 0` of a switch, `notify: none` of an HCA.
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

/* notify: none is never a default. Packets of this adapter are not to be marked. */
static bool wants_no_marks(const struct scenario_host *host)
{
	return host->endpoint ? host->endpoint->endpoint.notify == NOTIFY_NONE
			      : host->detailed->notification.notify == NOTIFICATION_NONE;
}

/* A host or a workload whose algorithm needs a signal. */
struct user {
	const char *kind, *name; /* kind: "", or "workload " */
	const struct congestion_ops *ops;
	const struct scenario_workload *workload; /* NULL: a host */
};

static bool lives_by(const struct congestion_ops *ops, const struct scenario_host *host,
		     uint32_t signal)
{
	return ops && ops->lives_by & signal &&
	       !(signal == CONGESTION_MARKS && wants_no_marks(host));
}

/* Finds the first host, or else the first workload with an algorithm of its own, whose algorithm
 * needs the signal. */
static bool find(const struct scenario *scenario, uint32_t signal, struct user *user)
{
	for (uint32_t i = 0; i < scenario->host_count; i++) {
		const struct scenario_host *host = &scenario->hosts[i];
		*user = (struct user){"", host->name, ops_of(host), NULL};
		if (lives_by(user->ops, host, signal))
			return true;
	}
	for (uint32_t i = 0; i < scenario->workload_count; i++) {
		const struct scenario_workload *workload = &scenario->workloads[i];
		*user = (struct user){"workload ", workload->name,
				      workload->congestion.congestion.ops, workload};
		if (lives_by(user->ops, &scenario->hosts[workload->hosts[0]], signal))
			return true;
	}
	return false;
}

static bool marks(const struct scenario *scenario, const struct switch_params *sw)
{
	if (*sw->plugins.marking.text != '\0')
		return true;
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

/* Returns true if the scenario itself sets the key of the switch to that value. */
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
	struct user user;
	const char *expected = "switch: {ecn: {mark: dequeue}}, or {mark: off} if this is intended";
	if (!find(scenario, CONGESTION_MARKS, &user) || is_marked(scenario) ||
	    means_no_marks(scenario, fabric))
		return;
	if (scenario->switch_count == 0)
		expected = "a switch, a fault that marks, or notify: none of the HCA if this is "
			   "intended";
	else if (scenario->fabric.link_layer == LINK_INFINIBAND)
		expected =
			"switch: {fecn: {threshold: 1..15}}, or {threshold: 0} if this is intended";
	yaml_error(reader->errors, fabric,
		   "congestion of %s%s: %s needs congestion marks, and nothing marks packets; "
		   "expected %s",
		   user.kind, user.name, user.ops->name, expected);
}

/* Refuses algorithms that need telemetry. Without it they would keep their initial window. */
static void check_telemetry(struct scenario_reader *reader, struct yaml_node *fabric)
{
	const struct scenario *scenario = reader->scenario;
	struct user user;
	if (!find(scenario, CONGESTION_TELEMETRY, &user) || scenario->switch_count == 0 ||
	    gathers(scenario))
		return;
	yaml_error(reader->errors, fabric,
		   "congestion of %s%s needs telemetry, which no switch adds; expected switch: "
		   "{telemetry: true}",
		   user.kind, user.name);
}

static bool reads(const struct workload_params *workload)
{
	return workload->operation == WORKLOAD_READ && !workload_is_from_file(workload);
}

/* Returns operations without ACKs for their data: reads of RDMA, whose responses are the data, and
 * unreliable queue pairs. `workload` is the one whose algorithm needs ACKs; NULL: any. */
static const char *without_acks(const struct scenario *scenario,
				const struct scenario_workload *workload, const char **expected)
{
	for (uint32_t i = 0; i < scenario->workload_count; i++) {
		const struct scenario_workload *one = &scenario->workloads[i];
		if (!reads(&one->params) || !scenario_sends_rdma(scenario) ||
		    (workload ? one != workload : one->congestion.congestion.ops != NULL))
			continue;
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
	struct user user;
	const char *expected, *what;
	if (!find(scenario, CONGESTION_ACKS, &user))
		return;
	what = without_acks(scenario, user.workload, &expected);
	if (!what)
		return;
	const char *section = scenario->has_load        ? "load"
			      : scenario->has_workloads ? "workloads"
							: "workload";
	yaml_error(reader->errors, yaml_get(root, section),
		   "congestion of %s%s: %s needs ACKs, which %s do not have; expected %s, or an "
		   "algorithm that uses marks",
		   user.kind, user.name, user.ops->name, what, expected);
}

/* Finds the first host, or else the first workload, whose algorithm acts on packets or at the
 * receiver. */
static bool find_extended(const struct scenario *scenario, struct user *user)
{
	for (uint32_t i = 0; i < scenario->host_count; i++) {
		*user = (struct user){"", scenario->hosts[i].name, ops_of(&scenario->hosts[i]),
				      NULL};
		if (user->ops && congestion_is_extended(user->ops))
			return true;
	}
	for (uint32_t i = 0; i < scenario->workload_count; i++) {
		const struct scenario_workload *workload = &scenario->workloads[i];
		*user = (struct user){"workload ", workload->name,
				      workload->congestion.congestion.ops, workload};
		if (user->ops && congestion_is_extended(user->ops))
			return true;
	}
	return false;
}

/* Returns the property of the host that prevents the algorithm from working, or NULL. */
static const char *unfit(const struct scenario_host *host)
{
	if (!host->endpoint)
		return "has no fidelity: endpoint";
	if (scenario_host_has_tcp(host))
		return "has a transport on TCP";
	return NULL;
}

/* Refuses an algorithm that would do only a part of its work. */
static void check_extended(struct scenario_reader *reader, struct yaml_node *root)
{
	const struct scenario *scenario = reader->scenario;
	struct user user;
	if (!find_extended(scenario, &user))
		return;
	for (uint32_t i = 0; i < scenario->host_count; i++) {
		const char *problem = unfit(&scenario->hosts[i]);
		if (!problem)
			continue;
		yaml_error(reader->errors, yaml_get(root, "hosts"),
			   "congestion of %s%s: %s acts on packets or at the receiver, and %s %s; "
			   "expected fidelity: endpoint and transport: rdma at all hosts",
			   user.kind, user.name, user.ops->name, scenario->hosts[i].name, problem);
		return;
	}
}

void scenario_congestion_check(struct scenario_reader *reader)
{
	struct yaml_node *root = reader->root;
	struct yaml_node *fabric = yaml_get(root, "fabric");
	if (reader->errors->count > 0 || !fabric ||
	    reader->scenario->fabric.fidelity == FIDELITY_FLOW)
		return;
	check_telemetry(reader, fabric);
	check_marks(reader, fabric);
	check_acks(reader, root);
	check_extended(reader, root);
}
