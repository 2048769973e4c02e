/* SPDX-License-Identifier: Apache-2.0 */
/*
 * starvation: slowly returns the credits of packets that were congested in this switch to the port
 * of their arrival. An adapter without congestion control must then slow down, too (IBTA vol. 1,
 * annex A10: Credit_Mask, CS_Threshold, CS_ReturnDelay). Each return of a VL follows the previous
 * one after the packet's time and a gap, as in an entry of an adapter's table. The resulting rate
 * is the line rate over 1 + cs_multiplier / 2^cs_shift.
 */
#include <stdlib.h>

#include "switch/switch_state.h"

struct starvation {
	struct port_set inputs;
	/* earliest time of the next return of credits */
	sim_time next_at[PORT_SET_PORTS][PORT_VLS];
};

static bool is_congested(const struct switch_port *output, const struct packet *packet)
{
	uint64_t buffer = port_params(output->port)->input_buffer;
	uint64_t threshold = buffer * (16 - output->sw->params.fecn.cs_threshold) / 16;

	return port_queued_bytes(output->port, packet->vl) > threshold &&
	       packet->kind == PACKET_DATA;
}

sim_time starvation_release_at(struct switch_port *output, const struct packet *packet, sim_time at)
{
	struct fabric_switch *sw = output->sw;
	const struct switch_fecn_params *params = &sw->params.fecn;
	unsigned input = packet->ingress & INGRESS_PORT;
	unsigned vl = packet->ingress >> INGRESS_VL_SHIFT;
	sim_time time, *next_at;

	if (!sw->starvation || packet->ingress & INGRESS_COPY ||
	    !port_set_has(&sw->starvation->inputs, input) || !is_congested(output, packet))
		return at;
	next_at = &sw->starvation->next_at[input][vl];
	time = (sim_time)packet->wire_bytes * 8 * SEC / port_rate_bps(sw->ports[input].port);
	if (at < *next_at)
		at = *next_at;
	*next_at = at + time + (time >> params->cs_shift) * params->cs_multiplier;
	sw->count.credits_starved++;
	return at;
}

void starvation_init(struct fabric_switch *sw)
{
	bool is_mask;

	if (!sw->by_lid || !sw->params.fecn.cs_threshold)
		return;
	sw->starvation = calloc(1, sizeof(*sw->starvation));
	assert(sw->starvation);
	is_mask = switch_parse_mask(sw->params.fecn.credit_mask.text, &sw->starvation->inputs);
	assert(is_mask);
}

void starvation_fini(struct fabric_switch *sw)
{
	free(sw->starvation);
}
