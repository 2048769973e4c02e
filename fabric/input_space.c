/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_space: the receive buffer of a port, per VL. It tracks the space of packets and its
 * release. A switch knows the release time when a packet departs. Such releases wait in a ring
 * ordered by time, and are processed when the space is read. A release has an event only if the
 * other end waits for the space.
 */
#include <stdlib.h>

#include "fabric/port_state.h"

static uint32_t units_of(const struct port *port, uint32_t wire_bytes)
{
	return port->ethernet ? wire_bytes : credit_blocks(wire_bytes);
}

static void give_back(struct port *port, unsigned vl, uint32_t units)
{
	assert(units <= port->vls[vl].used);
	port->vls[vl].used -= units;
}

static struct deferred_release *deferred_at(const struct port *port, uint32_t index)
{
	return &port->deferred[(port->deferred_first + index) & (port->deferred_room - 1)];
}

/* Processes the releases that are due. */
static void settle(struct port *port)
{
	sim_time now = sim_now(port->block.sim);

	while (port->deferred_count && deferred_at(port, 0)->at <= now) {
		const struct deferred_release *due = deferred_at(port, 0);
		unsigned vl = due->vl;

		give_back(port, vl, due->units);
		if (!port->ethernet)
			port->vls[vl].deferred_units -= due->units;
		port->deferred_first = (port->deferred_first + 1) & (port->deferred_room - 1);
		port->deferred_count--;
		port->gained |= (uint16_t)(1u << vl);
	}
	if (!port->deferred_count) /* the ring's first line is in the cache */
		port->deferred_first = 0;
}

/* Returns the deferred bytes of a priority. Seldom needed: only while the other end is paused. */
static uint64_t deferred_bytes(const struct port *port, unsigned vl)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < port->deferred_count; i++)
		if (deferred_at(port, i)->vl == vl)
			bytes += deferred_at(port, i)->units;
	return bytes;
}

/* Returns true if the release of all deferred space of the VL would cause a message to the other
 * end. */
static bool awaited(const struct port *port, unsigned vl)
{
	if (port->ethernet)
		return port->wanted & 1u << vl &&
		       port->vls[vl].used - deferred_bytes(port, vl) <= port->xon;
	return vl != MANAGEMENT_VL && !(port->credits_due & 1u << vl) &&
	       credits_wanted(port, vl, port->vls[vl].deferred_units);
}

static void notify(struct port *port, unsigned vl)
{
	if (port->ethernet)
		pause_consider_go(port, vl);
	else if (vl != MANAGEMENT_VL)
		credits_consider(port, vl);
}

static void release_fire(struct event *event)
{
	struct port *port = container_of(event, struct port, release);

	settle(port);
	for (uint32_t vls = port->gained; vls; vls &= vls - 1)
		notify(port, (unsigned)__builtin_ctz(vls));
	port->gained = 0;
	for (uint32_t i = 0; i < port->deferred_count; i++) {
		const struct deferred_release *next = deferred_at(port, i);

		if (awaited(port, next->vl)) {
			if (!event_pending(&port->release))
				sim_schedule_at(&port->release, next->at);
			break;
		}
	}
}

/* Doubles the ring, when more releases are pending than ever before. */
static void grow(struct port *port)
{
	uint32_t room = port->deferred_room * 2;
	struct deferred_release *ring = malloc(room * sizeof(*ring));

	assert(ring);
	for (uint32_t i = 0; i < port->deferred_count; i++)
		ring[i] = *deferred_at(port, i);
	input_space_fini(port);
	port->deferred = ring;
	port->deferred_first = 0;
	port->deferred_room = room;
}

/* Returns the end of the drain of a packet by a slow receiver, which drains one packet after
 * another. */
static sim_time drained(struct port *port, uint32_t wire_bytes, sim_time at)
{
	if (port->drained_at < at)
		port->drained_at = at;
	port->drained_at += wire_bytes * port->drain_ps_per_byte;
	return port->drained_at;
}

void port_set_drain_rate(struct port *port, uint64_t rate_bps)
{
	port->drain_ps_per_byte = rate_bps ? ENCODED_BITS_A_BYTE / rate_bps : 0;
	port->drains = port->drain_ps_per_byte != 0;
}

/* Returns true if due releases must be processed before another one. Ethernet needs exact space
 * only while it pauses the other end. Otherwise the ring is seldom read, because its line is not in
 * the cache. */
static bool settles(const struct port *port)
{
	return !port->ethernet || port->wanted || port->deferred_count == port->deferred_room;
}

void port_release_at(struct port *port, unsigned vl, uint32_t wire_bytes, sim_time at)
{
	uint32_t units = units_of(port, wire_bytes);
	uint32_t place;

	assert(vl < PORT_VLS);
	if (__builtin_expect(port->drains, 0))
		at = drained(port, wire_bytes, at);
	if (settles(port))
		settle(port);
	if (port->deferred_count == port->deferred_room)
		grow(port);
	place = port->deferred_count;
	if (!place || port->deferred_last <= at) /* reads no release */
		port->deferred_last = at;
	else
		for (; place && deferred_at(port, place - 1)->at > at; place--)
			*deferred_at(port, place) = *deferred_at(port, place - 1);
	*deferred_at(port, place) = (struct deferred_release){at, units, vl};
	port->deferred_count++;
	if (!port->ethernet)
		port->vls[vl].deferred_units += units;
	if (awaited(port, vl) && !event_pending(&port->release))
		sim_schedule_at(&port->release, at);
}

void port_release(struct port *port, unsigned vl, uint32_t wire_bytes)
{
	assert(vl < PORT_VLS);
	if (__builtin_expect(port->drains, 0)) {
		port_release_at(port, vl, wire_bytes, sim_now(port->block.sim));
		return;
	}
	give_back(port, vl, units_of(port, wire_bytes));
	notify(port, vl);
}

bool input_space_take(struct port *port, const struct packet *packet)
{
	unsigned vl = packet->vl;
	uint32_t units = units_of(port, packet->wire_bytes);

	if (port->shared_input)
		return true;
	if (!port->ethernet && vl != MANAGEMENT_VL)
		credits_arrive(port, vl, units);
	if (port->vls[vl].used + units > port->capacity) {
		settle(port);
		if (port->vls[vl].used + units > port->capacity)
			return false;
	}
	port->vls[vl].used += units;
	if (port->ethernet && port->vls[vl].used > port->xoff) {
		settle(port);
		pause_consider_stop(port, vl);
		if (port->deferred_count && !event_pending(&port->release) && awaited(port, vl))
			sim_schedule_at(&port->release, deferred_at(port, 0)->at);
	}
	return true;
}

uint64_t port_input_used(const struct port *port, unsigned vl)
{
	uint64_t used = port->vls[vl].used;
	sim_time now = sim_now(port->block.sim);

	for (uint32_t i = 0; i < port->deferred_count && deferred_at(port, i)->at <= now; i++)
		if (deferred_at(port, i)->vl == vl)
			used -= deferred_at(port, i)->units;
	return port->ethernet ? used : used * CREDIT_BLOCK_BYTES;
}

void input_space_carry(struct port *port, struct carry *carry)
{
	uint32_t count = port->deferred_count;

	CARRY(carry, count);
	if (carry->reads) {
		port->deferred_first = port->deferred_count = 0;
		while (port->deferred_room < count)
			grow(port);
		port->deferred_count = count;
	}
	for (uint32_t i = 0; i < count; i++)
		CARRY(carry, *deferred_at(port, i));
}

void input_space_configure(struct port *port)
{
	uint64_t capacity = port->params.input_buffer;

	if (!port->ethernet)
		capacity /= CREDIT_BLOCK_BYTES;
	if (!port->ethernet && capacity > CREDIT_BLOCKS_MAX)
		capacity = CREDIT_BLOCKS_MAX;
	assert(capacity <= UINT32_MAX);
	port->capacity = (uint32_t)capacity;
}

void input_space_init(struct port *port)
{
	port->deferred_room = DEFERRED_ROOM;
	port->deferred = port->deferred_inline;
	event_init(&port->release, &port->block, release_fire);
}

void input_space_fini(struct port *port)
{
	if (port->deferred != port->deferred_inline)
		free(port->deferred);
}
