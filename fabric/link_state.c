/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_state: a link that goes down and comes up again. While it is down, no packet passes, and
 * packets on the wire are lost. A switch drops packets that wait for the link or arrive for it. An
 * HCA keeps packets without credits. When the link comes up, credits are initialised as after link
 * training (IBTA vol. 1, 7.9.4), and pauses are requested again.
 *
 * Each end handles its own part, and loses the packets that it has sent. If the ends are in two LPs
 * of a parallel run, the other end loses the packets that have crossed, at the same time.
 */
#include "fabric/lp_link.h"
#include "fabric/port_state.h"

void link_state_lose(struct port *port, struct packet *packet)
{
	if (packet->kind != PACKET_FLOW_CONTROL && packet->kind != PACKET_PFC) {
		port->count.fault_bytes += packet->wire_bytes;
		bytes_out_keep(port, &port->lost_arriving, packet->tail_at - port->peer->latency,
			       packet->wire_bytes);
	}
	port_drop(port, packet, DROP_FAULT);
}

/* Loses the packets in flight to that end. */
static void lose_flying(struct port *port)
{
	sim_cancel(&port->arrive);
	while (port->flying.head)
		link_state_lose(port, packet_queue_pop(&port->flying));
}

static void fall_silent(struct port *port)
{
	port->down = true;
	port->credits_due = 0;
	port->pause_due = 0;
	port->last_arrival = sim_now(port->block.sim);
	if (port->between_lps) {
		lp_link_lose(port->lp_link);
		lose_flying(port);
	} else {
		lose_flying(port->peer);
	}
	transmit_blocked(port, false);
	if (!port->user->discarded)
		return;
	for (unsigned vl = 0; vl < port_vl_room(port); vl++)
		hoq_timeout_flush(port, vl, DROP_DOWN);
}

/* Ends the pauses of the other end. */
static void unpause(struct port *port)
{
	sim_time now = sim_now(port->block.sim);

	sim_cancel(&port->react);
	while (port->reacting.head)
		packet_free(port->pool, packet_queue_pop(&port->reacting));
	for (unsigned vl = 0; port->ethernet && vl < ETHERNET_VLS; vl++) {
		port->paused_before[vl] = port_paused_time(port, vl);
		port->paused_from[vl] = now;
		port->vls[vl].paused_until = now;
	}
}

void port_set_end(struct port *port, bool up)
{
	assert(port->peer && port->ethernet);
	if (port->down == !up)
		return;
	if (up) {
		port->down = false;
		port->pause_due |= port->pausing;
		transmit_wake(port, sim_now(port->block.sim));
	} else {
		fall_silent(port);
		unpause(port);
	}
}

/* Initialises the credits of both ends before either end sends. */
static void set_infiniband(struct port *port, bool up)
{
	struct port *ends[] = {port, port->peer};

	assert(!port->lp_link);
	if (port->down == !up)
		return;
	for (unsigned i = 0; i < ARRAY_SIZE(ends); i++) {
		if (!up) {
			fall_silent(ends[i]);
			continue;
		}
		ends[i]->down = false;
		credits_restart(ends[i]);
	}
	for (unsigned i = 0; up && i < ARRAY_SIZE(ends); i++)
		transmit_wake(ends[i], sim_now(port->block.sim));
}

void port_set_link(struct port *port, bool up)
{
	if (port->ethernet) {
		port_set_end(port, up);
		port_set_end(port->peer, up);
	} else {
		set_infiniband(port, up);
	}
}
