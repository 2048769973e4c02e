/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partition: the P_Key filters of a switch's ports, which a subnet manager sets towards hosts: IBTA vol. 1, 10.9, and the
 * PartitionEnforcement bits of PortInfo, 14.2.5.6. The port has the P_Keys of the host behind it, full or limited as there: so
 * does OpenSM set it. What goes out must match one, as the host itself would judge (10.9.3). What comes in must carry a number
 * that the host has, whatever the membership (assumed: a limited member's own packets match no limited P_Key).
 * Subnet management on VL15 has no P_Key.
 *
 * A switch without filters pays nothing: who filters has another receive(), and forwards by way of the VLs' maps.
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
