/*
 * switch: see switch.h.
 */
#include "switch/switch.h"

#include <stdio.h>
#include <stdlib.h>

#define NO_PORT UINT16_MAX

enum { SWITCH_TRACE(TRACE_ENUM) };
enum drop_reason { DROP_NO_ROUTE, DROP_HOP_LIMIT, DROP_OVERSIZE };

struct switch_port {
	struct port_user user;
	struct port *port;
	struct fabric_switch *box;
	uint16_t index;
};

struct fabric_switch {
	uint16_t *table; /* by LID or endpoint */
	uint32_t table_entries;
	uint32_t port_count;
	sim_time crossing;
	bool by_lid;
	bool routes;
	struct packet_pool *pool;
	struct switch_counters count;
	struct switch_params params;
	struct block block;
	struct switch_port ports[];
};

static uint32_t table_index(const struct fabric_switch *box, const struct path *path)
{
	return box->by_lid ? path->dlid : path->destination;
}

static void drop(struct switch_port *input, struct packet *packet, enum drop_reason reason)
{
	struct fabric_switch *box = input->box;
	uint64_t *counts[] = {
		[DROP_NO_ROUTE] = &box->count.no_route_drops,
		[DROP_HOP_LIMIT] = &box->count.hop_limit_drops,
		[DROP_OVERSIZE] = &box->count.oversize_drops,
	};

	++*counts[reason];
	trace(&box->block, TRACE_SWITCH_DROP, packet->tag, input->index, reason);
	port_release_at(input->port, packet->vl, packet->wire_bytes, packet->tail_at);
	packet_free(box->pool, packet);
}

static void forward(struct switch_port *input, struct switch_port *output, struct packet *packet)
{
	struct fabric_switch *box = input->box;
	bool would_run_out = port_rate_bps(output->port) > port_rate_bps(input->port);
	sim_time ready_at = (would_run_out ? packet->tail_at : packet->head_at) + box->crossing;

	box->count.packets_forwarded++;
	box->count.bytes_forwarded += packet->wire_bytes;
	trace(&box->block, TRACE_SWITCH_FORWARD, packet->tag, output->index, ready_at);
	packet->ingress = input->index;
	port_send_at(output->port, packet, ready_at);
}

static void switch_receive(struct port_user *user, struct port *port, struct packet *packet)
{
	struct switch_port *input = container_of(user, struct switch_port, user);
	struct fabric_switch *box = input->box;
	uint32_t index = table_index(box, packet->path);
	uint16_t output = index < box->table_entries ? box->table[index] : NO_PORT;

	(void)port;
	if (output == NO_PORT)
		drop(input, packet, DROP_NO_ROUTE);
	else if (packet->payload_bytes > port_params(box->ports[output].port)->mtu)
		drop(input, packet, DROP_OVERSIZE);
	else if (box->routes && packet->hop_limit <= 1)
		drop(input, packet, DROP_HOP_LIMIT);
	else {
		packet->hop_limit = (uint8_t)(packet->hop_limit - box->routes);
		forward(input, &box->ports[output], packet);
	}
}

/* Seen by the output; the space is the input's. */
static void switch_leaves(struct port_user *user, struct port *port, const struct packet *packet,
			  sim_time until)
{
	struct switch_port *output = container_of(user, struct switch_port, user);
	struct switch_port *input = &output->box->ports[packet->ingress];

	(void)port;
	port_release_at(input->port, packet->vl, packet->wire_bytes, until);
}

/* Makes room in the table for that index, and marks what is new as leading nowhere. */
static void table_reach(struct fabric_switch *box, uint32_t index)
{
	uint32_t entries = box->table_entries ? box->table_entries : 64;

	if (index < box->table_entries)
		return;
	while (entries <= index)
		entries *= 2;
	box->table = realloc(box->table, entries * sizeof(box->table[0]));
	assert(box->table);
	for (uint32_t i = box->table_entries; i < entries; i++)
		box->table[i] = NO_PORT;
	box->table_entries = entries;
}

void switch_route(struct fabric_switch *box, const struct endpoints *endpoints, uint32_t endpoint,
		  unsigned port)
{
	uint32_t index = box->by_lid ? endpoints_get(endpoints, endpoint)->lid : endpoint;

	assert(port < box->port_count);
	table_reach(box, index);
	box->table[index] = (uint16_t)port;
}

static void topology_route(void *context, const struct endpoints *endpoints, uint32_t endpoint,
			   unsigned port)
{
	switch_route(context, endpoints, endpoint, port);
}

static struct port *topology_port(void *context, unsigned index)
{
	return switch_port(context, index);
}

struct topology_switch switch_topology(struct fabric_switch *box)
{
	return (struct topology_switch){
		.context = box,
		.ports = box->port_count,
		.port = topology_port,
		.route = topology_route,
	};
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

const struct switch_counters *switch_counters(const struct fabric_switch *box)
{
	return &box->count;
}

/* clang-format off */
#define ROW(...) PARAM_ROW(struct switch_params, __VA_ARGS__)
const struct param switch_param_list[] = { SWITCH_PARAMS(ROW) { 0 } };

const struct param_group switch_param_groups[] = {
	{"port", port_param_list, offsetof(struct switch_params, port), "each port of the switch"},
	{ 0 },
};

static const struct block_type switch_type = {
	.name         = "switch",
	.params       = switch_param_list,
	.counters     = (const struct counter[]){ SWITCH_COUNTERS(COUNTER_ENTRY) { 0 } },
	.trace_points = (const struct trace_point[]){ SWITCH_TRACE(TRACE_ENTRY) { 0 } },
};
/* clang-format on */

static void create_port(struct fabric_switch *box, unsigned index, enum link_layer link_layer)
{
	struct switch_port *port = &box->ports[index];
	char name[256];
	int length = snprintf(name, sizeof(name), "%s.port%u", box->block.name, index);

	assert(length > 0 && (size_t)length < sizeof(name));
	port->user = (struct port_user){.receive = switch_receive, .leaves = switch_leaves};
	port->box = box;
	port->index = (uint16_t)index;
	port->port = port_create(box->block.sim, name, &box->params.port, link_layer, box->pool,
				 &port->user);
	port_set_sources(port->port, box->port_count);
}

struct fabric_switch *switch_create(struct sim *sim, const char *name,
				    const struct switch_params *params, unsigned ports,
				    enum link_layer link_layer, struct packet_pool *pool)
{
	struct fabric_switch *box = calloc(1, sizeof(*box) + ports * sizeof(box->ports[0]));

	assert(box && ports >= 1 && ports <= SWITCH_PORTS_MAX);
	box->params = *params;
	box->port_count = ports;
	box->crossing = params->crossing_latency;
	box->by_lid = link_layer == LINK_INFINIBAND;
	box->routes = params->routes;
	box->pool = pool;
	block_init(&box->block, sim, &switch_type, name, &box->params, &box->count);
	for (unsigned i = 0; i < ports; i++)
		create_port(box, i, link_layer);
	return box;
}

void switch_destroy(struct fabric_switch *box)
{
	for (unsigned i = 0; i < box->port_count; i++)
		port_destroy(box->ports[i].port);
	block_fini(&box->block);
	free(box->table);
	free(box);
}
