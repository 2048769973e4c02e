/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partition: the P_Key filters of a switch's ports, which a subnet manager sets towards hosts. IBTA
 * vol. 1, 10.9, and the PartitionEnforcement bits of PortInfo, 14.2.5.6. As with OpenSM, the port
 * has the P_Keys of the host behind it, full or limited.
 *
 * A packet to the host must match one of them, as the host itself would check (10.9.3). A packet
 * from the host must carry a number that the host has, with any membership. This is assumed,
 * because packets of a limited member match no limited P_Key. Subnet management on VL15 has no
 * P_Key.
 *
 * A switch without filters has no extra cost. A port with filters has another receive() function,
 * and forwards packets through the VL map.
 */
#include "switch/switch_state.h"

bool partition_lets_in(const struct switch_port *input, const struct packet *packet)
{
	return packet->vl == DISCARD_VL || partitions_have(input->partitions, packet->pkey);
}

bool partition_lets_out(const struct switch_port *output, const struct packet *packet)
{
	return !output->filters_out || packet->vl == DISCARD_VL ||
	       partitions_match(output->partitions, packet->pkey);
}

void switch_set_partitions(struct fabric_switch *sw, unsigned port,
			   const struct partitions *partitions, enum switch_filters filters)
{
	struct switch_port *filter = &sw->ports[port];

	assert(sw->by_lid && port < sw->port_count);
	filter->partitions = partitions;
	filter->filters_out = filters & SWITCH_FILTER_OUT;
	sw->maps |= filter->filters_out;
	if (filters & SWITCH_FILTER_IN)
		filter->user.receive = switch_receive_filtered;
}
