/* SPDX-License-Identifier: Apache-2.0 */
/*
 * multicast: packets to a group, which leave by several outputs. A table leads from a group to a
 * set of ports. It is InfiniBand's multicast forwarding table (IBTA vol. 1, 14.2.5.12 and 18.2.4),
 * or the table that an Ethernet switch has learnt. fabric/topology.h fills the table. A packet
 * never leaves by its input port.
 *
 *     input -a packet-> copies, one an output, payload shared -own queue, credits, pause-> outputs
 *       ^-------- its space is given back when the last copy has left or was dropped --------'
 *
 * A shared buffer counts the packet once for its input, and once for the queue of each output.
 */
#include <stdlib.h>

#include "switch/switch_state.h"

/* State that the copies of one packet share. */
struct replica {
	uint32_t left; /* copies that were not sent or dropped */
	uint32_t wire_bytes;
	sim_time until; /* departure of the last bit of the copies that were */
	uint8_t input, vl;
};

const struct port_set *multicast_find(const struct fabric_switch *sw, const struct path *path)
{
	uint32_t group = path->destination & ~GROUP_ADDRESS;

	if (path->destination & GROUP_ADDRESS && group < sw->group_table_entries)
		return &sw->group_table[group];
	if (!sw->by_lid && path->dmac[0] & 1)
		return &sw->unknown_group;
	return NULL;
}

void multicast_depart(struct switch_port *output, const struct packet *packet, sim_time at)
{
	struct fabric_switch *sw = output->sw;
	struct replica *replica = packet->replica;

	if (sw->buffer)
		shared_buffer_release_copy_at(sw->buffer,
					      buffer_class(port_index(output), packet->vl),
					      packet->wire_bytes, at);
	multicast_drop(sw, replica, at);
}

void multicast_drop(struct fabric_switch *sw, struct replica *replica, sim_time at)
{
	assert(replica->left);
	if (replica->until < at)
		replica->until = at;
	if (--replica->left)
		return;
	if (sw->buffer)
		shared_buffer_release_packet_at(sw->buffer,
						buffer_class(replica->input, replica->vl),
						replica->wire_bytes, replica->until);
	else
		port_release_at(sw->ports[replica->input].port, replica->vl, replica->wire_bytes,
				replica->until);
	pool_give(&sw->replicas, replica);
}

struct replica *multicast_begin(struct switch_port *input, const struct packet *packet, unsigned vl)
{
	struct fabric_switch *sw = input->sw;
	struct replica *replica = pool_take(&sw->replicas);

	*replica = (struct replica){
		.left = 1, /* the maker of the copies */
		.wire_bytes = packet->wire_bytes,
		.until = packet->tail_at,
		.input = (uint8_t)port_index(input),
		.vl = (uint8_t)vl,
	};
	return replica;
}

struct packet *multicast_copy(struct fabric_switch *sw, struct replica *replica,
			      const struct packet *packet)
{
	struct packet *copy = packet_copy(sw->pool, packet);

	copy->replica = replica;
	replica->left++;
	return copy;
}

void switch_replicate(struct fabric_switch *sw, uint32_t group, const struct port_set *ports)
{
	uint32_t entries = sw->group_table_entries;

	assert(port_set_next(ports, sw->port_count) == PORT_SET_PORTS);
	if (group == GROUP_UNKNOWN) {
		sw->unknown_group = *ports;
		return;
	}
	if (group >= entries) {
		sw->group_table =
			realloc(sw->group_table, (group + 1) * sizeof(sw->group_table[0]));
		assert(sw->group_table);
		for (; entries <= group; entries++)
			sw->group_table[entries] = (struct port_set){0};
		sw->group_table_entries = entries;
	}
	sw->group_table[group] = *ports;
}

void multicast_init(struct fabric_switch *sw)
{
	pool_init(&sw->replicas, sizeof(struct replica), 0);
}

void multicast_fini(struct fabric_switch *sw)
{
	pool_fini(&sw->replicas);
	free(sw->group_table);
}
