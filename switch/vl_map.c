/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vl_map: the virtual lane or priority on which a packet continues. InfiniBand: SL to VL for each
 * pair of input and output (IBTA vol. 1, 7.6.6). Without a table, the VL does not change. Ethernet:
 * the sender's VL, the PCP or the DSCP determines the priority. A sender that pauses by another
 * priority than the one counted here is misconfigured, and loses packets as in a real network.
 */
#include <stdlib.h>
#include <string.h>

#include "switch/switch_state.h"

unsigned vl_map_ingress(const struct fabric_switch *sw, const struct packet *packet)
{
	if (sw->by_lid || sw->params.priority_from == PRIORITY_FROM_SENDER)
		return packet->vl;
	if (sw->params.priority_from == PRIORITY_FROM_PCP)
		return packet->path->service_level & 7;
	return sw->dscp_priority[packet->path->traffic_class >> 2];
}

unsigned vl_map_egress(const struct fabric_switch *sw, unsigned input, unsigned output,
		       const struct packet *packet, unsigned vl)
{
	size_t row = (size_t)input * sw->port_count + output;

	if (!sw->sl2vl || packet->vl == DISCARD_VL) /* VL15 does not change */
		return vl;
	return sw->sl2vl[row * SERVICE_LEVELS + (packet->path->service_level & 15)];
}

void switch_set_sl2vl(struct fabric_switch *sw, unsigned input, unsigned output,
		      const uint8_t vls[16])
{
	size_t rows = (size_t)sw->port_count * sw->port_count;

	assert(sw->by_lid && input < sw->port_count && output < sw->port_count);
	if (!sw->sl2vl) {
		sw->sl2vl = malloc(rows * SERVICE_LEVELS);
		assert(sw->sl2vl);
		for (size_t i = 0; i < rows * SERVICE_LEVELS; i++)
			sw->sl2vl[i] = (uint8_t)(i % SERVICE_LEVELS % sw->params.port.vls);
		sw->maps = true;
	}
	memcpy(&sw->sl2vl[((size_t)input * sw->port_count + output) * SERVICE_LEVELS], vls,
	       SERVICE_LEVELS);
}

void switch_set_dscp_priority(struct fabric_switch *sw, unsigned dscp, unsigned priority)
{
	assert(dscp < DSCPS && priority < BUFFER_VLS);
	sw->dscp_priority[dscp] = (uint8_t)priority;
}

void vl_map_init(struct fabric_switch *sw)
{
	for (unsigned dscp = 0; dscp < DSCPS; dscp++) /* the class selector, RFC 2474 */
		sw->dscp_priority[dscp] = (uint8_t)(dscp >> 3);
	sw->maps |= !sw->by_lid && sw->params.priority_from != PRIORITY_FROM_SENDER;
}

void vl_map_fini(struct fabric_switch *sw)
{
	free(sw->sl2vl);
}
