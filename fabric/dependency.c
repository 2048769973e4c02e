/* SPDX-License-Identifier: Apache-2.0 */
/* dependency: see dependency.h. */
#include "fabric/dependency.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/port_state.h"
#include "fabric/topology_state.h"
#include "fabric/up_down.h"

#define NODES_MAX 20000
#define STEPS_MAX UINT64_C(10000000) /* about a third of a second */

/* A dependency between two buffers. A buffer is a (port, VL), whose number follows from
 * topology_find_port(). */
struct edge {
	uint32_t from, to;
};

struct graph {
	const struct topology *topology;
	uint32_t buffers;
	uint32_t *node_of;  /* by port */
	struct edge *edges; /* ordered by `from` after sorting */
	uint32_t *first;    /* index of a buffer's first edge */
	uint32_t count, room;
	uint64_t *slots; /* hash set of the existing edges; 0 if free */
	uint32_t slot_count;
	/* state for one destination */
	uint32_t *seen; /* by buffer: number + 1 of the destination that visited it last */
	uint32_t *stack;
	uint64_t steps;
};

static void *take(size_t count, size_t bytes)
{
	void *memory = calloc(count ? count : 1, bytes);

	assert(memory);
	return memory;
}

static uint32_t buffer_of(const struct graph *graph, const struct end *end, unsigned vl)
{
	return (graph->topology->nodes[end->node].first_port + end->port) * PORT_VLS + vl;
}

static uint64_t *slot_of(const struct graph *graph, uint64_t key)
{
	uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t slot = (uint32_t)(hash >> 32) & (graph->slot_count - 1);

	while (graph->slots[slot] && graph->slots[slot] != key)
		slot = (slot + 1) & (graph->slot_count - 1);
	return &graph->slots[slot];
}

static void grow(struct graph *graph)
{
	uint64_t *before = graph->slots;
	uint32_t count = graph->slot_count;

	graph->slot_count = count ? count * 2 : 4096;
	graph->slots = take(graph->slot_count, sizeof(*graph->slots));
	for (uint32_t i = 0; i < count; i++)
		if (before[i])
			*slot_of(graph, before[i]) = before[i];
	free(before);
	graph->room = graph->slot_count / 2;
	graph->edges = realloc(graph->edges, graph->room * sizeof(*graph->edges));
	assert(graph->edges);
}

static void add_edge(struct graph *graph, uint32_t from, uint32_t to)
{
	uint64_t key = ((uint64_t)from << 32 | to) + 1;
	uint64_t *slot;

	if (graph->count == graph->room)
		grow(graph);
	slot = slot_of(graph, key);
	if (*slot)
		return;
	*slot = key;
	graph->edges[graph->count++] = (struct edge){from, to};
}

/* Returns true if a sender waits for space in that buffer. Returns false if a packet without space
 * is lost. */
static bool is_lossless(const struct port *port, unsigned vl)
{
	return !port->ethernet || (port->params.pfc_priorities & 1u << vl);
}

/* Adds the dependencies of all packets to the host, from all hosts. */
static void spread(struct graph *graph, uint32_t number, uint32_t mark, unsigned service_level)
{
	const struct topology *topology = graph->topology;
	const struct node *nodes = topology->nodes;
	uint32_t endpoint = nodes[number].endpoint, depth = 0;
	const struct path path = {
		.destination = endpoint,
		.dlid = endpoints_get(topology->endpoints, endpoint)->lid,
		.service_level = (uint8_t)service_level,
	};

	for (uint32_t i = 0; i < topology->count; i++) {
		const struct end *end = nodes[i].ends;

		if (nodes[i].is_switch || i == number || end->node == UNREACHED ||
		    !nodes[end->node].is_switch)
			continue;
		uint32_t buffer = buffer_of(graph, end, port_vl(nodes[i].port, service_level));

		if (graph->seen[buffer] != mark)
			graph->stack[depth++] = buffer;
		graph->seen[buffer] = mark;
	}
	while (depth) {
		uint32_t buffer = graph->stack[--depth], port = buffer / PORT_VLS;
		const struct node *node = &nodes[graph->node_of[port]];
		unsigned input = port - node->first_port, vl = buffer % PORT_VLS;
		struct port_set outputs = {0};

		node->ops.outputs(node->ops.context, &path, &outputs);
		PORT_SET_EACH(output, &outputs)
		{
			const struct end *end = &node->ends[output];
			unsigned next_vl;
			uint32_t next;

			graph->steps++;
			if (end->node == UNREACHED || !nodes[end->node].is_switch)
				continue; /* hosts accept all packets */
			next_vl = node->ops.vl(node->ops.context, input, output, &path, vl);
			next = buffer_of(graph, end, next_vl);
			if (!is_lossless(topology_port_of(&nodes[end->node], end->port), next_vl))
				continue;
			add_edge(graph, buffer, next);
			if (graph->seen[next] == mark)
				continue;
			graph->seen[next] = mark;
			graph->stack[depth++] = next;
		}
	}
}

/* Returns true if packets to two hosts of one switch take the same routes to it. */
static bool go_alike(const struct graph *graph, uint32_t one, uint32_t other)
{
	const struct topology *topology = graph->topology;
	const struct node *nodes = topology->nodes;
	const uint32_t endpoints[] = {nodes[one].endpoint, nodes[other].endpoint};
	const struct topology_hosts hosts = {endpoints, 2};

	for (uint32_t i = 0; i < topology->count; i++)
		if (nodes[i].is_switch && i != nodes[one].ends->node &&
		    !nodes[i].ops.alike(nodes[i].ops.context, topology->endpoints, &hosts))
			return false;
	return true;
}

static void spread_all(struct graph *graph, unsigned service_level, uint32_t *mark, bool *all)
{
	const struct topology *topology = graph->topology;
	uint32_t before = UNREACHED;

	for (uint32_t i = 0; i < topology->count; i++) {
		const struct node *node = &topology->nodes[i];
		bool same = before != UNREACHED &&
			    topology->nodes[before].ends->node == node->ends->node;

		if (node->is_switch || node->ends->node == UNREACHED)
			continue;
		*all = *all && graph->steps < STEPS_MAX;
		graph->steps += same ? topology->count - 1 : 0;
		if (*all && !(same && go_alike(graph, before, i)))
			spread(graph, i, ++*mark, service_level);
		before = i;
	}
}

/* Orders the edges by `from`, then by `to`, and fills in first[]. */
static void sort_edges(struct graph *graph)
{
	struct edge *sorted = take(graph->count, sizeof(*sorted));

	for (uint32_t i = 0; i < graph->count; i++)
		graph->first[graph->edges[i].from + 1]++;
	for (uint32_t i = 0; i < graph->buffers; i++)
		graph->first[i + 1] += graph->first[i];
	for (uint32_t i = 0; i < graph->count; i++) {
		struct edge edge = graph->edges[i];
		/* `seen` counts the edges of a buffer that are in place */
		uint32_t first = graph->first[edge.from], place = first + graph->seen[edge.from]++;

		for (; place > first && sorted[place - 1].to > edge.to; place--)
			sorted[place] = sorted[place - 1];
		sorted[place] = edge;
	}
	free(graph->edges);
	graph->edges = sorted;
}

static struct dependency_hop hop_of(const struct graph *graph, uint32_t buffer)
{
	return (struct dependency_hop){
		.input = topology_find_port(graph->topology, buffer / PORT_VLS),
		.vl = buffer % PORT_VLS,
	};
}

/* Searches depth first, in the order of buffers. The first edge to a buffer on the current path
 * closes a cycle. */
static bool search(struct graph *graph, struct dependency_cycle *cycle)
{
	uint32_t *next = take(graph->buffers + 1, sizeof(*next)); /* next edge, by depth */
	enum { NEW, OPEN, DONE } *state = take(graph->buffers, sizeof(*state));
	uint32_t depth = 0;

	for (uint32_t i = 0; i < graph->buffers && !cycle->count; i++) {
		if (state[i] != NEW)
			continue;
		graph->stack[0] = i;
		next[0] = graph->first[i];
		state[i] = OPEN;
		for (depth = 1; depth && !cycle->count;) {
			uint32_t buffer = graph->stack[depth - 1], to;

			if (next[depth - 1] == graph->first[buffer + 1]) {
				state[buffer] = DONE;
				depth--;
				continue;
			}
			to = graph->edges[next[depth - 1]++].to;
			if (state[to] == NEW) {
				state[to] = OPEN;
				graph->stack[depth] = to;
				next[depth++] = graph->first[to];
			} else if (state[to] == OPEN) {
				uint32_t begin = depth - 1;

				while (graph->stack[begin] != to)
					begin--;
				cycle->cut = depth - begin > DEPENDENCY_HOPS;
				for (; begin < depth && cycle->count < DEPENDENCY_HOPS; begin++)
					cycle->hops[cycle->count++] =
						hop_of(graph, graph->stack[begin]);
			}
		}
	}
	free(next);
	free(state);
	return cycle->count > 0;
}

/* Returns true if the links between switches form a tree, in which no cycle is possible. */
static bool is_tree(const struct topology *topology)
{
	uint32_t switches = 0, ends = 0;

	for (uint32_t i = 0; i < topology->count; i++) {
		const struct node *node = &topology->nodes[i];

		switches += node->is_switch;
		for (unsigned port = 0; node->is_switch && port < node->ports; port++)
			ends += node->ends[port].node != UNREACHED &&
				topology->nodes[node->ends[port].node].is_switch;
	}
	return switches == 0 || ends / 2 < switches;
}

static void graph_init(struct graph *graph, const struct topology *topology)
{
	uint32_t ports = 0;

	*graph = (struct graph){.topology = topology};
	for (uint32_t i = 0; i < topology->count; i++)
		ports += topology->nodes[i].ports;
	graph->buffers = ports * PORT_VLS;
	graph->node_of = take(ports, sizeof(*graph->node_of));
	for (uint32_t i = 0; i < topology->count; i++)
		for (unsigned port = 0; port < topology->nodes[i].ports; port++)
			graph->node_of[topology->nodes[i].first_port + port] = i;
	graph->seen = take(graph->buffers, sizeof(*graph->seen));
	graph->stack = take(graph->buffers + 1, sizeof(*graph->stack));
	graph->first = take(graph->buffers + 1, sizeof(*graph->first));
	grow(graph);
}

static void graph_fini(struct graph *graph)
{
	free(graph->node_of);
	free(graph->edges);
	free(graph->first);
	free(graph->slots);
	free(graph->seen);
	free(graph->stack);
}

bool dependency_find(const struct topology *topology, unsigned service_levels,
		     struct dependency_cycle *cycle, bool *known)
{
	struct graph graph;
	uint32_t mark = 0;
	bool all = true;

	*cycle = (struct dependency_cycle){0};
	if (known)
		*known = true;
	if (is_tree(topology))
		return false;
	if (known && topology->count > NODES_MAX)
		*known = false;
	if (topology->count > NODES_MAX || up_down_holds(topology))
		return false;
	graph_init(&graph, topology);
	for (unsigned level = 0; level < 16; level++) {
		if (service_levels >> level & 1)
			spread_all(&graph, level, &mark, &all);
	}
	memset(graph.seen, 0, graph.buffers * sizeof(graph.seen[0]));
	sort_edges(&graph);
	search(&graph, cycle);
	graph_fini(&graph);
	if (known)
		*known = all || cycle->count > 0;
	return cycle->count > 0;
}

const char *dependency_print(const struct dependency_cycle *cycle, char *text, size_t text_bytes)
{
	size_t used = 0;

	assert(text_bytes > 0);
	text[0] = '\0';
	for (unsigned i = 0; i < cycle->count && used < text_bytes; i++)
		used += (size_t)snprintf(text + used, text_bytes - used, "%s%s VL %u",
					 i ? ", " : "", port_name(cycle->hops[i].input),
					 cycle->hops[i].vl);
	if (cycle->cut && used < text_bytes)
		snprintf(text + used, text_bytes - used, ", and more");
	return text;
}
