/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ways: see ways.h. A search in breadth from one host; what it found is kept for the next question about that host.
 */
#include "hcasim/run/ways.h"

#include <stdlib.h>

#include "switch/switch_params.h"

#define PREAMBLE_BYTES 8 /* that each switch sends again */
#define UNSEEN         UINT32_MAX

struct way_end { /* of a link, at a node */
	uint32_t link, to;
	bool at_first; /* the node is ends[0] */
};

struct ways {
	const struct build *build;
	uint32_t nodes;           /* hosts, then switches */
	uint32_t *first;          /* [nodes + 1] of the node's ends */
	struct way_end *ends;     /* [2 * links] */
	uint32_t source;          /* of what follows; UNSEEN: none */
	struct ideal_path *found; /* [nodes] */
	bool *split;              /* [nodes]: its packets may go several ways from some switch on */
	uint32_t *queue;          /* [nodes] */
};

static void *take(size_t count, size_t bytes)
{
	void *memory = calloc(count + 1, bytes);
	if (memory == NULL)
		abort();
	return memory;
}

static uint32_t node_of(const struct build *build, const struct scenario_node *end)
{
	return end->is_switch ? build->scenario->host_count + end->number : end->number;
}

struct ways *ways_create(const struct build *build)
{
	const struct scenario *scenario = build->scenario;
	struct ways *ways = take(1, sizeof(*ways));
	ways->build = build;
	ways->source = UNSEEN;
	ways->nodes = scenario->host_count + scenario->switch_count;
	ways->first = take(ways->nodes + 1, sizeof(*ways->first));
	ways->ends = take(2 * (size_t)scenario->link_count, sizeof(*ways->ends));
	ways->found = take(ways->nodes, sizeof(*ways->found));
	ways->split = take(ways->nodes, sizeof(*ways->split));
	ways->queue = take(ways->nodes, sizeof(*ways->queue));
	uint32_t *place = take(ways->nodes, sizeof(*place));
	for (uint32_t i = 0; i < scenario->link_count; i++) {
		for (unsigned side = 0; side < 2; side++)
			ways->first[node_of(build, &scenario->links[i].ends[side]) + 1]++;
	}
	for (uint32_t i = 0; i < ways->nodes; i++)
		ways->first[i + 1] += ways->first[i];
	for (uint32_t i = 0; i < scenario->link_count; i++) {
		for (unsigned side = 0; side < 2; side++) {
			uint32_t node = node_of(build, &scenario->links[i].ends[side]);
			uint32_t to = node_of(build, &scenario->links[i].ends[1 - side]);
			ways->ends[ways->first[node] + place[node]++] =
				(struct way_end){i, to, side == 0};
		}
	}
	free(place);
	return ways;
}

void ways_destroy(struct ways *ways)
{
	free(ways->first);
	free(ways->ends);
	free(ways->found);
	free(ways->split);
	free(ways->queue);
	free(ways);
}

static bool is_switch(const struct ways *ways, uint32_t node)
{
	return node >= ways->build->scenario->host_count;
}

/* Do packets of one flow leave that node, or one before it, by more than one link? */
static bool is_split(const struct ways *ways, uint32_t node)
{
	const struct scenario *scenario = ways->build->scenario;
	if (ways->split[node] || !is_switch(ways, node))
		return ways->split[node];
	uint32_t balance = scenario->switches[node - scenario->host_count].params->balance;
	return balance != BALANCE_DESTINATION && balance != BALANCE_ECMP;
}

/* The way so far, and one link more. Between switches a link is not a limit to packets that go by several. */
static struct ideal_path extend(const struct ways *ways, uint32_t node, const struct way_end *end)
{
	const struct scenario *scenario = ways->build->scenario;
	const struct port *port =
		ways->build->ports[2 * (size_t)end->link + (end->at_first ? 0 : 1)];
	struct ideal_path way = ways->found[node];
	uint64_t rate = port_rate_bps(port);
	way.hops++;
	way.latency += port_latency(port);
	if (is_switch(ways, node)) {
		way.latency +=
			scenario->switches[node - scenario->host_count].params->crossing_latency;
		if (port_link_layer(port) == LINK_ETHERNET)
			way.latency += port_serialization(port, PREAMBLE_BYTES);
	}
	bool beside = is_split(ways, node) && is_switch(ways, end->to);
	if (way.rate_bps == 0 || (rate < way.rate_bps && !beside))
		way.rate_bps = rate;
	return way;
}

static void search(struct ways *ways, uint32_t source)
{
	uint32_t head = 0, tail = 0;
	for (uint32_t i = 0; i < ways->nodes; i++)
		ways->found[i] = (struct ideal_path){.hops = UNSEEN}, ways->split[i] = false;
	ways->found[source] = (struct ideal_path){0};
	ways->queue[tail++] = source;
	while (head < tail) {
		uint32_t node = ways->queue[head++];
		if (!is_switch(ways, node) && node != source)
			continue; /* hosts pass nothing on */
		for (uint32_t i = ways->first[node]; i < ways->first[node + 1]; i++) {
			const struct way_end *end = &ways->ends[i];
			struct ideal_path way = extend(ways, node, end);
			struct ideal_path *best = &ways->found[end->to];
			if (best->hops == UNSEEN)
				ways->queue[tail++] = end->to;
			if (way.hops < best->hops ||
			    (way.hops == best->hops &&
			     (way.rate_bps > best->rate_bps ||
			      (way.rate_bps == best->rate_bps && way.latency < best->latency))))
				*best = way, ways->split[end->to] = is_split(ways, node);
		}
	}
	ways->source = source;
}

struct ideal_path ways_find(void *context, uint32_t source, uint32_t destination)
{
	struct ways *ways = context;
	if (ways->source != source)
		search(ways, source);
	return ways->found[destination];
}
