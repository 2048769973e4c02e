/* SPDX-License-Identifier: Apache-2.0 */
/* up_down: see up_down.h. All hosts of a leaf switch are checked together. */
#include "fabric/up_down.h"

#include <stdlib.h>

#include "fabric/topology_state.h"

struct check {
	const struct topology *topology;
	/* hosts by switch: [first[i], first[i + 1]) for node i */
	uint32_t *first, *endpoints;
	uint32_t *leaves; /* switches with hosts */
	uint32_t leaf_count, leaf_words;
	/* [node][leaf_words], bit i: packets to hosts of leaves[i] may go up from there */
	uint64_t *climbs;
	struct port_set *ups, *downs; /* by node: ports that lead to switches */
};

static void *take(size_t count, size_t bytes)
{
	void *memory = calloc(count + 1, bytes);

	assert(memory);
	return memory;
}

/* Returns the switch of a host, or UNREACHED. */
static uint32_t leaf_of(const struct topology *topology, const struct node *node)
{
	uint32_t leaf = node->is_switch ? UNREACHED : node->ends->node;

	return leaf != UNREACHED && topology->nodes[leaf].is_switch ? leaf : UNREACHED;
}

static void list_hosts(struct check *check)
{
	const struct topology *topology = check->topology;
	uint32_t *places = take(topology->count, sizeof(*places)), leaf;

	for (uint32_t i = 0; i < topology->count; i++)
		if ((leaf = leaf_of(topology, &topology->nodes[i])) != UNREACHED)
			check->first[leaf + 1]++;
	for (uint32_t i = 0; i < topology->count; i++) {
		if (check->first[i + 1])
			check->leaves[check->leaf_count++] = i;
		check->first[i + 1] += check->first[i];
	}
	for (uint32_t i = 0; i < topology->count; i++)
		if ((leaf = leaf_of(topology, &topology->nodes[i])) != UNREACHED)
			check->endpoints[check->first[leaf] + places[leaf]++] =
				topology->nodes[i].endpoint;
	free(places);
}

static void list_ports(struct check *check)
{
	const struct node *nodes = check->topology->nodes;

	for (uint32_t i = 0; i < check->topology->count; i++) {
		for (unsigned port = 0; nodes[i].is_switch && port < nodes[i].ports; port++) {
			uint32_t to = nodes[i].ends[port].node;

			if (to == UNREACHED || !nodes[to].is_switch)
				continue;
			port_set_add(node_is_above(&nodes[to], &nodes[i]) ? &check->ups[i]
									  : &check->downs[i],
				     port);
		}
	}
}

/* Finds the outputs of a switch towards all hosts of a leaf. */
static struct port_set outputs(const struct check *check, const struct node *sw, uint32_t leaf)
{
	const struct endpoints *endpoints = check->topology->endpoints;
	const uint32_t *first = &check->first[check->leaves[leaf]];
	const struct topology_hosts hosts = {&check->endpoints[first[0]], first[1] - first[0]};
	struct port_set all;

	sw->ops.reaches(sw->ops.context, endpoints, &hosts, &all);
	return all;
}

static uint64_t *climbs_of(const struct check *check, uint32_t sw, uint32_t leaf)
{
	return &check->climbs[(size_t)sw * check->leaf_words + leaf / 64];
}

static struct port_set both(const struct port_set *one, const struct port_set *other)
{
	struct port_set set;

	for (unsigned i = 0; i < PORT_SET_WORDS; i++)
		set.words[i] = one->words[i] & other->words[i];
	return set;
}

/* Calls the function for each switch and each leaf, with the outputs. Returns false once the
 * function returns false. */
static bool each_entry(struct check *check,
		       bool (*function)(struct check *check, uint32_t sw, uint32_t leaf,
					const struct port_set *ports))
{
	const struct topology *topology = check->topology;

	for (uint32_t i = 0; i < topology->count; i++) {
		for (uint32_t leaf = 0; topology->nodes[i].is_switch && leaf < check->leaf_count;
		     leaf++) {
			struct port_set ports;

			if (check->leaves[leaf] == i)
				continue;
			ports = outputs(check, &topology->nodes[i], leaf);
			if (!function(check, i, leaf, &ports))
				return false;
		}
	}
	return true;
}

static bool note_climb(struct check *check, uint32_t sw, uint32_t leaf,
		       const struct port_set *ports)
{
	struct port_set ups = both(ports, &check->ups[sw]);

	if (port_set_next(&ups, 0) < PORT_SET_PORTS)
		*climbs_of(check, sw, leaf) |= UINT64_C(1) << leaf % 64;
	return true;
}

static bool stays_down(struct check *check, uint32_t sw, uint32_t leaf,
		       const struct port_set *ports)
{
	struct port_set downs = both(ports, &check->downs[sw]);

	PORT_SET_EACH(port, &downs)
	{
		uint32_t below = check->topology->nodes[sw].ends[port].node;

		if (*climbs_of(check, below, leaf) >> leaf % 64 & 1)
			return false;
	}
	return true;
}

bool up_down_holds(const struct topology *topology)
{
	uint32_t count = topology->count;
	struct check check = {
		.topology = topology,
		.first = take(count, sizeof(*check.first)),
		.endpoints = take(count, sizeof(*check.endpoints)),
		.leaves = take(count, sizeof(*check.leaves)),
		.ups = take(count, sizeof(*check.ups)),
		.downs = take(count, sizeof(*check.downs)),
	};
	bool holds;

	list_hosts(&check);
	check.leaf_words = check.leaf_count / 64 + 1;
	check.climbs = take((size_t)count * check.leaf_words, sizeof(*check.climbs));
	list_ports(&check);
	holds = each_entry(&check, note_climb) && each_entry(&check, stays_down);
	free(check.first);
	free(check.endpoints);
	free(check.leaves);
	free(check.ups);
	free(check.downs);
	free(check.climbs);
	return holds;
}
