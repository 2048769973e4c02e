/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lp_assignment: see lp_assignment.h. First, nodes that must stay together form groups. These are
 * the ends of a link without latency, and on InfiniBand the ends of a link with a fault. The ends
 * of a fault with a condition stay together with the owner of its counter. Then hosts are
 * distributed in order, and each switch goes to the LP of most of its links. Finally, groups at
 * borders move to the LP in which they have more links.
 */
#include "hcasim/builder/lp_assignment.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/port.h"
#include "hcasim/builder/build.h"
#include "sim/parallel.h"

#define HOST_WEIGHT     2  /* a port, and the transport behind it */
#define DETAILED_WEIGHT 10 /* and PCIe, caches, DMA */
#define SLACK           16 /* an LP may exceed its share by one part in SLACK */
#define PASSES          4
#define UNASSIGNED      UINT8_MAX
#define NO_NODE         UINT32_MAX

struct graph {
	const struct scenario *scenario;
	uint32_t nodes;
	uint32_t *group;  /* [nodes] its first node */
	uint32_t *weight; /* [nodes] of the group */
	uint32_t *first;  /* [nodes + 1] of the group's links in `to` */
	uint32_t *to;     /* [2 * links] groups */
	uint64_t total;   /* sum of the weights */
};

static void *take(size_t count, size_t bytes)
{
	void *memory = calloc(count + 1, bytes);
	if (!memory)
		abort();
	return memory;
}

static uint32_t node_of(const struct scenario *scenario, const struct scenario_node *end)
{
	return end->is_switch ? scenario->host_count + end->number : end->number;
}

static uint32_t find(const struct graph *graph, uint32_t node)
{
	while (graph->group[node] != node)
		node = graph->group[node];
	return node;
}

static void unite(struct graph *graph, uint32_t one, uint32_t other)
{
	one = find(graph, one);
	other = find(graph, other);
	if (one < other)
		graph->group[other] = one;
	else
		graph->group[one] = other;
}

static uint32_t host_weight(const struct scenario *scenario, uint32_t host)
{
	return scenario->hosts[host].detailed ? DETAILED_WEIGHT : HOST_WEIGHT;
}

/* Returns the weight of a node's port. */
static uint32_t weight_of(const struct scenario *scenario, const struct scenario_node *end)
{
	return end->is_switch ? 1 : host_weight(scenario, end->number);
}

/* Returns the host or switch that owns a counter: the one whose name is the longest prefix. NO_NODE
 * means that there is no such counter. */
static uint32_t owner_of(const struct scenario *scenario, const char *counter)
{
	uint32_t owner = NO_NODE, nodes = scenario->host_count + scenario->switch_count;
	size_t longest = 0;
	for (uint32_t i = 0; i < nodes; i++) {
		struct scenario_node node = {
			.is_switch = i >= scenario->host_count,
			.number = i < scenario->host_count ? i : i - scenario->host_count};
		const char *name = scenario_node_name(scenario, &node);
		size_t length = strlen(name);
		if (length < longest || strncmp(counter, name, length) != 0 ||
		    counter[length] != '.')
			continue;
		owner = i;
		longest = length;
	}
	return owner;
}

static bool may_be_cut(const struct scenario *scenario, uint32_t link)
{
	if (build_link_latency(scenario, link) == 0)
		return false;
	if (scenario->fabric.link_layer != 0)
		return true;
	for (uint32_t i = 0; i < scenario->fault_count; i++) {
		for (unsigned from = 0; from < 2; from++) {
			if (scenario_fault_concerns(scenario, &scenario->faults[i],
						    &scenario->links[link], from))
				return false;
		}
	}
	return true;
}

/* Unites the nodes of a fault with a condition and the owner of its counter, which the fault reads
 * at any time. */
static void unite_conditions(struct graph *graph)
{
	const struct scenario *scenario = graph->scenario;
	for (uint32_t i = 0; i < scenario->fault_count; i++) {
		const struct scenario_fault *fault = &scenario->faults[i];
		uint32_t owner = fault->counter ? owner_of(scenario, fault->counter) : NO_NODE;
		for (uint32_t j = 0; owner != NO_NODE && j < scenario->link_count; j++) {
			const struct scenario_link *link = &scenario->links[j];
			if (!scenario_fault_concerns(scenario, fault, link, 0) &&
			    !scenario_fault_concerns(scenario, fault, link, 1))
				continue;
			unite(graph, owner, node_of(scenario, &link->ends[0]));
			unite(graph, owner, node_of(scenario, &link->ends[1]));
		}
	}
}

static void make_graph(struct graph *graph, const struct scenario *scenario)
{
	*graph = (struct graph){.scenario = scenario,
				.nodes = scenario->host_count + scenario->switch_count};
	graph->group = take(graph->nodes, sizeof(uint32_t));
	graph->weight = take(graph->nodes, sizeof(uint32_t));
	graph->first = take(graph->nodes + 1, sizeof(uint32_t));
	graph->to = take(2 * (size_t)scenario->link_count, sizeof(uint32_t));
	uint32_t *place = take(graph->nodes, sizeof(*place));
	for (uint32_t i = 0; i < graph->nodes; i++)
		graph->group[i] = i;
	for (uint32_t i = 0; i < scenario->link_count; i++) {
		const struct scenario_link *link = &scenario->links[i];
		if (!may_be_cut(scenario, i))
			unite(graph, node_of(scenario, &link->ends[0]),
			      node_of(scenario, &link->ends[1]));
	}
	unite_conditions(graph);
	for (uint32_t i = 0; i < scenario->link_count; i++) {
		for (unsigned side = 0; side < 2; side++) {
			const struct scenario_node *end = &scenario->links[i].ends[side];
			uint32_t group = find(graph, node_of(scenario, end));
			graph->first[group + 1]++;
			graph->weight[group] += weight_of(scenario, end);
			graph->total += weight_of(scenario, end);
		}
	}
	for (uint32_t i = 0; i < graph->nodes; i++)
		graph->first[i + 1] += graph->first[i];
	for (uint32_t i = 0; i < scenario->link_count; i++) {
		uint32_t groups[2];
		for (unsigned side = 0; side < 2; side++)
			groups[side] =
				find(graph, node_of(scenario, &scenario->links[i].ends[side]));
		for (unsigned side = 0; side < 2; side++) {
			uint32_t group = groups[side];
			graph->to[graph->first[group] + place[group]++] = groups[1 - side];
		}
	}
	free(place);
}

static void free_graph(struct graph *graph)
{
	free(graph->group);
	free(graph->weight);
	free(graph->first);
	free(graph->to);
}

static bool is_group(const struct graph *graph, uint32_t node)
{
	return graph->group[node] == node;
}

/* Returns the number of links of the group into that LP. */
static int links_into(const struct graph *graph, const uint8_t *of, uint32_t group, unsigned lp)
{
	int links = 0;
	for (uint32_t i = graph->first[group]; i < graph->first[group + 1]; i++)
		links += of[graph->to[i]] == lp && graph->to[i] != group;
	return links;
}

/* Returns the LP to which most of the group's links lead; among equal LPs, the one with the least
 * weight. Returns UNASSIGNED if no link leads to an LP. */
static uint8_t nearest(const struct graph *graph, const uint8_t *of, const uint64_t *weights,
		       unsigned lps, uint32_t group)
{
	uint8_t best = UNASSIGNED;
	int best_links = 0;
	for (unsigned lp = 0; lp < lps; lp++) {
		int links = links_into(graph, of, group, lp);
		if (links > best_links ||
		    (links > 0 && links == best_links && weights[lp] < weights[best])) {
			best = (uint8_t)lp;
			best_links = links;
		}
	}
	return best;
}

/* Distributes hosts in order of their numbers, which follows most topologies, then switches,
 * nearest first. */
static void spread(const struct graph *graph, uint8_t *of, unsigned lps, uint64_t *weights)
{
	uint32_t hosts = graph->scenario->host_count;
	uint64_t all = 0, before = 0;
	uint8_t *next = take(graph->nodes, 1);
	bool more = true;
	memset(of, UNASSIGNED, graph->nodes);
	for (uint32_t i = 0; i < hosts; i++)
		all += host_weight(graph->scenario, i);
	for (uint32_t i = 0; i < hosts; i++) {
		uint32_t group = find(graph, i);
		if (of[group] == UNASSIGNED) {
			of[group] = (uint8_t)(before * lps / all);
			weights[of[group]] += graph->weight[group];
		}
		before += host_weight(graph->scenario, i);
	}
	while (more) {
		more = false;
		memset(next, UNASSIGNED, graph->nodes);
		for (uint32_t i = 0; i < graph->nodes; i++) {
			if (!is_group(graph, i) || of[i] != UNASSIGNED)
				continue;
			next[i] = nearest(graph, of, weights, lps, i);
			if (next[i] == UNASSIGNED)
				continue;
			weights[next[i]] += graph->weight[i];
			more = true;
		}
		for (uint32_t i = 0; i < graph->nodes; i++)
			of[i] = next[i] != UNASSIGNED ? next[i] : of[i];
	}
	for (uint32_t i = 0; i < graph->nodes; i++) /* at no link */
		of[i] = of[i] != UNASSIGNED ? of[i] : 0;
	free(next);
}

/* Moves each group to the LP of most of its links, if that LP has room. Returns true if any group
 * moved. */
static bool refine(const struct graph *graph, uint8_t *of, unsigned lps, uint64_t *weights)
{
	uint64_t room = graph->total / lps + graph->total / lps / SLACK + 1;
	bool moved = false;
	for (uint32_t i = 0; i < graph->nodes; i++) {
		if (!is_group(graph, i))
			continue;
		unsigned best = of[i];
		int best_links = links_into(graph, of, i, best);
		for (unsigned lp = 0; lp < lps; lp++) {
			int links = links_into(graph, of, i, lp);
			if (links > best_links && weights[lp] + graph->weight[i] <= room) {
				best = lp;
				best_links = links;
			}
		}
		moved |= best != of[i];
		weights[of[i]] -= graph->weight[i];
		weights[best] += graph->weight[i];
		of[i] = (uint8_t)best;
	}
	return moved;
}

/* Approximate number of events of 1 KB from end to end, at an endpoint's host and at a detailed
 * adapter's host with small messages. */
#define ENDPOINT_EVENTS 12
#define DETAILED_EVENTS 40
#define KILOBYTE_BITS   (1024 * 8)

/* Estimates the window between two barriers of the threads, and the events in it outside the
 * busiest LP. */
static void estimate(const struct scenario *scenario, struct lp_assignment *assignment)
{
	double rates[SIM_LPS_MAX] = {0}, all = 0, most = 0; /* events a second */
	assignment->window = SIM_NEVER;
	for (uint32_t i = 0; i < scenario->link_count; i++) {
		const struct scenario_node *ends = scenario->links[i].ends;
		uint8_t lps[] = {assignment->of[node_of(scenario, &ends[0])],
				 assignment->of[node_of(scenario, &ends[1])]};
		sim_time latency = build_link_latency(scenario, i);
		double rate = (double)build_link_rate_bps(scenario, i) / KILOBYTE_BITS;
		if (lps[0] != lps[1] && latency < assignment->window)
			assignment->window = latency;
		for (unsigned side = 0; side < 2; side++) {
			if (!ends[side].is_switch)
				rates[lps[side]] +=
					rate * (scenario->hosts[ends[side].number].detailed
							? DETAILED_EVENTS
							: ENDPOINT_EVENTS);
		}
	}
	for (unsigned lp = 0; lp < assignment->lps; lp++) {
		all += rates[lp];
		most = fmax(most, rates[lp]);
	}
	assignment->events = (all - most) * (double)assignment->window / (double)SEC;
}

/* Returns true if a fault with a condition changes routes. Other LPs cannot know the time of such a
 * change in advance. */
static bool reroutes_by_condition(const struct scenario *scenario)
{
	for (uint32_t i = 0; i < scenario->fault_count; i++) {
		const struct scenario_fault *fault = &scenario->faults[i];
		if (fault->of_ports && fault->port_kind == PORT_FAULT_link_down && fault->counter)
			return build_reroutes(scenario);
	}
	return false;
}

struct lp_assignment *lp_assignment_create(const struct scenario *scenario, unsigned lps,
					   struct ranks *ranks, char *error, size_t error_bytes)
{
	uint64_t weights[SIM_LPS_MAX] = {0};
	struct graph graph;
	assert(lps > 1 && lps <= SIM_LPS_MAX);
	if (reroutes_by_condition(scenario)) {
		snprintf(error, error_bytes,
			 "link_down with a condition changes routes in all logical processes at a "
			 "time that is not known in advance; set fabric.reroute_delay: 0ps");
		return NULL;
	}
	make_graph(&graph, scenario);
	struct lp_assignment *assignment = take(1, sizeof(*assignment));
	assignment->lps = lps;
	assignment->ranks = ranks;
	assignment->of = take(graph.nodes, 1);
	spread(&graph, assignment->of, lps, weights);
	for (unsigned pass = 0; pass < PASSES; pass++) {
		if (!refine(&graph, assignment->of, lps, weights))
			break;
	}
	for (uint32_t i = 0; i < graph.nodes; i++)
		assignment->of[i] = assignment->of[find(&graph, i)];
	bool parallel = weights[assignment->of[0]] < graph.total;
	free_graph(&graph);
	if (parallel)
		estimate(scenario, assignment);
	if (parallel && (ranks || assignment->events >= SIM_WINDOW_WORTH))
		return assignment;
	if (parallel) {
		snprintf(error, error_bytes,
			 "the shortest link between logical processes gives windows of %.3f ns; "
			 "without the busiest process they have %.1f events even if all hosts send "
			 "at link rate; threads help from %u events on: use longer links, or more "
			 "hosts",
			 (double)assignment->window / (double)NS, assignment->events,
			 SIM_WINDOW_WORTH);
		lp_assignment_destroy(assignment);
		return NULL;
	}
	snprintf(error, error_bytes,
		 "links without latency, or faults, connect all hosts and switches, so they cannot "
		 "be divided");
	lp_assignment_destroy(assignment);
	return NULL;
}

void lp_assignment_destroy(struct lp_assignment *assignment)
{
	if (!assignment)
		return;
	free(assignment->of);
	free(assignment);
}
