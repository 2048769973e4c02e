/* SPDX-License-Identifier: Apache-2.0 */
/* overlay: see overlay.h. This file has the role of a switch in a packet's path, and the leaf of
 * each host. */
#include "switch/overlay.h"

#include <stdio.h>
#include <stdlib.h>

#include "fabric/wire/opcode.h"

static uint16_t leaf_of(const struct overlay_state *state, uint32_t endpoint)
{
	return endpoint < state->endpoint_count ? state->leaf_of[endpoint] : NO_LEAF;
}

static uint32_t overlay_bytes(const struct fabric_switch *sw)
{
	return (uint32_t)(sw->overlay->conga ? sw->params.conga.header
					     : sw->params.conweave.header);
}

/* Returns true for packets that the algorithm balances. ConWeave's probes and reorder queues are
 * for packets with payload; pure responses follow the hash. */
static bool is_looked_after(const struct overlay_state *state, const struct packet *packet)
{
	if (state->conga || packet->payload_bytes)
		return true;
	return packet->kind == PACKET_DATA && !opcode_is_response(packet->opcode);
}

/* Forwards a packet from a host of this leaf to a host of another leaf. */
static void send_across(struct switch_port *input, unsigned output, uint16_t leaf,
			struct packet *packet)
{
	struct fabric_switch *sw = input->sw;
	struct port_group up;
	const struct port_group *group = &up;

	if (output < sw->port_count) {
		up = (struct port_group){.count = 1, .ports = {(uint8_t)output}};
		port_set_add(&up.set, output);
	} else if (balance_all_up(sw, &sw->groups[output - sw->port_count])) {
		group = &sw->groups[output - sw->port_count];
	} else {
		balance_up(sw, &sw->groups[output - sw->port_count], &up);
		if (!up.count)
			up = sw->groups[output - sw->port_count];
	}
	output = sw->overlay->conga ? conga_send(sw, leaf, group, packet)
				    : conweave_send(sw, leaf, group, packet);
	if (packet->overlay.kind != OVERLAY_NONE)
		packet->wire_bytes += overlay_bytes(sw);
	switch_forward(input, output, packet);
}

/* Forwards a packet from a host of another leaf to a host of this leaf. The header arrived before
 * the other bits, so its bytes delay the packet. */
static void arrive(struct switch_port *input, unsigned output, struct packet *packet)
{
	struct fabric_switch *sw = input->sw;
	const struct overlay header = packet->overlay;
	uint16_t leaf = leaf_of(sw->overlay, packet->path->source);

	packet->wire_bytes -= overlay_bytes(sw);
	packet->head_at += port_serialization(input->port, overlay_bytes(sw));
	packet->overlay.kind = OVERLAY_NONE;
	if (sw->overlay->conweave) {
		conweave_arrive(input, output, packet, &header);
		return;
	}
	packet->overlay = header;
	conga_learn(sw, leaf, packet);
	packet->overlay.kind = OVERLAY_NONE;
	switch_forward(input, output, packet);
}

/* Returns the port towards path->source, by the hash. */
static unsigned port_back(struct fabric_switch *sw, const struct packet *packet)
{
	uint32_t source = packet->path->source;
	unsigned output = forwarding_lookup(sw, source);

	if (output == NO_ROUTE || output < sw->port_count)
		return output;
	return balance_choose(sw, &sw->groups[output - sw->port_count], packet);
}

static void take_control(struct switch_port *input, struct packet *packet)
{
	struct fabric_switch *sw = input->sw;
	struct overlay_state *state = sw->overlay;
	unsigned output;

	if (leaf_of(state, packet->path->source) == state->own) {
		sw->count.control_packets_received++;
		conweave_take_control(sw, leaf_of(state, packet->path->destination), packet);
		packet_free(sw->pool, packet);
		return;
	}
	output = port_back(sw, packet);
	assert(output != NO_ROUTE);
	switch_forward(input, output, packet);
}

void overlay_send_control(struct switch_port *input, const struct packet *asked,
			  enum overlay_kind kind, const struct overlay *header)
{
	struct fabric_switch *sw = input->sw;
	struct packet *packet;
	unsigned output = port_back(sw, asked);

	if (output == NO_ROUTE)
		return;
	packet = packet_new(sw->pool);
	packet->path = asked->path;
	packet->opcode = RC_ACK;
	packet->head_at = packet->tail_at = asked->head_at;
	packet->hop_limit = asked->path->hop_limit;
	packet->vl = (uint8_t)sw->params.conweave.control_vl;
	packet->wire_bytes = (uint32_t)sw->params.conweave.control_bytes;
	packet->overlay = (struct overlay){
		.epoch = header->epoch, .kind = (uint8_t)kind, .next_hop = header->next_hop};
	sw->count.control_packets_sent++;
	switch_forward(input, output, packet);
}

static void overlay_receive(struct port_user *user, struct port *port, struct packet *packet)
{
	struct switch_port *input = container_of(user, struct switch_port, user);
	struct fabric_switch *sw = input->sw;
	const struct overlay_state *state = sw->overlay;
	unsigned output = forwarding_find(sw, packet->path);
	uint16_t leaf = leaf_of(state, packet->path->destination);

	if (packet->overlay.kind >= OVERLAY_REPLY)
		take_control(input, packet);
	else if (output == NO_ROUTE || state->own == NO_LEAF || leaf == NO_LEAF)
		switch_receive(user, port, packet);
	else if (packet->overlay.kind != OVERLAY_NONE && leaf == state->own)
		arrive(input, output, packet);
	else if (port_set_has(&state->hosts, port_index(input)) && leaf != state->own &&
		 is_looked_after(state, packet))
		send_across(input, output, leaf, packet);
	else
		switch_receive(user, port, packet);
}

/* ---- positions of hosts ---- */

void overlay_place(void *context, uint32_t endpoint, uint32_t node, unsigned port)
{
	struct fabric_switch *sw = context;
	struct overlay_state *state = sw->overlay;
	uint32_t leaf = state->leaf_count;

	/* the hosts of a leaf are usually added in succession */
	while (leaf > 0 && state->nodes[leaf - 1] != node)
		leaf--;
	if (leaf == 0) {
		state->nodes = realloc(state->nodes, ++state->leaf_count * sizeof(state->nodes[0]));
		assert(state->nodes && state->leaf_count < NO_LEAF);
		leaf = state->leaf_count;
		state->nodes[leaf - 1] = node;
	}
	if (endpoint >= state->endpoint_count) {
		state->leaf_of =
			realloc(state->leaf_of, (endpoint + 1) * sizeof(state->leaf_of[0]));
		assert(state->leaf_of);
		while (state->endpoint_count <= endpoint)
			state->leaf_of[state->endpoint_count++] = NO_LEAF;
	}
	state->leaf_of[endpoint] = (uint16_t)(leaf - 1);
	if (port < PORT_SET_PORTS) {
		state->own = (uint16_t)(leaf - 1);
		port_set_add(&state->hosts, port);
	}
}

static bool refuse(const struct fabric_switch *sw, const char *found, const char *expected,
		   char *error, size_t error_bytes)
{
	snprintf(error, error_bytes, "%s: balance: %s with %s; expected %s", sw->block.name,
		 sw->params.balance == BALANCE_CONGA ? "conga" : "conweave", found, expected);
	return false;
}

bool overlay_start(struct fabric_switch *sw, char *error, size_t error_bytes)
{
	struct overlay_state *state = sw->overlay;
	bool weaves = sw->params.balance == BALANCE_CONWEAVE;

	if (!state || state->conga || state->conweave)
		return true;
	if (sw->by_lid)
		return refuse(sw, "InfiniBand", "link_layer: roce", error, error_bytes);
	if (!sw->buffer)
		return refuse(sw, "a buffer for each port",
			      "a shared buffer, for example buffer: {size: 9MB}", error,
			      error_bytes);
	if (weaves && sw->params.queueing != QUEUEING_ARRIVAL)
		return refuse(sw, "queueing: inputs",
			      "queueing: arrival, which preserves the restored order", error,
			      error_bytes);
	if (weaves && sw->params.conweave.control_vl >= port_vls(sw->ports[0].port))
		return refuse(sw, "a control_vl that its ports lack",
			      "a value below the vls of its ports", error, error_bytes);
	if (weaves)
		state->conweave = conweave_create(sw);
	else
		state->conga = conga_create(sw);
	for (unsigned i = 0; i < sw->port_count; i++) {
		sw->ports[i].user.receive = overlay_receive;
		if (!weaves)
			sw->ports[i].user.departs = conga_departs;
	}
	return true;
}

void overlay_init(struct fabric_switch *sw)
{
	if (sw->params.balance != BALANCE_CONGA && sw->params.balance != BALANCE_CONWEAVE)
		return;
	sw->overlay = calloc(1, sizeof(*sw->overlay));
	assert(sw->overlay);
	sw->overlay->own = NO_LEAF;
}

void overlay_fini(struct fabric_switch *sw)
{
	struct overlay_state *state = sw->overlay;

	if (!state)
		return;
	if (state->conga)
		conga_destroy(state->conga);
	if (state->conweave)
		conweave_destroy(sw);
	free(state->leaf_of);
	free(state->nodes);
	free(state);
}
