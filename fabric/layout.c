/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout: see layout.h.
 */
#include "fabric/layout.h"

#include <stdio.h>
#include <stdlib.h>

#define ROOM_FIRST 64u

void layout_fini(struct layout *layout)
{
	free(layout->nodes);
	free(layout->links);
	*layout = (struct layout){0};
}

static void *grown(void *items, uint32_t count, uint32_t *room, size_t item_bytes)
{
	if (count < *room)
		return items;
	*room = *room ? *room * 2 : ROOM_FIRST;
	items = realloc(items, *room * item_bytes);
	assert(items);
	return items;
}

static struct layout_node *add_node(struct layout *layout, const char *name, uint16_t ports)
{
	struct layout_node *node;

	layout->nodes = grown(layout->nodes, layout->node_count, &layout->node_room, sizeof(*node));
	node = &layout->nodes[layout->node_count++];
	*node = (struct layout_node){.ports = ports, .rank = LAYOUT_NO_RANK};
	snprintf(node->name, sizeof(node->name), "%s", name);
	return node;
}

uint32_t layout_add_host(struct layout *layout, const char *name, uint32_t host, uint32_t rail)
{
	struct layout_node *node = add_node(layout, name, 1);

	node->host = host;
	node->rail = rail;
	return layout->node_count - 1;
}

uint32_t layout_add_switch(struct layout *layout, const char *name, uint16_t ports, uint32_t rank)
{
	struct layout_node *node = add_node(layout, name, ports);

	node->is_switch = true;
	node->rank = rank;
	return layout->node_count - 1;
}

struct layout_link *layout_add_link(struct layout *layout, uint32_t one, uint16_t one_port,
				    uint32_t other, uint16_t other_port)
{
	struct layout_link *link;

	assert(one < layout->node_count && other < layout->node_count);
	layout->links = grown(layout->links, layout->link_count, &layout->link_room, sizeof(*link));
	link = &layout->links[layout->link_count++];
	*link = (struct layout_link){
		.one = one,
		.other = other,
		.one_port = one_port,
		.other_port = other_port,
		.rate_bps = RATE_OF_PARAMS,
		.metres = LENGTH_OF_PARAMS,
	};
	return link;
}

bool layout_apply(const struct layout *layout, struct topology *topology, char *error,
		  size_t error_bytes)
{
	topology_set_routing(topology, layout->routing);
	topology_set_sizes(topology, layout->sizes);
	for (uint32_t i = 0; i < layout->node_count; i++) {
		const struct layout_node *node = &layout->nodes[i];

		if (node->is_switch && node->rank != LAYOUT_NO_RANK)
			topology_set_rank(topology, i, node->rank);
		if (node->placed)
			topology_set_position(topology, i, node->position);
	}
	for (uint32_t i = 0; i < layout->link_count; i++) {
		const struct layout_link *link = &layout->links[i];

		if (!topology_link(topology, link->one, link->one_port, link->other,
				   link->other_port, link->metres, link->rate_bps, error,
				   error_bytes))
			return false;
	}
	return true;
}

uint32_t layout_hosts(const struct layout *layout)
{
	uint32_t hosts = 0;

	for (uint32_t i = 0; i < layout->node_count; i++)
		hosts += !layout->nodes[i].is_switch;
	return hosts;
}
