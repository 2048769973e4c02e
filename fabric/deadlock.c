/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deadlock: see deadlock.h.
 */
#include "fabric/deadlock.h"

#include <stdio.h>
#include <stdlib.h>

#include "fabric/port_state.h"
#include "fabric/topology_state.h"

/* The buffers of all switches, one per (port, VL). */
struct graph {
	const struct topology *topology;
	uint32_t *first;   /* number of a node's first buffer */
	uint64_t *waiting; /* bytes of the buffer that are queued */
	uint8_t *dead;
	uint8_t *shared; /* the buffer holds packets with several waiting copies */
	uint32_t count;
};

static uint32_t buffer_of(const struct graph *graph, uint32_t node, uint32_t port, unsigned vl)
{
	return graph->first[node] + port * PORT_VLS + vl;
}

static uint64_t space_of(const struct port *port, const struct packet *packet)
{
	return port->ethernet ? packet->wire_bytes
			      : (uint64_t)credit_blocks(packet->wire_bytes) * CREDIT_BLOCK_BYTES;
}

static unsigned vl_of(const struct packet *packet)
{
	return (packet->ingress & ~INGRESS_COPY) >> INGRESS_VL_SHIFT;
}

static void count_queue(struct graph *graph, uint32_t number, const struct port *port,
			const struct packet_queue *queue)
{
	for (const struct packet *packet = queue->head; packet; packet = packet->next) {
		uint32_t buffer =
			buffer_of(graph, number, packet->ingress & INGRESS_PORT, vl_of(packet));

		if (packet->ingress & INGRESS_COPY)
			graph->shared[buffer] = true;
		else
			graph->waiting[buffer] += space_of(port, packet);
	}
}

/* Counts the bytes in a switch's output queues, by the input that they came from. Copies share
 * their space: see held_by_dead(). */
static void count_waiting(struct graph *graph, uint32_t number)
{
	const struct node *node = &graph->topology->nodes[number];

	for (uint32_t i = 0; i < node->ports; i++) {
		const struct port *port = topology_port_of(node, i);

		for (uint32_t vls = port->waiting; vls; vls &= vls - 1) {
			const struct packet_queue *queues =
				port_queues_of(port, (unsigned)__builtin_ctz(vls));

			for (uint32_t j = 0; j < port->sources; j++)
				count_queue(graph, number, port, &queues[j]);
		}
	}
}

static void mark_full(struct graph *graph, uint32_t number)
{
	const struct node *node = &graph->topology->nodes[number];

	for (uint32_t i = 0; i < node->ports; i++) {
		for (unsigned vl = 0; vl < PORT_VLS; vl++) {
			uint32_t buffer = buffer_of(graph, number, i, vl);

			/* provisional, until is_dead() checks it */
			if (graph->shared[buffer])
				graph->dead[buffer] = true;
			else if (graph->waiting[buffer])
				graph->dead[buffer] =
					graph->waiting[buffer] ==
					node->ops.input_used(node->ops.context, i, vl);
		}
	}
}

/* Returns true if the first packet of this queue waits for space of a buffer, so that it stays if
 * the buffer is dead. */
static bool stopped(const struct port *port, const struct packet *packet)
{
	const struct port *peer = port->peer;
	unsigned vl = packet->vl;

	if (!peer || port->down)
		return false;
	if (port->ethernet)
		return port_paused(port, vl) && peer->pausing & 1u << vl;
	return vl != MANAGEMENT_VL && !credits_suffice(port, vl, packet->wire_bytes) &&
	       peer->vls[vl].used + credit_blocks(packet->wire_bytes) > peer->capacity;
}

/* Checks a queue at output `port` of packets from that buffer. Returns false if the queue will
 * move. *next is the buffer that it waits for. */
static bool queue_is_dead(const struct graph *graph, const struct node *node, uint32_t port,
			  const struct packet *packet, uint32_t *next)
{
	const struct end *end = &node->ends[port];

	if (!stopped(topology_port_of(node, port), packet) ||
	    !graph->topology->nodes[end->node].is_switch)
		return false;
	*next = buffer_of(graph, end->node, end->port, packet->vl);
	return graph->dead[*next];
}

static const struct packet *head_of(const struct port *port, uint32_t input, unsigned vl)
{
	return port_queues_of(port, vl)[port->sources == 1 ? 0 : input].head;
}

/* Returns true if a copy of the same packet is in a dead queue of an earlier output. */
static bool is_counted(const struct graph *graph, const struct node *node, uint32_t input,
		       uint32_t output, unsigned out_vl, const struct packet *copy)
{
	uint32_t next;

	for (uint32_t i = 0; i <= output; i++) {
		const struct port *port = topology_port_of(node, i);
		uint32_t vls = i < output ? port->waiting : port->waiting & ((1u << out_vl) - 1);

		for (; vls; vls &= vls - 1) {
			const struct packet *other =
				head_of(port, input, (unsigned)__builtin_ctz(vls));

			if (!other || !queue_is_dead(graph, node, i, other, &next))
				continue;
			for (; other; other = other->next)
				if (other->ingress & INGRESS_COPY &&
				    other->replica == copy->replica)
					return true;
		}
	}
	return false;
}

/* Returns the bytes of the buffer that packets in dead queues hold. A packet holds its space while
 * one of its copies waits. */
static uint64_t held_by_dead(const struct graph *graph, uint32_t number, uint32_t input,
			     unsigned vl, uint32_t *output, uint32_t *next)
{
	const struct node *node = &graph->topology->nodes[number];
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < node->ports; i++) {
		const struct port *port = topology_port_of(node, i);

		for (uint32_t vls = port->waiting; vls; vls &= vls - 1) {
			unsigned out_vl = (unsigned)__builtin_ctz(vls);
			const struct packet *packet = head_of(port, input, out_vl);
			uint32_t to;

			if (!packet || !queue_is_dead(graph, node, i, packet, &to))
				continue;
			for (; packet; packet = packet->next) {
				if (vl_of(packet) != vl ||
				    (packet->ingress & INGRESS_COPY &&
				     is_counted(graph, node, input, i, out_vl, packet)))
					continue;
				bytes += space_of(port, packet);
				*output = i;
				*next = to;
			}
		}
	}
	return bytes;
}

/* Returns true if all queues with packets of the buffer are dead. *output and *next belong to the
 * last queue. */
static bool is_dead(const struct graph *graph, uint32_t number, uint32_t input, unsigned vl,
		    uint32_t *output, uint32_t *next)
{
	const struct node *node = &graph->topology->nodes[number];

	if (graph->shared[buffer_of(graph, number, input, vl)])
		return held_by_dead(graph, number, input, vl, output, next) ==
		       node->ops.input_used(node->ops.context, input, vl);
	for (uint32_t i = 0; i < node->ports; i++) {
		const struct port *port = topology_port_of(node, i);

		for (uint32_t vls = port->waiting; vls; vls &= vls - 1) {
			const struct packet *packet =
				head_of(port, input, (unsigned)__builtin_ctz(vls));

			if (!packet || vl_of(packet) != vl)
				continue;
			if (!queue_is_dead(graph, node, i, packet, next))
				return false;
			*output = i;
		}
	}
	return true;
}

/* Removes live buffers until no more can be removed. Returns the number of dead buffers. */
static uint32_t bury(struct graph *graph)
{
	uint32_t dead, output, next;
	bool changed = true;

	while (changed) {
		changed = false;
		dead = 0;
		for (uint32_t i = 0; i < graph->topology->count; i++) {
			uint32_t buffers = graph->topology->nodes[i].is_switch
						   ? graph->topology->nodes[i].ports * PORT_VLS
						   : 0;

			for (uint32_t j = 0; j < buffers; j++) {
				if (!graph->dead[graph->first[i] + j])
					continue;
				if (is_dead(graph, i, j / PORT_VLS, j % PORT_VLS, &output, &next)) {
					dead++;
					continue;
				}
				graph->dead[graph->first[i] + j] = false;
				changed = true;
			}
		}
	}
	return dead;
}

static uint32_t node_of_buffer(const struct graph *graph, uint32_t buffer)
{
	uint32_t node = 0;

	for (uint32_t i = 0; i < graph->topology->count; i++)
		if (graph->topology->nodes[i].is_switch && graph->first[i] <= buffer)
			node = i;
	return node;
}

static uint32_t step(const struct graph *graph, uint32_t buffer, struct deadlock_hop *hop)
{
	uint32_t number = node_of_buffer(graph, buffer), output = 0, next = buffer;
	const struct node *node = &graph->topology->nodes[number];
	uint32_t input = (buffer - graph->first[number]) / PORT_VLS;
	unsigned vl = (buffer - graph->first[number]) % PORT_VLS;
	bool dead = is_dead(graph, number, input, vl, &output, &next);

	assert(dead);
	*hop = (struct deadlock_hop){topology_port_of(node, input), topology_port_of(node, output),
				     (uint8_t)vl};
	return next;
}

/* Finds the cycle. Each dead buffer leads to another dead buffer. After as many steps as there are
 * buffers, the buffer is part of the cycle. */
static void name_cycle(const struct graph *graph, struct deadlock *deadlock)
{
	struct deadlock_hop hop;
	uint32_t buffer = 0, start;

	while (!graph->dead[buffer])
		buffer++;
	for (unsigned i = 0; i < deadlock->buffers; i++)
		buffer = step(graph, buffer, &hop);
	start = buffer;
	do {
		buffer = step(graph, buffer, &hop);
		deadlock->cut = deadlock->count == DEADLOCK_HOPS;
		if (!deadlock->cut)
			deadlock->hops[deadlock->count++] = hop;
	} while (buffer != start);
}

bool deadlock_find(const struct topology *topology, struct deadlock *deadlock)
{
	struct graph graph = {.topology = topology};

	*deadlock = (struct deadlock){0};
	graph.first = malloc(topology->count * sizeof(uint32_t));
	assert(graph.first);
	for (uint32_t i = 0; i < topology->count; i++) {
		graph.first[i] = graph.count;
		if (topology->nodes[i].is_switch)
			graph.count += topology->nodes[i].ports * PORT_VLS;
	}
	graph.waiting = calloc(graph.count + 1, sizeof(uint64_t));
	graph.dead = calloc(graph.count + 1, 1);
	graph.shared = calloc(graph.count + 1, 1);
	assert(graph.waiting && graph.dead && graph.shared);
	for (uint32_t i = 0; i < topology->count; i++)
		if (topology->nodes[i].is_switch)
			count_waiting(&graph, i);
	for (uint32_t i = 0; i < topology->count; i++)
		if (topology->nodes[i].is_switch)
			mark_full(&graph, i);
	deadlock->buffers = bury(&graph);
	if (deadlock->buffers) {
		name_cycle(&graph, deadlock);
		deadlock->at = sim_now(deadlock->hops[0].input->block.sim);
	}
	free(graph.first);
	free(graph.waiting);
	free(graph.dead);
	free(graph.shared);
	return deadlock->count > 0;
}

const char *deadlock_print(const struct deadlock *deadlock, char *text, size_t text_bytes)
{
	size_t used = 0;

	text[0] = 0;
	for (unsigned i = 0; i < deadlock->count && used < text_bytes; i++) {
		const struct deadlock_hop *hop = &deadlock->hops[i];
		const struct deadlock_hop *next = &deadlock->hops[(i + 1) % deadlock->count];
		int length = snprintf(text + used, text_bytes - used,
				      "%s%s VL %u waits at %s for %s VL %u", i ? ", " : "",
				      port_name(hop->input), hop->vl, port_name(hop->output),
				      port_name(next->input), next->vl);

		used += (size_t)length;
	}
	return text;
}

struct deadlock_watch {
	struct event event;
	struct block block;
	const struct topology *topology;
	sim_time interval;
	uint64_t looks;
	deadlock_found *found;
	void *context;
};

static void look(struct event *event)
{
	struct deadlock_watch *watch = container_of(event, struct deadlock_watch, event);
	struct deadlock deadlock;

	watch->looks++;
	if (deadlock_find(watch->topology, &deadlock))
		watch->found(watch->context, &deadlock);
	else if (sim_next(watch->block.sim) != SIM_NEVER)
		sim_schedule(&watch->event, watch->interval);
}

uint64_t deadlock_watch_looks(const struct deadlock_watch *watch)
{
	return watch->looks;
}

struct deadlock_watch *deadlock_watch_create(struct sim *sim, const struct topology *topology,
					     sim_time interval, deadlock_found *found,
					     void *context)
{
	static const struct block_type type = {.name = "deadlock_watch"};
	struct deadlock_watch *watch = calloc(1, sizeof(*watch));

	assert(watch && interval);
	watch->topology = topology;
	watch->interval = interval;
	watch->found = found;
	watch->context = context;
	block_init(&watch->block, sim, &type, "deadlock_watch", NULL, NULL);
	event_init_priority(&watch->event, &watch->block, look, PRIORITY_LAST);
	sim_schedule(&watch->event, interval);
	return watch;
}

void deadlock_watch_destroy(struct deadlock_watch *watch)
{
	sim_cancel(&watch->event);
	block_fini(&watch->block);
	free(watch);
}
