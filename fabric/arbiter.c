/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arbiter: selects the waiting packet that leaves next. VLs take turns, or follow schedule.h. VL15
 * goes before all other VLs. Within a VL, the sources (the inputs of a switch) take turns.
 *
 * A VL is skipped if its next packet has no credits, or if the VL is paused. A shorter packet of
 * another source does not overtake the next packet. Otherwise a long packet might never leave.
 */
#include <stdlib.h>

#include "fabric/port_state.h"

enum { NO_SOURCE = PORT_SET_PORTS };

/* Returns the index of the first bit set after `last`, cyclically. `mask` is not 0. */
static unsigned next_bit(uint64_t mask, unsigned last)
{
	uint64_t above = last >= 63 ? 0 : mask & (UINT64_MAX << (last + 1));

	return (unsigned)__builtin_ctzll(above ? above : mask);
}

static unsigned next_vl(const struct port *port, uint32_t candidates)
{
	if (candidates & 1u << MANAGEMENT_VL)
		return MANAGEMENT_VL;
	return next_bit(candidates, port->last_vl);
}

static bool may_leave(struct port *port, const struct packet *packet, sim_time now, sim_time *wake)
{
	unsigned vl = packet->vl;

	if (port->ethernet) {
		if (now >= port->vls[vl].paused_until)
			return true;
		if (port->vls[vl].paused_until < *wake)
			*wake = port->vls[vl].paused_until;
		port->count.pause_stalls++;
	} else {
		if (credits_suffice(port, vl, packet->wire_bytes))
			return true;
		port->count.credit_stalls++;
	}
	trace(&port->block, TRACE_PORT_STALL, packet->tag, vl, packet->wire_bytes);
	hoq_timeout_note(port, vl);
	port->closed = true;
	return false;
}

/* ---- sources of a VL with a packet ---- */

static bool is_wide(const struct port *port)
{
	return __builtin_expect(port->sources > 64, 0);
}

static void add_source(struct port *port, unsigned vl, unsigned source)
{
	if (is_wide(port)) {
		port_set_add(&port->wide[vl], source);
		source /= 64;
	}
	port->vls[vl].source_waiting |= UINT64_C(1) << source;
}

static void remove_source(struct port *port, unsigned vl, unsigned source)
{
	if (is_wide(port)) {
		port_set_remove(&port->wide[vl], source);
		source /= 64;
		if (port->wide[vl].words[source])
			return;
	}
	port->vls[vl].source_waiting &= ~(UINT64_C(1) << source);
}

/* Returns the source after `last`, cyclically. At least one source must have a packet. */
static unsigned next_source(const struct port *port, unsigned vl, unsigned last)
{
	if (is_wide(port)) {
		unsigned next = port_set_next(&port->wide[vl], last + 1);

		return next < PORT_SET_PORTS ? next : port_set_next(&port->wide[vl], 0);
	}
	return next_bit(port->vls[vl].source_waiting, last);
}

/* Returns the next source of the VL whose packet is ready, or NO_SOURCE. */
static unsigned ready_source(const struct port *port, unsigned vl, sim_time now, sim_time *wake)
{
	const struct packet_queue *queues = port_queues_of(port, vl);
	unsigned first = next_source(port, vl, port->vls[vl].last_source), source = first;

	do {
		sim_time ready_at = queues[source].head->head_at;

		if (ready_at <= now)
			return source;
		if (ready_at < *wake)
			*wake = ready_at;
		source = next_source(port, vl, source);
	} while (source != first);
	return NO_SOURCE;
}

static struct packet *dequeue(struct port *port, unsigned vl, unsigned source)
{
	struct packet_queue *queue = &port_queues_of(port, vl)[source];
	struct packet *packet = packet_queue_pop(queue);

	if (!queue->head) {
		remove_source(port, vl, source);
		if (!port->vls[vl].source_waiting)
			port->waiting &= (uint16_t) ~(1u << vl);
	}
	if (port->vls[vl].queued-- == port->vls[vl].depth)
		port->room_again |= (uint16_t)(1u << vl);
	port->waiting_bytes -= packet->wire_bytes + port->preamble_bytes + port->gap_bytes;
	port->vls[vl].queued_bytes -= packet->wire_bytes;
	port->vls[vl].last_source = (uint8_t)source;
	port->last_vl = (uint8_t)vl;
	if (__builtin_expect(port->hoq_blocked & 1u << vl, 0))
		hoq_timeout_progress(port, vl);
	return packet;
}

struct packet *arbiter_remove(struct port *port, unsigned vl)
{
	if (!port->vls[vl].source_waiting)
		return NULL;
	return dequeue(port, vl, next_source(port, vl, port->vls[vl].last_source));
}

/* Selects among all VLs that may send, by the schedule. */
static struct packet *next_scheduled(struct port *port, sim_time now, sim_time *wake)
{
	unsigned sources[PORT_VLS];
	uint32_t able = 0;
	struct packet *packet;
	unsigned vl;

	for (uint32_t vls = port->waiting; vls; vls &= vls - 1) {
		vl = (unsigned)__builtin_ctz(vls);
		sources[vl] = ready_source(port, vl, now, wake);
		if (sources[vl] != NO_SOURCE &&
		    may_leave(port, port_queues_of(port, vl)[sources[vl]].head, now, wake))
			able |= 1u << vl;
	}
	if (!able)
		return NULL;
	if (able & 1u << MANAGEMENT_VL)
		return dequeue(port, MANAGEMENT_VL, sources[MANAGEMENT_VL]);
	vl = schedule_pick(port->schedule, able);
	packet = dequeue(port, vl, sources[vl]);
	schedule_charge(port->schedule, vl, packet->wire_bytes, !port->vls[vl].queued);
	return packet;
}

struct packet *arbiter_next(struct port *port, sim_time now, sim_time *wake)
{
	uint32_t candidates = port->waiting;

	*wake = SIM_NEVER;
	if (port->scheduled)
		return next_scheduled(port, now, wake);
	while (candidates) {
		unsigned vl = next_vl(port, candidates);
		unsigned source = ready_source(port, vl, now, wake);

		if (source != NO_SOURCE) {
			const struct packet *first = port_queues_of(port, vl)[source].head;

			if (may_leave(port, first, now, wake))
				return dequeue(port, vl, source);
		}
		candidates &= ~(1u << vl);
	}
	return NULL;
}

void arbiter_enqueue(struct port *port, struct packet *packet)
{
	unsigned vl = packet->vl;
	unsigned source = port->sources == 1 ? 0 : packet->ingress & INGRESS_PORT;

	assert(source < port->sources);
	if (__builtin_expect(!port->vls[vl].queues, 0))
		port_add_queues(port, vl);
	packet_queue_push(&port_queues_of(port, vl)[source], packet);
	add_source(port, vl, source);
	port->waiting |= (uint16_t)(1u << vl);
	port->vls[vl].queued++;
	port->waiting_bytes += packet->wire_bytes + port->preamble_bytes + port->gap_bytes;
	port->vls[vl].queued_bytes += packet->wire_bytes;
}

void port_fetch_departure_port(const struct event *event)
{
	const struct port *port = container_of(event, const struct port, transmit);

	__builtin_prefetch(&port->user);
	__builtin_prefetch(&port->busy_until, 1);
	__builtin_prefetch(&port->vls[port->last_vl], 1);
}

/* Returns the queue of the next packet, or NULL. Guesses that the VL served last is next. */
static struct packet_queue *next_queue(const struct event *event)
{
	const struct port *port = container_of(event, const struct port, transmit);
	const struct vl *vl = &port->vls[port->last_vl];

	if (!vl->source_waiting || is_wide(port))
		return NULL;
	return &vl->queues[next_bit(vl->source_waiting, vl->last_source)];
}

void port_fetch_departure_queue(const struct event *event)
{
	const struct port *port = container_of(event, const struct port, transmit);

	__builtin_prefetch(next_queue(event), 1);
	__builtin_prefetch(port->user);
	__builtin_prefetch(&port->peer->arrive, 1);
}

void port_fetch_departure_packet(const struct event *event)
{
	const struct packet_queue *queue = next_queue(event);

	if (queue)
		__builtin_prefetch(queue->head, 1);
}

const struct packet *port_departing(const struct event *event, struct port_user **user)
{
	const struct packet_queue *queue = next_queue(event);

	*user = container_of(event, const struct port, transmit)->user;
	return queue ? queue->head : NULL;
}
