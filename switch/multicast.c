/* SPDX-License-Identifier: Apache-2.0 */
/*
 * multicast: packets to a group, which several outputs send. The table from a group to a set of ports is InfiniBand's multicast
 * forwarding table (IBTA vol. 1, 14.2.5.12 and 18.2.4), or what an Ethernet switch has learnt of a group; fabric/topology.h
 * fills it. A packet never leaves by the port it came by.
 *
 *     input --a packet--> copies, one an output, payload shared --each by its own queue, credits, pause--> outputs
 *       ^------------- its space is given back when the last copy has left or was dropped ---------------'
 *
 * A shared buffer holds the packet once for its input, and once a queue for each output.
 */
#include <stdlib.h>

#include "switch/switch_state.h"

/* What the copies of one packet have in common. */
struct replica {
	uint32_t left; /* copies that have not been sent or dropped */
	uint32_t wire_bytes;
	sim_time until; /* the last bit of those that have */
	uint8_t input, vl;
};

const struct port_set *multicast_find(const struct fabric_switch *box, const struct path *path)
{
	uint32_t group = path->destination & ~GROUP_ADDRESS;

	if (path->destination & GROUP_ADDRESS && group < box->group_table_entries)
		return &box->group_table[group];
	if (!box->by_lid && path->dmac[0] & 1)
		return &box->unknown_group;
	return NULL;
}

void multicast_depart(struct switch_port *output, const struct packet *packet, sim_time at)
{
	struct fabric_switch *box = output->box;
	struct replica *replica = packet->replica;

	if (box->buffer)
		shared_buffer_release_copy_at(box->buffer,
					      buffer_class(port_index(output), packet->vl),
					      packet->wire_bytes, at);
	multicast_drop(box, replica, at);
}

void multicast_drop(struct fabric_switch *box, struct replica *replica, sim_time at)
{
	assert(replica->left);
	if (replica->until < at)
		replica->until = at;
	if (--replica->left)
		return;
	if (box->buffer)
		shared_buffer_release_packet_at(box->buffer,
						buffer_class(replica->input, replica->vl),
						replica->wire_bytes, replica->until);
	else
		port_release_at(box->ports[replica->input].port, replica->vl, replica->wire_bytes,
				replica->until);
	pool_give(&box->replicas, replica);
}

struct replica *multicast_begin(struct switch_port *input, const struct packet *packet, unsigned vl)
{
	struct fabric_switch *box = input->box;
	struct replica *replica = pool_take(&box->replicas);

	*replica = (struct replica){
		.left = 1, /* whoever makes the copies */
		.wire_bytes = packet->wire_bytes,
		.until = packet->tail_at,
		.input = (uint8_t)port_index(input),
		.vl = (uint8_t)vl,
	};
	return replica;
}

struct packet *multicast_copy(struct fabric_switch *box, struct replica *replica,
			      const struct packet *packet)
{
	struct packet *copy = packet_copy(box->pool, packet);

	copy->replica = replica;
	replica->left++;
	return copy;
}

void switch_replicate(struct fabric_switch *box, uint32_t group, const struct port_set *ports)
{
	uint32_t entries = box->group_table_entries;

	assert(port_set_next(ports, box->port_count) == PORT_SET_PORTS);
	if (group == GROUP_UNKNOWN) {
		box->unknown_group = *ports;
		return;
	}
	if (group >= entries) {
		box->group_table =
			realloc(box->group_table, (group + 1) * sizeof(box->group_table[0]));
		assert(box->group_table);
		for (; entries <= group; entries++)
			box->group_table[entries] = (struct port_set){0};
		box->group_table_entries = entries;
	}
	box->group_table[group] = *ports;
}

void multicast_init(struct fabric_switch *box)
{
	pool_init(&box->replicas, sizeof(struct replica), 0);
}

void multicast_fini(struct fabric_switch *box)
{
	pool_fini(&box->replicas);
	free(box->group_table);
}
