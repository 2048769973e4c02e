/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vl_map: on which virtual lane or priority a packet goes on. InfiniBand: SL to VL for each pair of input and output
 * (IBTA vol. 1, 7.6.6); without a table the VL stays. Ethernet: the priority is what the sender's VL, its PCP or
 * its DSCP says; a sender that pauses by another priority than the one it is counted in here is misconfigured, and
 * loses packets as such a network does.
 */
#include <stdlib.h>
#include <string.h>

#include "switch/switch_state.h"

unsigned vl_map_ingress(const struct fabric_switch *box, const struct packet *packet)
{
	if (box->by_lid || box->params.priority_from == PRIORITY_FROM_SENDER)
		return packet->vl;
	if (box->params.priority_from == PRIORITY_FROM_PCP)
		return packet->path->service_level & 7;
	return box->dscp_priority[packet->path->traffic_class >> 2];
}

unsigned vl_map_egress(const struct fabric_switch *box, unsigned input, unsigned output,
		       const struct packet *packet, unsigned vl)
{
	size_t row = (size_t)input * box->port_count + output;

	if (!box->sl2vl || packet->vl == DISCARD_VL) /* VL15 stays itself */
		return vl;
	return box->sl2vl[row * SERVICE_LEVELS + (packet->path->service_level & 15)];
}

void switch_set_sl2vl(struct fabric_switch *box, unsigned input, unsigned output,
		      const uint8_t vls[16])
{
	size_t rows = (size_t)box->port_count * box->port_count;

	assert(box->by_lid && input < box->port_count && output < box->port_count);
	if (!box->sl2vl) {
		box->sl2vl = malloc(rows * SERVICE_LEVELS);
		assert(box->sl2vl);
		for (size_t i = 0; i < rows * SERVICE_LEVELS; i++)
			box->sl2vl[i] = (uint8_t)(i % SERVICE_LEVELS % box->params.port.vls);
		box->maps = true;
	}
	memcpy(&box->sl2vl[((size_t)input * box->port_count + output) * SERVICE_LEVELS], vls,
	       SERVICE_LEVELS);
}

void switch_set_dscp_priority(struct fabric_switch *box, unsigned dscp, unsigned priority)
{
	assert(dscp < DSCPS && priority < BUFFER_VLS);
	box->dscp_priority[dscp] = (uint8_t)priority;
}

void vl_map_init(struct fabric_switch *box)
{
	for (unsigned dscp = 0; dscp < DSCPS; dscp++) /* the class selector, RFC 2474 */
		box->dscp_priority[dscp] = (uint8_t)(dscp >> 3);
	box->maps |= !box->by_lid && box->params.priority_from != PRIORITY_FROM_SENDER;
}

void vl_map_fini(struct fabric_switch *box)
{
	free(box->sl2vl);
}
