/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arbiter: which waiting packet leaves next. Lanes take turns, or as schedule.h says; VL15 goes before all of them.
 * Within a lane the sources (a switch's inputs) take turns.
 *
 * A lane whose next packet has no credits, or is paused, is passed over whole: a shorter packet of another source
 * does not overtake it, or a long one might never leave.
 */
#include "fabric/port_state.h"

enum { NO_SOURCE = PORT_SET_PORTS };

/* Index of the first bit set after `last`, cyclically. mask is not 0. */
static unsigned next_bit(uint64_t mask, unsigned last)
{
	uint64_t above = last >= 63 ? 0 : mask & (UINT64_MAX << (last + 1));

	return (unsigned)__builtin_ctzll(above ? above : mask);
}

static unsigned next_lane(const struct port *port, uint32_t candidates)
{
	if (candidates & 1u << MANAGEMENT_LANE)
		return MANAGEMENT_LANE;
	return next_bit(candidates, port->last_lane);
}

static bool may_leave(struct port *port, const struct packet *packet, sim_time now, sim_time *wake)
{
	unsigned lane = packet->vl;

	if (port->ethernet) {
		if (now >= port->lanes[lane].paused_until)
			return true;
		if (port->lanes[lane].paused_until < *wake)
			*wake = port->lanes[lane].paused_until;
		port->count.pause_stalls++;
	} else {
		if (credits_suffice(port, lane, packet->wire_bytes))
			return true;
		port->count.credit_stalls++;
	}
	trace(&port->block, TRACE_PORT_STALL, packet->tag, lane, packet->wire_bytes);
	stuck_note(port, lane);
	transmit_blocked(port, true);
	return false;
}

/* ---- the sources of a lane that have a packet ---- */

static bool is_wide(const struct port *port)
{
	return __builtin_expect(port->sources > 64, 0);
}

static void add_source(struct port *port, unsigned lane, unsigned source)
{
	if (is_wide(port)) {
		port_set_add(&port->wide[lane], source);
		source /= 64;
	}
	port->lanes[lane].source_waiting |= UINT64_C(1) << source;
}

static void remove_source(struct port *port, unsigned lane, unsigned source)
{
	if (is_wide(port)) {
		port_set_remove(&port->wide[lane], source);
		source /= 64;
		if (port->wide[lane].words[source])
			return;
	}
	port->lanes[lane].source_waiting &= ~(UINT64_C(1) << source);
}

/* The one after `last`, cyclically. There is one. */
static unsigned next_source(const struct port *port, unsigned lane, unsigned last)
{
	if (is_wide(port)) {
		unsigned next = port_set_next(&port->wide[lane], last + 1);

		return next < PORT_SET_PORTS ? next : port_set_next(&port->wide[lane], 0);
	}
	return next_bit(port->lanes[lane].source_waiting, last);
}

/* The next source of the lane whose packet is ready; NO_SOURCE: none is. */
static unsigned ready_source(const struct port *port, unsigned lane, sim_time now, sim_time *wake)
{
	const struct packet_queue *queues = port_queues_of(port, lane);
	unsigned first = next_source(port, lane, port->lanes[lane].last_source), source = first;

	do {
		sim_time ready_at = queues[source].head->head_at;

		if (ready_at <= now)
			return source;
		if (ready_at < *wake)
			*wake = ready_at;
		source = next_source(port, lane, source);
	} while (source != first);
	return NO_SOURCE;
}

static struct packet *dequeue(struct port *port, unsigned lane, unsigned source)
{
	struct packet_queue *queue = &port_queues_of(port, lane)[source];
	struct packet *packet = packet_queue_pop(queue);

	if (!queue->head) {
		remove_source(port, lane, source);
		if (!port->lanes[lane].source_waiting)
			port->waiting &= (uint16_t) ~(1u << lane);
	}
	if (port->lanes[lane].queued-- == port->transmit_depth)
		port->room_again |= (uint16_t)(1u << lane);
	port->waiting_bytes -= packet->wire_bytes + port->preamble_bytes + port->gap_bytes;
	port->lanes[lane].queued_bytes -= packet->wire_bytes;
	port->lanes[lane].last_source = (uint8_t)source;
	port->last_lane = (uint8_t)lane;
	if (__builtin_expect(port->stuck & 1u << lane, 0))
		stuck_progress(port, lane);
	return packet;
}

struct packet *arbiter_remove(struct port *port, unsigned lane)
{
	if (!port->lanes[lane].source_waiting)
		return NULL;
	return dequeue(port, lane, next_source(port, lane, port->lanes[lane].last_source));
}

/* All lanes that may are looked at, then the schedule chooses. */
static struct packet *next_scheduled(struct port *port, sim_time now, sim_time *wake)
{
	unsigned sources[PORT_LANES];
	uint32_t able = 0;
	struct packet *packet;
	unsigned lane;

	for (uint32_t lanes = port->waiting; lanes; lanes &= lanes - 1) {
		lane = (unsigned)__builtin_ctz(lanes);
		sources[lane] = ready_source(port, lane, now, wake);
		if (sources[lane] != NO_SOURCE &&
		    may_leave(port, port_queues_of(port, lane)[sources[lane]].head, now, wake))
			able |= 1u << lane;
	}
	if (!able)
		return NULL;
	if (able & 1u << MANAGEMENT_LANE)
		return dequeue(port, MANAGEMENT_LANE, sources[MANAGEMENT_LANE]);
	lane = schedule_pick(port->schedule, able);
	packet = dequeue(port, lane, sources[lane]);
	schedule_charge(port->schedule, lane, packet->wire_bytes, !port->lanes[lane].queued);
	return packet;
}

struct packet *arbiter_next(struct port *port, sim_time now, sim_time *wake)
{
	uint32_t candidates = port->waiting;

	*wake = SIM_NEVER;
	if (port->schedule)
		return next_scheduled(port, now, wake);
	while (candidates) {
		unsigned lane = next_lane(port, candidates);
		unsigned source = ready_source(port, lane, now, wake);

		if (source != NO_SOURCE) {
			const struct packet *first = port_queues_of(port, lane)[source].head;

			if (may_leave(port, first, now, wake))
				return dequeue(port, lane, source);
		}
		candidates &= ~(1u << lane);
	}
	return NULL;
}

void arbiter_enqueue(struct port *port, struct packet *packet)
{
	unsigned lane = packet->vl;
	unsigned source = port->sources == 1 ? 0 : packet->ingress & INGRESS_PORT;

	assert(source < port->sources);
	packet_queue_push(&port_queues_of(port, lane)[source], packet);
	add_source(port, lane, source);
	port->waiting |= (uint16_t)(1u << lane);
	port->lanes[lane].queued++;
	port->waiting_bytes += packet->wire_bytes + port->preamble_bytes + port->gap_bytes;
	port->lanes[lane].queued_bytes += packet->wire_bytes;
}
