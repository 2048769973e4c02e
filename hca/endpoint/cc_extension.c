/* SPDX-License-Identifier: Apache-2.0 */
/* cc_extension: see cc_extension.h. */
#include "hca/endpoint/cc_extension.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/plugin_block.h"

#define NAME_BYTES 256
#define PORT_FIRST 0xc000u /* UDP source ports of RoCEv2: 0xc000 to 0xffff */
#define PORT_MASK  0x3fffu
#define PATH_STEP  0x9e5u /* odd, so that paths of a flow have different ports */
#define LEVELS     16u

/* A plug-in at an adapter. */
struct cc_plugin {
	struct cc_plugin *next;
	const struct congestion *congestion;
	struct plugin_block block;
	void *receivers; /* state that all receivers share */
};

/* The receiver's side of a queue pair. */
struct receiver_side {
	struct event step;
	struct endpoint_qp *qp;
	const struct congestion *congestion;
	_Alignas(16) char state[]; /* struct cc_receiver, followed by the algorithm's state */
};

struct cc_extension {
	struct cc_plugin *plugin;       /* of the flow that is sent, or NULL */
	struct receiver_side *receiver; /* NULL before the first data packet */
};

static struct congestion_sending *sending_of(struct endpoint_qp *qp)
{
	size_t offset = qp->cc->congestion->ops->sending_offset;

	return offset ? (struct congestion_sending *)(void *)(qp->cc->state + offset) : NULL;
}

/* ---- the adapter ---- */

static struct cc_plugin *plugin_at(struct endpoint_hca *ep, const struct congestion *congestion)
{
	const struct congestion_ops *ops = congestion->ops;
	char name[NAME_BYTES];
	unsigned count = 0;
	struct cc_plugin *plugin;

	for (plugin = ep->cc_plugins; plugin; plugin = plugin->next) {
		if (plugin->congestion == congestion)
			return plugin;
		count++;
	}
	plugin = calloc(1, sizeof(*plugin));
	assert(plugin);
	if (count)
		snprintf(name, sizeof(name), "%s.plugin%u", ep->block.name, count);
	else
		snprintf(name, sizeof(name), "%s.plugin", ep->block.name);
	plugin_block_init(&plugin->block, ep->block.sim, name, ops->name, ops->name, ops->counters,
			  ops->trace_points);
	plugin->receivers = calloc(1, ops->receiver_host_bytes + 1);
	assert(plugin->receivers);
	plugin->congestion = congestion;
	plugin->next = ep->cc_plugins;
	ep->cc_plugins = plugin;
	return plugin;
}

void cc_extension_create_host(struct endpoint_hca *ep)
{
	if (ep->congestion->guarded)
		plugin_at(ep, ep->congestion);
}

void cc_extension_prepare(struct endpoint_qp *qp, const struct congestion *congestion)
{
	if (!congestion->guarded)
		return;
	plugin_at(qp->ep, congestion);
	if (slot_peer(qp->slot))
		plugin_at(slot_ep(slot_peer(qp->slot)), congestion);
	cc_extension_intern(qp->ep, congestion, qp->path);
}

void cc_extension_destroy_host(struct endpoint_hca *ep)
{
	while (ep->cc_plugins) {
		struct cc_plugin *plugin = ep->cc_plugins;

		ep->cc_plugins = plugin->next;
		plugin_block_fini(&plugin->block);
		free(plugin->receivers);
		free(plugin);
	}
}

/* ---- paths and priorities ---- */

static void steer(struct path *path, uint32_t number)
{
	if (path->link_layer == LINK_ETHERNET)
		path->udp_source_port =
			(uint16_t)(PORT_FIRST |
				   ((path->udp_source_port + number * PATH_STEP) & PORT_MASK));
	else
		path->flow_label = (path->flow_label + number) & PATH_FLOW_LABEL_MASK;
}

void cc_extension_intern(const struct endpoint_hca *from, const struct congestion *congestion,
			 const struct path *path)
{
	const struct congestion_ops *ops = congestion->ops;
	uint32_t levels = ops->priorities | 1u << path->service_level;

	for (uint32_t number = 0; number < (ops->paths ? ops->paths : 1); number++) {
		for (unsigned level = 0; level < LEVELS; level++) {
			struct path other = *path;

			if (!(levels & 1u << level))
				continue;
			if (number)
				steer(&other, number);
			other.service_level = (uint8_t)level;
			path_intern(endpoints_paths(from->endpoints), &other);
		}
	}
}

void cc_extension_set_vl(struct endpoint_qp *qp)
{
	const struct congestion_sending *sending = sending_of(qp);
	unsigned level = qp->path->service_level;

	if (!sending || qp->responses)
		return;
	if (sending->priority)
		level = sending->priority - 1;
	level = port_vl(qp->ep->port, level);
	qp->ep->vl_changed |= level != qp->vl;
	qp->vl = (uint8_t)level;
}

/* ---- the sender ---- */

static struct cc_extension *create_extension(void)
{
	struct cc_extension *extension = calloc(1, sizeof(*extension));

	assert(extension);
	return extension;
}

void cc_extension_begin(struct endpoint_qp *qp, struct congestion_path *path)
{
	struct cc_extension *extension;

	path->source = qp->ep->endpoint;
	path->destination = qp->path->destination;
	path->flow = qp->number;
	if (!qp->cc->congestion->guarded)
		return;
	extension = create_extension();
	extension->plugin = plugin_at(qp->ep, qp->cc->congestion);
	path->host = &extension->plugin->block.host;
	qp->cc->extension = extension;
}

void cc_extension_destroy(struct endpoint_qp *qp)
{
	struct cc_extension *extension = qp->cc ? qp->cc->extension : NULL;

	if (!extension)
		return;
	if (extension->receiver)
		sim_cancel(&extension->receiver->step);
	free(extension->receiver);
	free(extension);
	qp->cc->extension = NULL;
}

void cc_extension_post(struct endpoint_qp *qp, uint64_t bytes)
{
	const struct congestion *congestion = qp->cc->congestion;
	struct congestion_sending *sending = sending_of(qp);
	sim_time now = endpoint_now(qp->ep);

	if (sending)
		sending->unsent_bytes += bytes;
	if (!congestion->ops->on_post)
		return;
	congestion_settle(congestion, cc_of(qp), now);
	congestion->ops->on_post(cc_of(qp), congestion->params, now, bytes);
}

void cc_extension_packet(struct endpoint_qp *qp, struct packet *packet,
			 const struct endpoint_message *message, bool again)
{
	const struct congestion *congestion = qp->cc->congestion;
	struct congestion_sending *sending = sending_of(qp);
	struct congestion_packet facts = {
		.message_bytes = message->bytes,
		.payload_bytes = packet->payload_bytes,
		.sent_total = qp->sent_bytes + (again ? 0 : packet->payload_bytes),
		.retransmitted = again,
	};

	if (sending && !again)
		sending->unsent_bytes -= packet->payload_bytes;
	if (congestion->ops->on_packet)
		congestion->ops->on_packet(cc_of(qp), congestion->params, endpoint_now(qp->ep),
					   &facts);
	packet->congestion = facts.fields;
	packet->has_fields = congestion->ops->on_packet != NULL;
	packet->wire_bytes += congestion->ops->data_field_bytes;
	if (facts.path || qp->vl != port_vl(qp->ep->port, qp->path->service_level)) {
		struct path path = *qp->path;

		/* interned when the queue pairs were created */
		if (facts.path)
			steer(&path, facts.path);
		if (sending && sending->priority &&
		    qp->vl == port_vl(qp->ep->port, sending->priority - 1))
			path.service_level = (uint8_t)(sending->priority - 1);
		packet->path = path_intern(endpoints_paths(qp->ep->endpoints), &path);
	}
}

bool cc_extension_control(struct endpoint_qp *qp, const struct packet *packet)
{
	const struct congestion *congestion = qp->cc ? qp->cc->congestion : NULL;
	sim_time now = endpoint_now(qp->ep);
	uint64_t rate_before;

	if (packet->becn || !congestion || !congestion->ops->on_control)
		return false;
	congestion_settle(congestion, cc_of(qp), now);
	rate_before = cc_of(qp)->rate_bps;
	congestion->ops->on_control(cc_of(qp), congestion->params, now, &packet->congestion);
	departure_rate_changed(qp, rate_before);
	return true;
}

/* ---- the receiver ---- */

static struct cc_receiver *state_of(struct receiver_side *side)
{
	return (struct cc_receiver *)(void *)side->state;
}

static void send_control(struct receiver_side *side)
{
	struct endpoint_qp *qp = side->qp;
	struct packet *packet = response_packet(qp, CNP_NOTIFY, 0);

	response_set_priority(qp, packet, qp->ep->params->cnp_priority);
	packet->congestion = state_of(side)->control;
	packet->wire_bytes = packet_wire_bytes(packet);
	port_send_at(qp->ep->port, packet, endpoint_now(qp->ep));
}

/* Performs the requests that the algorithm made in a call. */
static void settle_receiver(struct receiver_side *side)
{
	struct cc_receiver *receiver = state_of(side);

	if (receiver->send_control) {
		receiver->send_control = false;
		send_control(side);
	}
	if (event_pending(&side->step)) {
		if (event_time(&side->step) == receiver->next_step)
			return;
		sim_cancel(&side->step);
	}
	if (receiver->next_step != SIM_NEVER)
		sim_schedule_at(&side->step, receiver->next_step);
}

static void step_fire(struct event *event)
{
	struct receiver_side *side = container_of(event, struct receiver_side, step);
	struct cc_receiver *receiver = state_of(side);

	receiver->next_step = SIM_NEVER;
	side->congestion->ops->receiver_step(receiver, side->congestion->params,
					     endpoint_now(side->qp->ep));
	settle_receiver(side);
}

static struct receiver_side *create_receiver(struct endpoint_qp *qp)
{
	const struct congestion *congestion = connect_peer_congestion(qp);
	struct cc_plugin *plugin = plugin_at(qp->ep, congestion);
	size_t bytes = (sizeof(struct receiver_side) + congestion->ops->receiver_bytes + 15) / 16;
	struct receiver_side *side = aligned_alloc(16, bytes * 16);
	const struct endpoint_hca *other = slot_ep(slot_peer(qp->slot));
	const struct congestion_path path = {
		.line_rate_bps = port_rate_bps(other->port),
		.base_rtt = connect_round_trip(peer_of(qp), congestion->ops),
		.mtu_bytes = other->mtu_bytes,
		.service_level = qp->path->service_level,
		.source = other->endpoint,
		.destination = qp->ep->endpoint,
		.flow = qp->peer_number,
		.host = &plugin->block.host,
	};

	assert(side);
	*side = (struct receiver_side){.qp = qp, .congestion = congestion};
	__builtin_memset(side->state, 0, bytes * 16 - sizeof(*side));
	event_init(&side->step, &qp->ep->block, step_fire);
	state_of(side)->host = plugin->receivers;
	state_of(side)->next_step = SIM_NEVER;
	congestion->ops->receiver_init(state_of(side), congestion->params, &path,
				       endpoint_now(qp->ep));
	return side;
}

void cc_extension_data(struct endpoint_qp *qp, const struct packet *packet, bool duplicate)
{
	struct cc_extension *extension;
	const struct congestion_data data = {
		.payload_bytes = packet->payload_bytes,
		.wire_bytes = packet->wire_bytes,
		.duplicate = duplicate,
		.marked = packet->ecn == ECN_CE,
		.fields = &packet->congestion,
	};

	if (!qp->cc)
		connect_state_init(qp);
	if (!qp->cc->extension)
		qp->cc->extension = create_extension();
	extension = qp->cc->extension;
	if (!extension->receiver)
		extension->receiver = create_receiver(qp);
	extension->receiver->congestion->ops->on_data(state_of(extension->receiver),
						      extension->receiver->congestion->params,
						      endpoint_now(qp->ep), &data);
	settle_receiver(extension->receiver);
}

void cc_extension_ack(struct endpoint_qp *qp, struct packet *ack)
{
	struct cc_extension *extension = qp->cc ? qp->cc->extension : NULL;

	if (!extension || !extension->receiver)
		return;
	ack->congestion = state_of(extension->receiver)->ack;
	ack->has_fields = true;
	ack->wire_bytes += extension->receiver->congestion->ops->ack_field_bytes;
}
