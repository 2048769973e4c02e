/* SPDX-License-Identifier: Apache-2.0 */
/*
 * multicast_tree: the routes of multicast. Each group has a tree of links between the switches of
 * its members. A switch sends a packet out by all links of the tree but the one it came by, so that
 * no switch receives it twice. The subnet manager writes such trees to the multicast forwarding
 * tables (IBTA vol. 1, 14.2.5.12 and 18.2.4). The standard leaves the choice of a tree to the
 * implementer.
 *
 * The root is the switch with the fewest links to all members together, as in OpenSM. Among equal
 * switches it is the one nearest to the top. Among these it depends on the group's number, so that
 * groups spread. With up_down, all members must be below the root. A route through the tree then
 * goes up first and down afterwards, like routes of other packets. No cycle of buffers is possible.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fabric/topology_state.h"

/* Search from one root to all switches. */
struct tree {
	const struct topology *topology;
	uint32_t *distance; /* links to the root, by node, or UNREACHED */
	uint32_t *upwards;  /* the port that leads to the root */
	uint32_t *queue;
	uint32_t *members;      /* number of members and further senders at a switch */
	struct port_set *ports; /* ports of the tree, by node */
};

static void tree_init(struct tree *tree, const struct topology *topology)
{
	size_t count = topology->count + 1;

	*tree = (struct tree){
		.topology = topology,
		.distance = malloc(count * sizeof(uint32_t)),
		.upwards = malloc(count * sizeof(uint32_t)),
		.queue = malloc(count * sizeof(uint32_t)),
		.members = calloc(count, sizeof(uint32_t)),
		.ports = calloc(count, sizeof(struct port_set)),
	};
	assert(tree->distance && tree->upwards && tree->queue && tree->members && tree->ports);
}

static void tree_fini(struct tree *tree)
{
	free(tree->distance);
	free(tree->upwards);
	free(tree->queue);
	free(tree->members);
	free(tree->ports);
}

/* Returns true if a packet may go from one node to the other on its way to the root. */
static bool may_climb(const struct topology *topology, const struct node *from,
		      const struct node *to)
{
	return to->is_switch && (topology->routing != ROUTING_up_down || node_is_above(to, from));
}

/* Searches breadth first. */
static void grow(struct tree *tree, uint32_t root)
{
	const struct node *nodes = tree->topology->nodes;
	uint32_t first = 0, last = 0;

	for (uint32_t i = 0; i < tree->topology->count; i++)
		tree->distance[i] = UNREACHED;
	tree->distance[root] = 0;
	tree->queue[last++] = root;
	while (first < last) {
		uint32_t number = tree->queue[first++];

		for (unsigned port = 0; port < nodes[number].ports; port++) {
			const struct end *end = &nodes[number].ends[port];

			if (end->node == UNREACHED || !nodes[end->node].is_switch ||
			    tree->distance[end->node] != UNREACHED ||
			    !may_climb(tree->topology, &nodes[end->node], &nodes[number]))
				continue;
			tree->distance[end->node] = tree->distance[number] + 1;
			tree->upwards[end->node] = end->port;
			tree->queue[last++] = end->node;
		}
	}
}

/* Returns the number of links from the root to all members, or UNREACHED if not all are below
 * it. */
static uint64_t links_of(const struct tree *tree)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < tree->topology->count; i++) {
		if (!tree->members[i])
			continue;
		if (tree->distance[i] == UNREACHED)
			return UNREACHED;
		sum += (uint64_t)tree->members[i] * tree->distance[i];
	}
	return sum;
}

/* Returns the root of the group's tree, or UNREACHED if there is none. */
static uint32_t choose_root(struct tree *tree, uint32_t group)
{
	const struct topology *topology = tree->topology;
	uint64_t best = UNREACHED;
	uint32_t *equals = malloc((topology->count + 1) * sizeof(uint32_t));
	uint32_t count = 0, chosen;

	assert(equals);
	for (uint32_t i = 0; i < topology->count; i++) {
		uint64_t links;

		if (!topology->nodes[i].is_switch)
			continue;
		grow(tree, i);
		links = links_of(tree);
		if (links == UNREACHED || links > best)
			continue;
		if (links < best || topology->nodes[i].rank < topology->nodes[equals[0]].rank)
			count = 0;
		else if (topology->nodes[i].rank > topology->nodes[equals[0]].rank)
			continue;
		best = links;
		equals[count++] = i;
	}
	chosen = count ? equals[group % count] : UNREACHED;
	free(equals);
	return chosen;
}

/* Marks the route from a switch to the root. A host that only sends needs only the upward
 * direction. */
static void mark_route(struct tree *tree, uint32_t number, bool both_directions)
{
	const struct node *nodes = tree->topology->nodes;

	while (tree->distance[number]) {
		uint32_t port = tree->upwards[number];
		const struct end *end = &nodes[number].ends[port];

		port_set_add(&tree->ports[number], port);
		if (both_directions)
			port_set_add(&tree->ports[end->node], end->port);
		number = end->node;
	}
}

/* Returns the link from a host to its switch, or NULL if the host is linked to a host. */
static const struct end *switch_of(const struct topology *topology, uint32_t endpoint)
{
	const struct node *host = topology_host(topology, endpoint);

	assert(host);
	if (host->ends[0].node == UNREACHED || !topology->nodes[host->ends[0].node].is_switch)
		return NULL;
	return &host->ends[0];
}

static void mark_members(struct tree *tree, const struct topology_hosts *hosts, bool receive)
{
	for (uint32_t i = 0; i < hosts->count; i++) {
		const struct end *end = switch_of(tree->topology, hosts->endpoints[i]);

		if (!end)
			continue;
		mark_route(tree, end->node, receive);
		if (receive)
			port_set_add(&tree->ports[end->node], end->port);
	}
}

static uint32_t count_members(struct tree *tree, const struct topology_hosts *hosts)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < hosts->count; i++) {
		const struct end *end = switch_of(tree->topology, hosts->endpoints[i]);

		if (end)
			tree->members[end->node]++;
		count += end != NULL;
	}
	return count;
}

bool topology_set_group(struct topology *topology, uint32_t group,
			const struct topology_hosts *members, const struct topology_hosts *senders,
			char *error, size_t error_bytes)
{
	struct tree tree;
	uint32_t root = UNREACHED, hosts;

	tree_init(&tree, topology);
	hosts = count_members(&tree, members) + count_members(&tree, senders);
	if (hosts)
		root = choose_root(&tree, group);
	if (root != UNREACHED) {
		grow(&tree, root);
		mark_members(&tree, members, true);
		mark_members(&tree, senders, false);
	}
	for (uint32_t i = 0; i < topology->count; i++) {
		const struct node *node = &topology->nodes[i];

		if (node->is_switch)
			node->ops.replicate(node->ops.context, group, &tree.ports[i]);
	}
	tree_fini(&tree);
	if (hosts && root == UNREACHED)
		snprintf(error, error_bytes,
			 "no tree of links connects all hosts of multicast group %u", group);
	return !hosts || root != UNREACHED;
}
