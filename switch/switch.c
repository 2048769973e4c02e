/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch: see switch.h. This file has the path of a packet from input to output, creation and
 * destruction.
 */
#include "switch/switch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "switch/mirror.h"
#include "switch/overlay.h"
#include "switch/switch_fold.h"
#include "switch/switch_state.h"

#define ENTRY(X, error, value, counter, name, meaning) DROP_##error = value,
enum drop_reason { SWITCH_DROPS(ENTRY, ) };
#undef ENTRY

static void discard(struct switch_port *input, struct packet *packet, enum drop_reason reason)
{
	struct fabric_switch *sw = input->sw;
#define PLACE(X, error, value, counter, name, meaning) [DROP_##error] = &sw->count.counter,
	uint64_t *counts[] = {SWITCH_DROPS(PLACE, )};
#undef PLACE

	++*counts[reason];
	sw->count.bytes_dropped += packet->wire_bytes;
	sim_note_loss(sw->block.sim, sim_now(sw->block.sim));
	trace(&sw->block, TRACE_SWITCH_DROP, packet->tag, port_index(input), reason);
	mirror_dropped(input, packet);
	packet_free(sw->pool, packet);
}

/* Drops a packet that holds memory of its input, if there is no shared buffer. */
static void drop(struct switch_port *input, struct packet *packet, enum drop_reason reason)
{
	if (!input->sw->buffer)
		port_release_at(input->port, packet->vl, packet->wire_bytes, packet->tail_at);
	discard(input, packet, reason);
}

/* Drops a packet that is a copy. */
static void drop_copy(struct switch_port *input, struct packet *packet, enum drop_reason reason)
{
	struct replica *replica = packet->replica;
	sim_time tail_at = packet->tail_at;

	discard(input, packet, reason);
	multicast_drop(input->sw, replica, tail_at);
}

static const enum drop_reason refusals[BUFFER_VERDICT_COUNT] = {
	[BUFFER_NO_HEADROOM] = DROP_NO_HEADROOM,
	[BUFFER_EGRESS_FULL] = DROP_EGRESS_FULL,
	[BUFFER_POOL_FULL] = DROP_POOL_FULL,
};

static inline void need_start(struct fabric_switch *sw)
{
	if (__builtin_expect(!shared_buffer_started(sw->buffer), 0)) {
		char error[256];
		bool fits = switch_start(sw, error, sizeof(error));

		assert(fits);
	}
}

/* Reserves memory for the packet in the shared buffer. A copy has memory, and joins a queue. */
static inline enum buffer_verdict admit(struct switch_port *input, struct switch_port *output,
					const struct packet *packet, unsigned ingress_vl,
					unsigned egress_vl, bool is_copy)
{
	struct shared_buffer *buffer = input->sw->buffer;
	uint16_t ingress = buffer_class(port_index(input), ingress_vl);
	uint16_t egress = buffer_class(port_index(output), egress_vl);

	need_start(input->sw);
	return is_copy ? shared_buffer_admit_copy(buffer, ingress, egress, packet->wire_bytes)
		       : shared_buffer_admit(buffer, ingress, egress, packet->wire_bytes);
}

/* Reserves memory and VL at the output. The packet may then join the queue at its head_at. Returns
 * false if it was dropped. */
static inline __attribute__((always_inline)) bool
prepare(struct switch_port *input, struct switch_port *output, struct packet *packet, bool is_copy)
{
	void (*refuse)(struct switch_port *, struct packet *, enum drop_reason) =
		is_copy ? drop_copy : drop;
	struct fabric_switch *sw = input->sw;
	unsigned from_index = port_index(input), to_index = port_index(output);
	struct port *to = sw->links[to_index];
	bool would_run_out = port_is_faster(to, sw->links[from_index]);
	unsigned ingress_vl = packet->vl, egress_vl = packet->vl;

	if (__builtin_expect(sw->maps, 0)) {
		if (!partition_lets_out(output, packet)) {
			refuse(input, packet, DROP_PKEY_OUT);
			return false;
		}
		ingress_vl = vl_map_ingress(sw, packet);
		egress_vl = vl_map_egress(sw, from_index, to_index, packet, ingress_vl);
		if (egress_vl >= port_vls(to) && egress_vl != packet->vl) {
			refuse(input, packet, DROP_VL);
			return false;
		}
		if (!sw->buffer)
			ingress_vl = packet->vl; /* VL of the input space that the packet holds */
	}
	if (sw->buffer) {
		enum buffer_verdict verdict =
			admit(input, output, packet, ingress_vl, egress_vl, is_copy);

		if (verdict != BUFFER_ADMITTED) {
			refuse(input, packet, refusals[verdict]);
			return false;
		}
	}
	packet->hop_limit = (uint8_t)(packet->hop_limit - sw->routes);
	packet->ingress = (uint16_t)(from_index | ingress_vl << INGRESS_VL_SHIFT |
				     (is_copy ? INGRESS_COPY : 0));
	packet->vl = (uint8_t)egress_vl;
	if (__builtin_expect(sw->on_arrival, 0))
		marking_arrive(output, packet);
	sw->count.packets_forwarded++;
	sw->count.bytes_forwarded += packet->wire_bytes;
	packet->head_at = ((would_run_out | sw->stores) ? packet->tail_at : packet->head_at) +
			  sw->forwarding_latency;
	trace(&sw->block, TRACE_SWITCH_FORWARD, packet->tag, to_index, packet->head_at);
	return true;
}

static inline void queue_packet(struct switch_port *output, struct packet *packet)
{
	struct fabric_switch *sw = output->sw;

	if (__builtin_expect(sw->telemetry, 0))
		pipeline_enter(output->pipeline, packet, sim_now(sw->block.sim));
	port_send_at(sw->links[port_index(output)], packet, packet->head_at);
}

static inline __attribute__((always_inline)) void
forward(struct switch_port *input, struct switch_port *output, struct packet *packet, bool is_copy)
{
	if (prepare(input, output, packet, is_copy))
		queue_packet(output, packet);
}

/* The MTU of a port is the payload of RDMA. Other frames fit any port: MTU 9216. */
static inline bool is_oversize(const struct switch_port *output, const struct packet *packet)
{
	return packet->payload_bytes > port_mtu(output->sw->links[port_index(output)]) &&
	       packet->kind == PACKET_DATA;
}

static void forward_copy(struct switch_port *input, struct switch_port *output,
			 struct packet *packet)
{
	if (is_oversize(output, packet))
		drop_copy(input, packet, DROP_OVERSIZE);
	else if (input->sw->routes && packet->hop_limit <= 1)
		drop_copy(input, packet, DROP_HOP_LIMIT);
	else
		forward(input, output, packet, true);
}

/* Sends a copy to each output of the group. */
static void replicate(struct switch_port *input, struct packet *packet,
		      const struct port_set *outputs)
{
	struct fabric_switch *sw = input->sw;
	unsigned vl = sw->buffer ? vl_map_ingress(sw, packet) : packet->vl;
	struct replica *replica;

	if (sw->buffer) {
		enum buffer_verdict verdict;

		need_start(sw);
		verdict = shared_buffer_admit_packet(
			sw->buffer, buffer_class(port_index(input), vl), packet->wire_bytes);
		if (verdict != BUFFER_ADMITTED) {
			drop(input, packet, refusals[verdict]);
			return;
		}
	}
	sw->count.copies += port_set_count(outputs) - 1;
	if (port_set_has(outputs, port_index(input)))
		sw->count.copies--;
	replica = multicast_begin(input, packet, vl);
	PORT_SET_EACH(output, outputs)
	{
		if (output == port_index(input))
			continue;
		forward_copy(input, &sw->ports[output], multicast_copy(sw, replica, packet));
	}
	multicast_drop(sw, replica, packet->tail_at);
	packet_free(sw->pool, packet);
}

/* Returns all linked ports, as for an unknown destination of a bridge, or NULL if the switch does
 * not flood. */
static const struct port_set *flood(struct fabric_switch *sw, struct packet *packet)
{
	if (sw->by_lid || packet->damage & WRONG_MAC || sw->params.unknown == UNKNOWN_DROP ||
	    (sw->params.unknown == UNKNOWN_FLOOD_LOSSY &&
	     sw->params.buffer.lossless & 1u << packet->vl))
		return NULL;
	for (unsigned i = 0; i < sw->port_count; i++)
		if (port_peer(sw->ports[i].port))
			port_set_add(&sw->linked, i);
	packet->damage |= WRONG_MAC;
	return &sw->linked;
}

/* Handles a packet whose address has no port or several ports. */
static void no_port(struct switch_port *input, struct packet *packet)
{
	struct fabric_switch *sw = input->sw;
	const struct port_set *outputs = NULL;

	if (sw->snooping && snooping_takes(input, packet, &outputs))
		return;
	if (!outputs)
		outputs = multicast_find(sw, packet->path);
	if (!outputs)
		outputs = flood(sw, packet);
	if (!outputs)
		drop(input, packet, DROP_NO_ROUTE);
	else if (port_set_count(outputs) == port_set_has(outputs, port_index(input)))
		drop(input, packet, DROP_MULTICAST_NO_PORT);
	else
		replicate(input, packet, outputs);
}

/* Returns true if the packet may leave by that output. Otherwise drops it. */
static inline bool fits(struct switch_port *input, const struct switch_port *output,
			struct packet *packet)
{
	if (is_oversize(output, packet))
		drop(input, packet, DROP_OVERSIZE);
	else if (input->sw->routes && packet->hop_limit <= 1)
		drop(input, packet, DROP_HOP_LIMIT);
	else
		return true;
	return false;
}

void switch_receive(struct port_user *user, struct port *port, struct packet *packet)
{
	struct switch_port *input = container_of(user, struct switch_port, user);
	struct fabric_switch *sw = input->sw;
	unsigned output = forwarding_find(sw, packet->path);

	(void)port;
	if (output == NO_ROUTE) {
		no_port(input, packet);
		return;
	}
	if (output >= sw->port_count)
		output = balance_choose(sw, &sw->groups[output - sw->port_count], packet);
	port_prefetch(sw->links[output], packet->vl);
	if (fits(input, &sw->ports[output], packet))
		forward(input, &sw->ports[output], packet, false);
}

void switch_forward(struct switch_port *input, unsigned output, struct packet *packet)
{
	struct switch_port *to = &input->sw->ports[output];

	if (fits(input, to, packet))
		forward(input, to, packet, false);
}

bool switch_admit(struct switch_port *input, unsigned output, struct packet *packet)
{
	struct switch_port *to = &input->sw->ports[output];

	return fits(input, to, packet) && prepare(input, to, packet, false);
}

void switch_queue(struct switch_port *output, struct packet *packet)
{
	queue_packet(output, packet);
}

void switch_receive_filtered(struct port_user *user, struct port *port, struct packet *packet)
{
	struct switch_port *input = container_of(user, struct switch_port, user);

	if (partition_lets_in(input, packet))
		switch_receive(user, port, packet);
	else
		drop(input, packet, DROP_PKEY_IN);
}

/* Releases the memory of the packet, in its input or in the shared buffer. */
static inline void release(struct switch_port *output, const struct packet *packet, sim_time at)
{
	struct fabric_switch *sw = output->sw;
	unsigned input = packet->ingress & INGRESS_PORT;
	unsigned vl = packet->ingress >> INGRESS_VL_SHIFT;

	if (__builtin_expect(packet->ingress & INGRESS_COPY, 0))
		multicast_depart(output, packet, at);
	else if (sw->buffer)
		shared_buffer_release_at(sw->buffer, buffer_class(input, vl),
					 buffer_class(port_index(output), packet->vl),
					 packet->wire_bytes, at);
	else
		port_release_at(sw->links[input], vl, packet->wire_bytes, at);
}

void switch_departs(struct port_user *user, struct port *port, struct packet *packet,
		    sim_time starts_at, sim_time until)
{
	struct switch_port *output = container_of(user, struct switch_port, user);
	const struct fabric_switch *sw = output->sw;

	if (sw->marks &&
	    !(sw->marks_long_queues && port_queued_bytes(port, packet->vl) <= output->kmin)) {
		marking_depart(output, packet, starts_at);
		until = starvation_release_at(output, packet, until);
	}
	release(output, packet, until);
}

/* Handles a queued packet that will not leave, because its link is down or it has waited too
 * long. */
static void switch_discarded(struct port_user *user, struct port *port, const struct packet *packet)
{
	struct switch_port *output = container_of(user, struct switch_port, user);
	struct fabric_switch *sw = output->sw;
	sim_time now = sim_now(sw->block.sim);

	(void)port;
	sw->count.queue_drops++;
	sw->count.bytes_dropped += packet->wire_bytes;
	if (output->pipeline)
		pipeline_discard(output->pipeline, packet);
	release(output, packet, packet->tail_at > now ? packet->tail_at : now);
}

/* Returns the depth of a new pause: the longest path to the congestion in switches, through paused
 * ports with waiting packets. */
static unsigned pause_depth(const struct fabric_switch *sw, unsigned vl)
{
	unsigned deepest = 0;

	for (unsigned i = 0; i < sw->port_count; i++) {
		const struct port *port = sw->ports[i].port;
		unsigned depth = port_peer(port) && vl < port_vls(port) && port_queued(port, vl)
					 ? port_pause_depth(port, vl)
					 : 0;

		if (depth > deepest)
			deepest = depth;
	}
	return deepest + 1;
}

static void count_pause(struct fabric_switch *sw, unsigned depth)
{
	uint64_t *counts[] = {&sw->count.pauses_depth1, &sw->count.pauses_depth2,
			      &sw->count.pauses_depth3, &sw->count.pauses_depth4};

	++*counts[depth < ARRAY_SIZE(counts) ? depth - 1 : ARRAY_SIZE(counts) - 1];
}

static void pause_input(void *context, unsigned port, unsigned vl, bool stop)
{
	struct fabric_switch *sw = context;

	if (stop) {
		unsigned depth = pause_depth(sw, vl);

		count_pause(sw, depth);
		port_set_pause_depth(sw->ports[port].port, vl, depth);
	}
	port_pause(sw->ports[port].port, (uint8_t)(1u << vl), stop);
}

bool switch_start(struct fabric_switch *sw, char *error, size_t error_bytes)
{
	marking_start(sw);
	plugins_start(sw);
	if (!overlay_start(sw, error, error_bytes))
		return false;
	if (!sw->buffer || shared_buffer_started(sw->buffer))
		return true;
	for (unsigned i = 0; i < sw->port_count; i++) {
		const struct port *port = sw->ports[i].port;

		if (port_peer(port))
			shared_buffer_add_port(sw->buffer, i, port_vls(port), port_rate_bps(port),
					       port_headroom(port));
	}
	return shared_buffer_start(sw->buffer, error, error_bytes);
}

unsigned switch_ports(const struct fabric_switch *sw)
{
	return sw->port_count;
}

struct port *switch_port(struct fabric_switch *sw, unsigned index)
{
	assert(index < sw->port_count);
	return sw->ports[index].port;
}

struct shared_buffer *switch_buffer(struct fabric_switch *sw)
{
	return sw->buffer;
}

const struct switch_counters *switch_counters(const struct fabric_switch *sw)
{
	return &sw->count;
}

/* clang-format off */
#define ROW(...) PARAM_ROW(struct switch_params, __VA_ARGS__)
const struct param switch_param_list[] = { SWITCH_PARAMS(ROW) { 0 } };
#undef ROW
#define ROW(...) PARAM_ROW(struct switch_ecn_params, __VA_ARGS__)
static const struct param ecn_param_list[] = { SWITCH_ECN_PARAMS(ROW) { 0 } };
#undef ROW
#define ROW(...) PARAM_ROW(struct switch_fecn_params, __VA_ARGS__)
static const struct param fecn_param_list[] = { SWITCH_FECN_PARAMS(ROW) { 0 } };
#undef ROW
#define ROW(...) PARAM_ROW(struct switch_conga_params, __VA_ARGS__)
static const struct param conga_param_list[] = { SWITCH_CONGA_PARAMS(ROW) { 0 } };
#undef ROW
#define ROW(...) PARAM_ROW(struct switch_conweave_params, __VA_ARGS__)
static const struct param conweave_param_list[] = { SWITCH_CONWEAVE_PARAMS(ROW) { 0 } };
#undef ROW
#define ROW(...) PARAM_ROW(struct switch_plugin_params, __VA_ARGS__)
static const struct param plugin_param_list[] = { SWITCH_PLUGIN_PARAMS(ROW) { 0 } };

const struct param_section switch_sections[] = {
	{"port",   port_param_list,          offsetof(struct switch_params, port),
	 "each port of the switch"},
	{"buffer", shared_buffer_param_list, offsetof(struct switch_params, buffer),
	 "packet memory that all ports share (Ethernet)"},
	{"ecn",    ecn_param_list,           offsetof(struct switch_params, ecn),
	 "congestion marks on Ethernet"},
	{"fecn",   fecn_param_list,          offsetof(struct switch_params, fecn),
	 "congestion marks on InfiniBand"},
	{"conga",  conga_param_list,         offsetof(struct switch_params, conga),
	 "load balancing with balance: conga (Ethernet)"},
	{"conweave", conweave_param_list,    offsetof(struct switch_params, conweave),
	 "load balancing with balance: conweave (Ethernet)"},
	{"plugins", plugin_param_list,       offsetof(struct switch_params, plugins),
	 "shared objects that take decisions of the switch"},
	{ 0 },
};

static void carry_buffer(struct block *block, struct carry *carry)
{
	struct fabric_switch *sw = container_of(block, struct fabric_switch, block);

	if (sw->buffer)
		shared_buffer_carry(sw->buffer, carry);
}

static const struct block_type switch_type = {
	.name         = "switch",
	.params       = switch_param_list,
	.counters     = (const struct counter[]){ SWITCH_COUNTERS(COUNTER_ENTRY) { 0 } },
	.trace_points = (const struct trace_point[]){ SWITCH_TRACE(TRACE_ENTRY) { 0 } },
	.fold         = switch_fold,
	.carry        = carry_buffer,
};
/* clang-format on */

void switch_params_default(struct switch_params *params)
{
	params_default(switch_param_list, params);
	for (const struct param_section *section = switch_sections; section->name; section++)
		params_default(section->list, (char *)params + section->offset);
}

static void create_port(struct fabric_switch *sw, unsigned index, enum link_layer link_layer)
{
	struct switch_port *port = &sw->ports[index];
	char name[256];
	int length = snprintf(name, sizeof(name), "%s.port%u", sw->block.name, index);

	assert(length > 0 && (size_t)length < sizeof(name));
	port->user = (struct port_user){
		.receive = switch_receive,
		.departs = switch_departs,
		.discarded = switch_discarded,
	};
	port->sw = sw;
	port->port = port_create(sw->block.sim, name, &sw->params.port, link_layer, sw->pool,
				 &port->user);
	sw->links[index] = port->port;
	prefetch_init(port->port);
	port_set_sources(port->port, sw->params.queueing == QUEUEING_ARRIVAL ? 1 : sw->port_count);
	if (sw->routes)
		port_refuse_wrong_mac(port->port);
	if (sw->buffer)
		port_share_input(port->port);
}

struct fabric_switch *switch_create(struct sim *sim, const char *name,
				    const struct switch_params *params, unsigned ports,
				    enum link_layer link_layer, struct packet_pool *pool)
{
	size_t bytes = sizeof(struct fabric_switch) + ports * sizeof(struct switch_port);
	struct fabric_switch *sw = sim_arena(sim, bytes);

	assert(ports >= 1 && ports <= PORT_SET_PORTS);
	sw->params = *params;
	sw->port_count = ports;
	sw->forwarding_latency = params->forwarding_latency;
	sw->stores = params->stores;
	sw->by_lid = link_layer == LINK_INFINIBAND;
	sw->routes = params->routes;
	sw->pool = pool;
	block_init(&sw->block, sim, &switch_type, name, &sw->params, &sw->count);
	if (!sw->by_lid && params->buffer.size)
		sw->buffer = shared_buffer_create(&sw->block, &sw->params.buffer, ports,
						  pause_input, sw);
	sw->links = sim_arena(sim, ports * sizeof(sw->links[0]));
	for (unsigned i = 0; i < ports; i++)
		create_port(sw, i, link_layer);
	plugins_init(sw);
	balance_init(sw);
	overlay_init(sw);
	multicast_init(sw);
	snooping_init(sw);
	vl_map_init(sw);
	starvation_init(sw);
	marking_init(sw);
	return sw;
}

void switch_destroy(struct fabric_switch *sw)
{
	mirror_fini(sw);
	overlay_fini(sw);
	for (unsigned i = 0; i < sw->port_count; i++)
		port_destroy(sw->ports[i].port);
	if (sw->buffer)
		shared_buffer_destroy(sw->buffer);
	block_fini(&sw->block);
	balance_fini(sw);
	multicast_fini(sw);
	snooping_fini(sw);
	starvation_fini(sw);
	marking_fini(sw);
	vl_map_fini(sw);
	plugins_fini(sw);
	forwarding_fini(sw);
}
