/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_flow: checks fabric: {fidelity: flow}. Sections and values that a flow-level model does
 * not support are errors.
 */
#include "hcasim/schema/endpoint_device.h"
#include "hcasim/schema/scenario_read.h"
#include "switch/switch_params.h"

#define UNLIMITED_BPS UINT64_C(3200000000000) /* the default of send_rate and receive_rate */

static void refuse(struct scenario_reader *reader, const struct yaml_node *node, const char *what,
		   const char *instead)
{
	yaml_error(reader->errors, node, "fidelity: flow does not support %s; expected %s", what,
		   instead);
}

static bool is_balanced(const struct scenario *scenario)
{
	for (uint32_t i = 0; i < scenario->switch_count; i++) {
		uint32_t balance = scenario->switches[i].params->balance;

		if (balance != BALANCE_DESTINATION && balance != BALANCE_ECMP)
			return true;
	}
	return false;
}

static bool is_stored(const struct scenario *scenario)
{
	for (uint32_t i = 0; i < scenario->switch_count; i++)
		if (scenario->switches[i].params->stores)
			return true;
	return false;
}

static bool is_slow(const struct scenario *scenario)
{
	for (uint32_t i = 0; i < scenario->host_count; i++) {
		const struct endpoint_device *device = scenario->hosts[i].endpoint;

		if (device && (device->endpoint.send_rate < UNLIMITED_BPS ||
			       device->endpoint.receive_rate < UNLIMITED_BPS))
			return true;
	}
	return false;
}

void scenario_flow_check(struct scenario_reader *reader)
{
	struct yaml_node *root = reader->root;
	const struct scenario *scenario = reader->scenario;
	struct yaml_node *fabric = yaml_get(root, "fabric");
	struct yaml_node *node = fabric ? yaml_get(fabric, "fidelity") : NULL;

	if (!node || scenario->fabric.fidelity != FIDELITY_FLOW || reader->errors->count > 0)
		return;
	if (scenario_has(scenario, FIDELITY_DETAILED))
		refuse(reader, node, "detailed HCAs", "hosts of fidelity endpoint");
	if (is_balanced(scenario))
		refuse(reader, node, "load balancing per packet or flowlet",
		       "switches with balance: destination or ecmp");
	if (is_stored(scenario))
		refuse(reader, node, "switches that store packets", "switches with stores: false");
	if (is_slow(scenario))
		refuse(reader, node, "slow hosts", "send_rate and receive_rate without limit");
	if (scenario->subnet.partition_count > 0)
		refuse(reader, node, "P_Keys", "no partitions");
	if (scenario->vls.forwarding)
		refuse(reader, node, "forwarding tables without a route", "no forwarding");
	if (scenario->vls.arbitration_count > 0)
		refuse(reader, node, "weights of VLs", "no vl_arbitration");
	if (scenario->fault_count > 0)
		refuse(reader, node, "faults of packets and ports", "no faults");
	if (scenario->record.packets)
		refuse(reader, node, "records of packets", "record: {packets: false}");
	if (!scenario->has_workload)
		refuse(reader, node, "programs", "workload: {...}");
}
