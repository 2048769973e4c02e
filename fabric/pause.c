/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pause: priority flow control of Ethernet (IEEE 802.1Qbb, 802.3 annex 31D). An end whose input of
 * a priority grows beyond xoff sends a pause frame, which is valid for `pause_quanta`. It repeats
 * the frame after half of that time, and sends 0 quanta below xon. The other end obeys
 * `pause_reaction` after the end of the frame. An end neither sends nor obeys pauses for priorities
 * without PFC.
 */
#include "fabric/port_state.h"

#include <string.h>

static sim_time quanta_duration(const struct port *port, uint64_t quanta)
{
	return transmit_duration(port, quanta * (PAUSE_QUANTUM_BITS / 8));
}

/* Sends the changes to the other end. */
static void say(struct port *port)
{
	uint8_t pausing = (uint8_t)((port->wanted & port->params.pfc_priorities) | port->storming);
	uint8_t changed = port->pausing ^ pausing;

	if (!changed)
		return;
	port->pausing = pausing;
	port->pause_due |= changed;
	transmit_kick(port);
}

void port_pause(struct port *port, uint8_t priorities, bool stop)
{
	assert(port->ethernet);
	port->wanted = (uint8_t)(stop ? port->wanted | priorities : port->wanted & ~priorities);
	say(port);
}

void port_storm(struct port *port, uint8_t priorities, bool start)
{
	assert(port->ethernet);
	port->storming =
		(uint8_t)(start ? port->storming | priorities : port->storming & ~priorities);
	say(port);
}

struct packet *pause_frame(struct port *port)
{
	struct packet *packet = packet_new(port->pool);

	packet->kind = PACKET_PFC;
	packet->wire_bytes = PFC_FRAME_BYTES;
	packet->pause_enable = port->pause_due;
	for (unsigned vl = 0; vl < ETHERNET_VLS; vl++)
		if (port->pausing & port->pause_due & 1u << vl)
			packet->pause_quanta[vl] = (uint16_t)port->params.pause_quanta;
	memcpy(packet->pause_depth, port->pausing_depth, sizeof(packet->pause_depth));
	port->pause_due = 0;
	port->count.pause_sent++;
	if (port->pausing && !event_pending(&port->refresh))
		sim_schedule(&port->refresh, quanta_duration(port, port->params.pause_quanta) / 2);
	return packet;
}

void pause_refresh(struct port *port)
{
	port->pause_due |= port->pausing;
	if (port->pause_due)
		transmit_kick(port);
}

/* Receives a frame, which waits in `reacting` until it takes effect. */
void pause_receive(struct port *port, struct packet *packet)
{
	port->count.pause_received++;
	packet->tail_at += port->params.pause_reaction;
	packet_queue_push(&port->reacting, packet);
	if (!event_pending(&port->react))
		sim_schedule_at(&port->react, packet->tail_at);
}

bool port_paused(const struct port *port, unsigned vl)
{
	return port->ethernet && port->vls[vl].paused_until > sim_now(port->block.sim);
}

sim_time port_paused_time(const struct port *port, unsigned vl)
{
	sim_time now = sim_now(port->block.sim);
	sim_time until;

	if (!port->ethernet)
		return 0;
	until = port->vls[vl].paused_until < now ? port->vls[vl].paused_until : now;
	return port->paused_before[vl] + (until - port->paused_from[vl]);
}

void port_set_pause_depth(struct port *port, unsigned vl, unsigned depth)
{
	assert(port->ethernet);
	port->pausing_depth[vl] = (uint8_t)(depth < UINT8_MAX ? depth : UINT8_MAX);
}

unsigned port_pause_depth(const struct port *port, unsigned vl)
{
	return port_paused(port, vl) ? port->paused_depth[vl] : 0;
}

bool port_pausing(const struct port *port, unsigned vl)
{
	return port->ethernet && port->pausing & 1u << vl;
}

static void react(struct event *event)
{
	struct port *port = container_of(event, struct port, react);
	struct packet *packet = packet_queue_pop(&port->reacting);
	sim_time now = sim_now(port->block.sim);

	for (unsigned vl = 0; vl < ETHERNET_VLS; vl++) {
		if (packet->pause_enable & port->params.pfc_priorities & 1u << vl) {
			port->paused_before[vl] = port_paused_time(port, vl);
			port->paused_from[vl] = now;
			port->paused_depth[vl] = packet->pause_depth[vl];
			port->vls[vl].paused_until =
				now + quanta_duration(port, packet->pause_quanta[vl]);
		}
	}
	packet_free(port->pool, packet);
	if (port->reacting.head)
		sim_schedule_at(&port->react, port->reacting.head->tail_at);
	if (port->waiting)
		transmit_kick(port);
}

void pause_consider_stop(struct port *port, unsigned vl)
{
	if (port->vls[vl].used > port->xoff && port->params.pfc_priorities & 1u << vl)
		port_pause(port, (uint8_t)(1u << vl), true);
}

void pause_consider_go(struct port *port, unsigned vl)
{
	if (port->vls[vl].used <= port->xon)
		port_pause(port, (uint8_t)(1u << vl), false);
}

uint64_t pause_headroom(uint64_t rate_bps, double metres, uint64_t mtu)
{
	double gbps = (double)rate_bps / 1e9;

	return (uint64_t)((301.0 + 2.16 * metres) * gbps + 2.72 * (double)mtu);
}

uint64_t port_headroom(const struct port *port)
{
	return pause_headroom(port->rate_bps, port->params.length, port->params.mtu);
}

#define XON_BELOW_XOFF 9216u /* a jumbo frame: mlx5 */

void pause_configure(struct port *port)
{
	uint64_t buffer = port->capacity;
	uint64_t headroom = port_headroom(port);
	uint64_t xoff = port->params.xoff, xon = port->params.xon;

	if (!xoff)
		xoff = buffer > headroom ? buffer - headroom : buffer / 2;
	if (!xon)
		xon = xoff > XON_BELOW_XOFF ? xoff - XON_BELOW_XOFF : xoff / 2;
	if (xon > xoff)
		xon = xoff;
	assert(xoff <= UINT32_MAX);
	port->xoff = (uint32_t)xoff;
	port->xon = (uint32_t)xon;
}

void pause_init(struct port *port)
{
	event_init(&port->react, &port->block, react);
}
