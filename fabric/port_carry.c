/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port_carry: see port_carry.h. Results read the use of buffers, pauses, the bytes that have not
 * left yet, and the packets that wait or are in flight (deadlock.c). No event of the port is
 * carried, so the port of the reading process cannot run.
 */
#include "fabric/port_carry.h"

#include <stdlib.h>

#include "fabric/port_state.h"

static void empty(struct port *port, struct packet_queue *queue)
{
	while (queue->head)
		packet_free(port->pool, packet_queue_pop(queue));
}

static void carry_queue(struct port *port, struct packet_queue *queue, struct carry *carry)
{
	struct packet *packet = queue->head;
	uint32_t count = 0;

	for (; packet && !carry->reads; packet = packet->next)
		count++;
	CARRY(carry, count);
	packet = queue->head;
	for (uint32_t i = 0; i < count; i++) {
		/* tells copies of one packet from those of another, and is not followed */
		uint64_t replica = carry->reads ? 0 : (uint64_t)(uintptr_t)packet->replica;

		if (carry->reads) {
			packet = packet_new(port->pool);
			packet_queue_push(queue, packet);
		}
		packet_carry(port->pool, packet, carry);
		CARRY(carry, replica);
		if (carry->reads)
			packet->replica = (struct replica *)(uintptr_t)replica;
		packet = packet->next;
	}
}

/* Removes the packets that an earlier call has read. */
static void empty_all(struct port *port)
{
	empty(port, &port->flying);
	for (unsigned vl = 0; vl < port_vl_room(port); vl++)
		for (uint32_t i = 0; port->vls[vl].queues && i < port->sources; i++)
			empty(port, &port->vls[vl].queues[i]);
}

static void carry_waiting(struct port *port, unsigned vl, struct carry *carry)
{
	struct vl *here = &port->vls[vl];

	if (!here->queues)
		port_add_queues(port, vl);
	for (uint32_t i = 0; i < port->sources; i++)
		carry_queue(port, &here->queues[i], carry);
}

void port_carry(struct block *block, struct carry *carry)
{
	struct port *port = container_of(block, struct port, block);

	if (carry->reads)
		empty_all(port);
	CARRY(carry, port->arriving_until);
	CARRY(carry, port->arriving_bytes);
	CARRY(carry, port->wanted);
	CARRY(carry, port->down);
	CARRY(carry, port->faulty);
	CARRY(carry, port->blocked);
	CARRY(carry, port->busy_until);
	CARRY(carry, port->waiting);
	CARRY(carry, port->waiting_bytes);
	CARRY(carry, port->pausing);
	CARRY(carry, port->storming);
	CARRY(carry, port->paused_from);
	CARRY(carry, port->paused_before);
	CARRY(carry, port->paused_depth);
	for (unsigned vl = 0; vl < port->vl_count; vl++)
		carry_raw(carry, &port->vls[vl], offsetof(struct vl, queues));
	input_space_carry(port, carry);
	bytes_out_carry(port, carry);
	carry_queue(port, &port->flying, carry);
	for (uint32_t vls = port->waiting; vls; vls &= vls - 1)
		carry_waiting(port, (unsigned)__builtin_ctz(vls), carry);
}
