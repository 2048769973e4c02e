/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch: see switch.h. Here is the path of a packet from input to output, and the life of a switch.
 */
#include "switch/switch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "switch/overlay.h"
#include "switch/switch_state.h"

#define ENTRY(X, error, value, counter, name, meaning) DROP_##error = value,
enum drop_reason { SWITCH_DROPS(ENTRY, ) };
#undef ENTRY

static void discard(struct switch_port *input, struct packet *packet, enum drop_reason reason)
{
	struct fabric_switch *box = input->box;
#define PLACE(X, error, value, counter, name, meaning) [DROP_##error] = &box->count.counter,
	uint64_t *counts[] = {SWITCH_DROPS(PLACE, )};
#undef PLACE

	++*counts[reason];
	box->count.bytes_dropped += packet->wire_bytes;
	trace(&box->block, TRACE_SWITCH_DROP, packet->tag, port_index(input), reason);
	packet_free(box->pool, packet);
}

/* ... which holds its input's memory, if no buffer is shared. */
static void drop(struct switch_port *input, struct packet *packet, enum drop_reason reason)
{
	if (!input->box->buffer)
		port_release_at(input->port, packet->vl, packet->wire_bytes, packet->tail_at);
	discard(input, packet, reason);
}

/* ... which is a copy. */
static void drop_copy(struct switch_port *input, struct packet *packet, enum drop_reason reason)
{
	struct replica *replica = packet->replica;
	sim_time tail_at = packet->tail_at;

	discard(input, packet, reason);
	multicast_drop(input->box, replica, tail_at);
}

static const enum drop_reason refusals[BUFFER_VERDICT_COUNT] = {
	[BUFFER_NO_HEADROOM] = DROP_NO_HEADROOM,
	[BUFFER_EGRESS_FULL] = DROP_EGRESS_FULL,
	[BUFFER_POOL_FULL] = DROP_POOL_FULL,
};

static inline void need_start(struct fabric_switch *box)
{
	if (__builtin_expect(!shared_buffer_started(box->buffer), 0)) {
		char error[256];
		bool fits = switch_start(box, error, sizeof(error));

		assert(fits);
	}
}

/* Memory for the packet, in the buffer that all ports share; a copy has it, and joins a queue. */
static inline enum buffer_verdict admit(struct switch_port *input, struct switch_port *output,
					const struct packet *packet, unsigned ingress_vl,
					unsigned egress_vl, bool is_copy)
{
	struct shared_buffer *buffer = input->box->buffer;
	uint16_t ingress = buffer_class(port_index(input), ingress_vl);
	uint16_t egress = buffer_class(port_index(output), egress_vl);

	need_start(input->box);
	return is_copy ? shared_buffer_admit_copy(buffer, ingress, egress, packet->wire_bytes)
		       : shared_buffer_admit(buffer, ingress, egress, packet->wire_bytes);
}

/* Has its memory and its VL at the output, and may join the queue at the time that head_at says; else it was dropped. */
static inline __attribute__((always_inline)) bool
prepare(struct switch_port *input, struct switch_port *output, struct packet *packet, bool is_copy)
{
	void (*refuse)(struct switch_port *, struct packet *, enum drop_reason) =
		is_copy ? drop_copy : drop;
	struct fabric_switch *box = input->box;
	bool would_run_out = port_is_faster(output->port, input->port);
	unsigned ingress_vl = packet->vl, egress_vl = packet->vl;

	if (__builtin_expect(box->maps, 0)) {
		if (!partition_lets_out(output, packet)) {
			refuse(input, packet, DROP_PKEY_OUT);
			return false;
		}
		ingress_vl = vl_map_ingress(box, packet);
		egress_vl = vl_map_egress(box, port_index(input), port_index(output), packet,
					  ingress_vl);
		if (egress_vl >= port_vls(output->port) && egress_vl != packet->vl) {
			refuse(input, packet, DROP_VL);
			return false;
		}
		if (!box->buffer)
			ingress_vl = packet->vl; /* whose input space it holds */
	}
	if (box->buffer) {
		enum buffer_verdict verdict =
			admit(input, output, packet, ingress_vl, egress_vl, is_copy);

		if (verdict != BUFFER_ADMITTED) {
			refuse(input, packet, refusals[verdict]);
			return false;
		}
	}
	packet->hop_limit = (uint8_t)(packet->hop_limit - box->routes);
	packet->ingress = (uint16_t)(port_index(input) | ingress_vl << INGRESS_VL_SHIFT |
				     (is_copy ? INGRESS_COPY : 0));
	packet->vl = (uint8_t)egress_vl;
	if (__builtin_expect(box->on_arrival, 0))
		marking_arrive(output, packet);
	box->count.packets_forwarded++;
	box->count.bytes_forwarded += packet->wire_bytes;
	packet->head_at = (would_run_out ? packet->tail_at : packet->head_at) + box->crossing;
	trace(&box->block, TRACE_SWITCH_FORWARD, packet->tag, port_index(output), packet->head_at);
	return true;
}

static inline void queue_packet(struct switch_port *output, struct packet *packet)
{
	struct fabric_switch *box = output->box;

	if (__builtin_expect(box->telemetry, 0))
		crossing_enter(output->crossing, packet, sim_now(box->block.sim));
	port_send_at(output->port, packet, packet->head_at);
}

static inline __attribute__((always_inline)) void
forward(struct switch_port *input, struct switch_port *output, struct packet *packet, bool is_copy)
{
	if (prepare(input, output, packet, is_copy))
		queue_packet(output, packet);
}

static void forward_copy(struct switch_port *input, struct switch_port *output,
			 struct packet *packet)
{
	if (packet->payload_bytes > port_mtu(output->port))
		drop_copy(input, packet, DROP_OVERSIZE);
	else if (input->box->routes && packet->hop_limit <= 1)
		drop_copy(input, packet, DROP_HOP_LIMIT);
	else
		forward(input, output, packet, true);
}

/* To each output of the group a copy. */
static void replicate(struct switch_port *input, struct packet *packet,
		      const struct port_set *outputs)
{
	struct fabric_switch *box = input->box;
	unsigned vl = box->buffer ? vl_map_ingress(box, packet) : packet->vl;
	struct replica *replica;

	if (box->buffer) {
		enum buffer_verdict verdict;

		need_start(box);
		verdict = shared_buffer_admit_packet(
			box->buffer, buffer_class(port_index(input), vl), packet->wire_bytes);
		if (verdict != BUFFER_ADMITTED) {
			drop(input, packet, refusals[verdict]);
			return;
		}
	}
	box->count.copies += port_set_count(outputs) - 1;
	if (port_set_has(outputs, port_index(input)))
		box->count.copies--;
	replica = multicast_begin(input, packet, vl);
	PORT_SET_EACH(output, outputs)
	{
		if (output == port_index(input))
			continue;
		forward_copy(input, &box->ports[output], multicast_copy(box, replica, packet));
	}
	multicast_drop(box, replica, packet->tail_at);
	packet_free(box->pool, packet);
}

/* Out of all ports, as a bridge does with a destination that it does not know; NULL: not here. */
static const struct port_set *flood(struct fabric_switch *box, struct packet *packet)
{
	if (box->by_lid || packet->damage & ASTRAY || box->params.unknown == UNKNOWN_DROP ||
	    (box->params.unknown == UNKNOWN_FLOOD_LOSSY &&
	     box->params.buffer.lossless & 1u << packet->vl))
		return NULL;
	for (unsigned i = 0; i < box->port_count; i++)
		if (port_peer(box->ports[i].port))
			port_set_add(&box->linked, i);
	packet->damage |= ASTRAY;
	return &box->linked;
}

/* Nobody has that address, or several have. */
static void no_port(struct switch_port *input, struct packet *packet)
{
	struct fabric_switch *box = input->box;
	const struct port_set *outputs = multicast_find(box, packet->path);

	if (!outputs)
		outputs = flood(box, packet);
	if (!outputs)
		drop(input, packet, DROP_NO_ROUTE);
	else if (port_set_count(outputs) == port_set_has(outputs, port_index(input)))
		drop(input, packet, DROP_UNWANTED);
	else
		replicate(input, packet, outputs);
}

/* ... what leaves by that output; else it was dropped. */
static inline bool fits(struct switch_port *input, const struct switch_port *output,
			struct packet *packet)
{
	if (packet->payload_bytes > port_mtu(output->port))
		drop(input, packet, DROP_OVERSIZE);
	else if (input->box->routes && packet->hop_limit <= 1)
		drop(input, packet, DROP_HOP_LIMIT);
	else
		return true;
	return false;
}

void switch_receive(struct port_user *user, struct port *port, struct packet *packet)
{
	struct switch_port *input = container_of(user, struct switch_port, user);
	struct fabric_switch *box = input->box;
	unsigned output = forwarding_find(box, packet->path);

	(void)port;
	if (output == NO_ROUTE) {
		no_port(input, packet);
		return;
	}
	if (output >= box->port_count)
		output = balance_choose(box, &box->groups[output - box->port_count], packet);
	port_prefetch(box->ports[output].port, packet->vl);
	if (fits(input, &box->ports[output], packet))
		forward(input, &box->ports[output], packet, false);
}

void switch_forward(struct switch_port *input, unsigned output, struct packet *packet)
{
	struct switch_port *to = &input->box->ports[output];

	if (fits(input, to, packet))
		forward(input, to, packet, false);
}

bool switch_admit(struct switch_port *input, unsigned output, struct packet *packet)
{
	struct switch_port *to = &input->box->ports[output];

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

/* The memory is the input's, or what all share. */
static inline void release(struct switch_port *output, const struct packet *packet, sim_time at)
{
	struct fabric_switch *box = output->box;
	unsigned input = packet->ingress & INGRESS_PORT;
	unsigned vl = packet->ingress >> INGRESS_VL_SHIFT;

	if (__builtin_expect(packet->ingress & INGRESS_COPY, 0))
		multicast_depart(output, packet, at);
	else if (box->buffer)
		shared_buffer_release_at(box->buffer, buffer_class(input, vl),
					 buffer_class(port_index(output), packet->vl),
					 packet->wire_bytes, at);
	else
		port_release_at(box->ports[input].port, vl, packet->wire_bytes, at);
}

void switch_departs(struct port_user *user, struct port *port, struct packet *packet,
		    sim_time starts_at, sim_time until)
{
	struct switch_port *output = container_of(user, struct switch_port, user);

	(void)port;
	if (__builtin_expect(output->box->marks, 0)) {
		marking_depart(output, packet, starts_at);
		until = starvation_release_at(output, packet, until);
	}
	release(output, packet, until);
}

/* Queued, and will not leave: its link is down, or it has waited too long. */
static void switch_discarded(struct port_user *user, struct port *port, const struct packet *packet)
{
	struct switch_port *output = container_of(user, struct switch_port, user);
	struct fabric_switch *box = output->box;
	sim_time now = sim_now(box->block.sim);

	(void)port;
	box->count.queue_drops++;
	box->count.bytes_dropped += packet->wire_bytes;
	if (output->crossing)
		crossing_discard(output->crossing, packet);
	release(output, packet, packet->tail_at > now ? packet->tail_at : now);
}

/* The longest path from here to what is congested, in switches: through ports where packets wait and that are paused. */
static unsigned pause_depth(const struct fabric_switch *box, unsigned vl)
{
	unsigned deepest = 0;

	for (unsigned i = 0; i < box->port_count; i++) {
		const struct port *port = box->ports[i].port;
		unsigned depth = port_peer(port) && vl < port_vls(port) && port_queued(port, vl)
					 ? port_pause_depth(port, vl)
					 : 0;

		if (depth > deepest)
			deepest = depth;
	}
	return deepest + 1;
}

static void count_pause(struct fabric_switch *box, unsigned depth)
{
	uint64_t *counts[] = {&box->count.pauses_depth1, &box->count.pauses_depth2,
			      &box->count.pauses_depth3, &box->count.pauses_depth4};

	++*counts[depth < ARRAY_SIZE(counts) ? depth - 1 : ARRAY_SIZE(counts) - 1];
}

static void pause_input(void *context, unsigned port, unsigned vl, bool stop)
{
	struct fabric_switch *box = context;

	if (stop) {
		unsigned depth = pause_depth(box, vl);

		count_pause(box, depth);
		port_set_pause_depth(box->ports[port].port, vl, depth);
	}
	port_pause(box->ports[port].port, (uint8_t)(1u << vl), stop);
}

bool switch_start(struct fabric_switch *box, char *error, size_t error_bytes)
{
	marking_start(box);
	if (!overlay_start(box, error, error_bytes))
		return false;
	if (!box->buffer || shared_buffer_started(box->buffer))
		return true;
	for (unsigned i = 0; i < box->port_count; i++) {
		const struct port *port = box->ports[i].port;

		if (port_peer(port))
			shared_buffer_add_port(box->buffer, i, port_vls(port), port_rate_bps(port),
					       port_headroom(port));
	}
	return shared_buffer_start(box->buffer, error, error_bytes);
}

unsigned switch_ports(const struct fabric_switch *box)
{
	return box->port_count;
}

struct port *switch_port(struct fabric_switch *box, unsigned index)
{
	assert(index < box->port_count);
	return box->ports[index].port;
}

struct shared_buffer *switch_buffer(struct fabric_switch *box)
{
	return box->buffer;
}

const struct switch_counters *switch_counters(const struct fabric_switch *box)
{
	return &box->count;
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

const struct param_group switch_param_groups[] = {
	{"port",   port_param_list,          offsetof(struct switch_params, port),   "each port of the switch"},
	{"buffer", shared_buffer_param_list, offsetof(struct switch_params, buffer), "packet memory that all ports share (Ethernet)"},
	{"ecn",    ecn_param_list,           offsetof(struct switch_params, ecn),    "marks on congestion (Ethernet)"},
	{"fecn",   fecn_param_list,          offsetof(struct switch_params, fecn),   "marks on congestion (InfiniBand)"},
	{"conga",  conga_param_list,         offsetof(struct switch_params, conga),  "balance: conga (Ethernet)"},
	{"conweave", conweave_param_list,    offsetof(struct switch_params, conweave), "balance: conweave (Ethernet)"},
	{ 0 },
};

static const struct block_type switch_type = {
	.name         = "switch",
	.params       = switch_param_list,
	.counters     = (const struct counter[]){ SWITCH_COUNTERS(COUNTER_ENTRY) { 0 } },
	.trace_points = (const struct trace_point[]){ SWITCH_TRACE(TRACE_ENTRY) { 0 } },
};
/* clang-format on */

void switch_params_default(struct switch_params *params)
{
	params_default(switch_param_list, params);
	for (const struct param_group *group = switch_param_groups; group->name; group++)
		params_default(group->list, (char *)params + group->offset);
}

static void create_port(struct fabric_switch *box, unsigned index, enum link_layer link_layer)
{
	struct switch_port *port = &box->ports[index];
	char name[256];
	int length = snprintf(name, sizeof(name), "%s.port%u", box->block.name, index);

	assert(length > 0 && (size_t)length < sizeof(name));
	port->user = (struct port_user){
		.receive = switch_receive,
		.departs = switch_departs,
		.discarded = switch_discarded,
	};
	port->box = box;
	port->port = port_create(box->block.sim, name, &box->params.port, link_layer, box->pool,
				 &port->user);
	port_set_sources(port->port,
			 box->params.queueing == QUEUEING_ARRIVAL ? 1 : box->port_count);
	if (box->routes)
		port_refuse_astray(port->port);
	if (box->buffer)
		port_share_input(port->port);
}

struct fabric_switch *switch_create(struct sim *sim, const char *name,
				    const struct switch_params *params, unsigned ports,
				    enum link_layer link_layer, struct packet_pool *pool)
{
	size_t bytes = sizeof(struct fabric_switch) + ports * sizeof(struct switch_port);
	struct fabric_switch *box = sim_store(sim, bytes);

	assert(ports >= 1 && ports <= PORT_SET_PORTS);
	box->params = *params;
	box->port_count = ports;
	box->crossing = params->crossing_latency;
	box->by_lid = link_layer == LINK_INFINIBAND;
	box->routes = params->routes;
	box->pool = pool;
	block_init(&box->block, sim, &switch_type, name, &box->params, &box->count);
	if (!box->by_lid && params->buffer.size)
		box->buffer = shared_buffer_create(&box->block, &box->params.buffer, ports,
						   pause_input, box);
	for (unsigned i = 0; i < ports; i++)
		create_port(box, i, link_layer);
	balance_init(box);
	overlay_init(box);
	multicast_init(box);
	vl_map_init(box);
	starvation_init(box);
	marking_init(box);
	return box;
}

void switch_destroy(struct fabric_switch *box)
{
	overlay_fini(box);
	for (unsigned i = 0; i < box->port_count; i++)
		port_destroy(box->ports[i].port);
	if (box->buffer)
		shared_buffer_destroy(box->buffer);
	block_fini(&box->block);
	balance_fini(box);
	multicast_fini(box);
	starvation_fini(box);
	marking_fini(box);
	vl_map_fini(box);
	forwarding_fini(box);
}
