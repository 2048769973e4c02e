/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transmit: the departure of packets: the start and duration of each, and the times of its head and
 * tail at the other end. Only this file reserves the link's time.
 */
#include <math.h>

#include "fabric/encoding.h"
#include "fabric/fault.h"
#include "fabric/lp_link.h"
#include "fabric/port_state.h"

sim_time transmit_duration(const struct port *port, uint64_t bytes)
{
	if (port->ps_per_byte)
		return (sim_time)bytes * port->ps_per_byte;
	return bytes * ENCODED_BITS_A_BYTE / port->rate_bps;
}

/* Returns the end of a packet. From the start of a burst on, no picosecond is lost to rounding. */
static sim_time end_of(const struct port *port, sim_time start, uint64_t bytes)
{
	if (port->ps_per_byte)
		return start + bytes * port->ps_per_byte;
	return start + (bytes * ENCODED_BITS_A_BYTE + port->residue) / port->rate_bps;
}

/* Reserves the link for the packet from `start` on, and sets its head_at and tail_at. Returns the
 * departure of its last bit. */
static sim_time occupy(struct port *port, struct packet *packet, sim_time start)
{
	uint64_t bytes = (uint64_t)port->preamble_bytes + packet->wire_bytes;
	sim_time out;

	if (start > port->busy_until)
		port->residue = 0;
	out = end_of(port, start, bytes);
	packet->head_at = end_of(port, start, port->preamble_bytes) + port->latency;
	packet->tail_at = out + port->latency;
	bytes += port->gap_bytes;
	port->busy_until = end_of(port, start, bytes);
	if (!port->ps_per_byte)
		port->residue = (bytes * ENCODED_BITS_A_BYTE + port->residue) % port->rate_bps;
	return out;
}

/* Inserts a packet by arrival, because a fault may let a packet fall behind. Returns false if the
 * packet is last, so that the usual code appends it. */
static bool insert(struct sim *sim, struct port *peer, struct packet *packet)
{
	struct packet_queue *flying = &peer->flying;
	struct packet **place = &flying->head;

	while (*place && (*place)->head_at <= packet->head_at)
		place = &(*place)->next;
	if (!*place)
		return false;
	packet->next = *place;
	*place = packet;
	if (packet == flying->head) {
		sim_cancel(&peer->arrive);
		sim_schedule_last(sim, &peer->arrive, packet->head_at);
	}
	return true;
}

void transmit_arrives(struct sim *sim, struct port *port, struct packet *packet)
{
	struct port *peer = port->peer;

	if (__builtin_expect(port->reorders, 0) && insert(sim, peer, packet))
		return;
	packet_queue_push(&peer->flying, packet);
	if (!event_pending(&peer->arrive))
		sim_schedule_last(sim, &peer->arrive, packet->head_at);
}

static void fly(struct port *port, struct packet *packet)
{
	/* packets of the link take effect when they are complete */
	if (packet->kind == PACKET_FLOW_CONTROL || packet->kind == PACKET_PFC)
		packet->head_at = packet->tail_at;
	if (__builtin_expect(!port->reorders, 1)) {
		/* a fault has delayed the previous packet */
		if (packet->head_at < port->last_arrival) {
			packet->tail_at += port->last_arrival - packet->head_at;
			packet->head_at = port->last_arrival;
		}
		port->last_arrival = packet->tail_at;
	}
	if (__builtin_expect(port->between_lps, 0))
		lp_link_leave(port->lp_link, packet);
	else
		transmit_arrives(port->block.sim, port, packet);
}

/* Drops a packet that a fault loses on the wire when it leaves. The other end does not see it. */
static void lose(struct port *port, struct packet *packet, sim_time start)
{
	if (packet->kind != PACKET_PFC && !port->ethernet && !port->down)
		credits_lost(port, packet->vl);
	if (packet->kind != PACKET_FLOW_CONTROL && packet->kind != PACKET_PFC)
		port->count.fault_bytes += packet->wire_bytes;
	port_drop_at(port, packet, DROP_FAULT, start);
}

void transmit_blocked(struct port *port, bool blocked)
{
	struct gauge *gauge = &port->gauge.blocked;
	sim_time now = sim_now(port->block.sim);

	if (blocked == port->blocked)
		return;
	port->blocked = blocked;
	gauge_wait(gauge, now, blocked);
	if (blocked) {
		port->blocked_since = now;
		gauge_enter(gauge, now, 1);
	} else {
		gauge_left(gauge, port->blocked_since, now, 1);
	}
}

static void commit(struct port *port, struct packet *packet, sim_time start)
{
	bool data = packet->kind != PACKET_FLOW_CONTROL && packet->kind != PACKET_PFC;
	sim_time out;
	bool arrives = true;

	__builtin_prefetch(&port->peer->arrive, 1);
	out = occupy(port, packet, start);

	if (__builtin_expect(port->blocked, 0))
		transmit_blocked(port, false);
	if (data) {
		port->count.packets_sent++;
		port->count.bytes_sent += packet->wire_bytes;
		if (!port->ethernet)
			credits_consume(port, packet->vl, packet->wire_bytes);
	}
	trace(&port->block, TRACE_PORT_LEAVES, packet->tag, start, packet->wire_bytes);
	if (data && port->user->departs)
		port->user->departs(port->user, port, packet, start, out);
	if (__builtin_expect(port->watched, 0))
		port->tap(port->tap_context, port, packet, start);
	if (data && port->keeps_leaving)
		*port->leaving = *packet;
	if (data && port->user->leaves)
		port->user->leaves(port->user, port, packet, out);
	if (__builtin_expect(port->down | port->faulty, 0) && data)
		bytes_out_keep(port, &port->departures, out, packet->wire_bytes);
	if (__builtin_expect(port->down, 0))
		arrives = false;
	else if (__builtin_expect(port->faulty, 0))
		arrives = fault_judge(port->transmit_fault, packet);
	if (arrives)
		fly(port, packet);
	else
		lose(port, packet, start);
}

/* Returns a packet of the link itself, which goes before all others, or NULL if none is due. */
static struct packet *control_packet(struct port *port)
{
	if (port->down)
		return NULL;
	if (port->credits_due)
		return credits_packet(port);
	if (port->pause_due)
		return pause_frame(port);
	return NULL;
}

static void offer_room(struct port *port)
{
	uint32_t vls = port->room_again;

	port->room_again = 0;
	for (; vls && port->user->room; vls &= vls - 1)
		port->user->room(port->user, port, (unsigned)__builtin_ctz(vls));
}

/* Starts the next packet on the free link, and schedules the check for the packet after it. */
static void start_next(struct port *port)
{
	sim_time now = sim_now(port->block.sim);
	sim_time wake = SIM_NEVER;
	struct packet *packet = control_packet(port);

	if (!packet) {
		port->closed = false;
		packet = arbiter_next(port, now, &wake);
		if (!packet)
			transmit_blocked(port, port->closed);
	}
	if (packet) {
		commit(port, packet, now);
		wake = port->busy_until;
		if (!port->waiting && !port->credits_due && !port->pause_due &&
		    !(port->keeps_leaving && port->leaving->wire_bytes))
			wake = SIM_NEVER;
	}
	if (wake != SIM_NEVER)
		transmit_wake(port, wake);
	if (port->room_again)
		offer_room(port);
}

static void transmit_fire(struct event *event)
{
	struct port *port = container_of(event, struct port, transmit);

	port->wakes = false;
	/* a kick has reserved the link meanwhile */
	if (port->busy_until > sim_now(port->block.sim)) {
		transmit_wake(port, port->busy_until);
		return;
	}
	if (port->keeps_leaving && port->leaving->wire_bytes) {
		struct packet left = *port->leaving;

		port->leaving->wire_bytes = 0;
		start_next(port);
		port->user->sent(port->user, port, &left);
	} else {
		start_next(port);
	}
}

void transmit_wake(struct port *port, sim_time at)
{
	sim_time now = sim_now(port->block.sim);

	if (at < port->busy_until)
		at = port->busy_until;
	if (at < now)
		at = now;
	if (port->wakes) {
		if (event_time(&port->transmit) <= at)
			return;
		sim_cancel(&port->transmit);
	}
	port->wakes = true;
	sim_schedule_at(&port->transmit, at);
}

void transmit_kick(struct port *port)
{
	if (port->busy_until > sim_now(port->block.sim))
		transmit_wake(port, port->busy_until);
	else if (!port->wakes || event_time(&port->transmit) > sim_now(port->block.sim))
		start_next(port);
}

static bool vl_open(const struct port *port, const struct packet *packet, sim_time at)
{
	return port->ethernet ? at >= port->vls[packet->vl].paused_until
			      : credits_suffice(port, packet->vl, packet->wire_bytes);
}

void port_send_at(struct port *port, struct packet *packet, sim_time ready_at)
{
	unsigned vl = packet->vl;
	bool leaves_now;

	assert(port->peer && packet->wire_bytes);
	assert(vl < port->vl_count || (vl == MANAGEMENT_VL && !port->ethernet));
	if (__builtin_expect(port->down | (port->given_up & 1u << vl), 0) &&
	    port->user->discarded) {
		hoq_timeout_discard(port, packet,
				    port->down       ? DROP_DOWN
				    : port->ethernet ? DROP_PFC_WATCHDOG
						     : DROP_HOQ_LIFE);
		return;
	}
	leaves_now = !port->vls[vl].queued && vl_open(port, packet, ready_at);
	if (leaves_now && port->busy_until <= ready_at && !port->waiting && !port->credits_due &&
	    !port->pause_due && !port->wakes) {
		commit(port, packet, ready_at);
		if (port->keeps_leaving && port->leaving->wire_bytes)
			transmit_wake(port, port->busy_until);
		return;
	}
	packet->head_at = ready_at;
	if (!leaves_now && !port->vls[vl].queued) {
		hoq_timeout_note(port, vl);
		if (port->busy_until <= sim_now(port->block.sim))
			transmit_blocked(port, true);
	}
	arbiter_enqueue(port, packet);
	if (leaves_now || port->wakes)
		transmit_wake(port, ready_at);
	else if (port->ethernet) /* paused */
		transmit_wake(port, port->vls[vl].paused_until);
}

sim_time port_params_latency(const struct port_params *params)
{
	return (sim_time)llround(params->length * (double)params->propagation) +
	       params->fec_latency;
}

void transmit_configure(struct port *port)
{
	const struct port_params *params = &port->params;

	port->rate_bps =
		params->speed == SPEED_EXPLICIT
			? params->rate
			: encoding_rate_bps((enum infiniband_speed)params->speed, params->width);
	assert(port->rate_bps);
	port->ps_per_byte = ENCODED_BITS_A_BYTE % port->rate_bps == 0
				    ? (uint32_t)(ENCODED_BITS_A_BYTE / port->rate_bps)
				    : 0;
	assert(ENCODED_BITS_A_BYTE / port->rate_bps <= UINT32_MAX);
	assert(port_params_latency(params) <= UINT32_MAX);
	port->latency = (uint32_t)port_params_latency(params);
	for (unsigned vl = 0; vl < port_vl_room(port); vl++)
		port->vls[vl].depth = (uint32_t)params->transmit_depth;
}

void transmit_init(struct port *port)
{
	port->preamble_bytes = port->ethernet ? ETHERNET_PREAMBLE : 0;
	port->gap_bytes = port->ethernet ? ETHERNET_GAP : 0;
	port->keeps_leaving = port->user->sent != NULL;
	if (port->keeps_leaving)
		port->leaving = sim_arena(port->block.sim, sizeof(*port->leaving));
	event_init(&port->transmit, &port->block, transmit_fire);
}
