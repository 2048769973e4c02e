/*
 * link_state: a link that goes down and comes up again. Down: what is on the wire is lost, nothing passes; a switch
 * drops what waits for it and what comes, an HCA keeps what it has no credits for. Up: credits begin anew, as after
 * link training (IBTA vol. 1, 7.9.4), and pauses are asked for again.
 */
#include "fabric/port_state.h"

static void lose_flying(struct port *port)
{
	sim_cancel(&port->arrive);
	while (port->flying.head) {
		struct packet *packet = packet_queue_pop(&port->flying);

		if (packet->kind != PACKET_FLOW_CONTROL && packet->kind != PACKET_PFC)
			port->peer->count.fault_bytes += packet->wire_bytes;
		port_drop(port, packet, DROP_FAULT);
	}
	port->peer->last_arrival = sim_now(port->block.sim);
}

static void fall_silent(struct port *port)
{
	port->down = true;
	port->credits_due = 0;
	port->pause_due = 0;
	lose_flying(port);
	if (!port->user->discarded)
		return;
	for (unsigned lane = 0; lane < PORT_LANES; lane++)
		stuck_flush(port, lane, DROP_DOWN);
}

/* The other end's pauses are forgotten. */
static void unpause(struct port *port)
{
	sim_time now = sim_now(port->block.sim);

	sim_cancel(&port->react);
	while (port->reacting.head)
		packet_free(port->pool, packet_queue_pop(&port->reacting));
	for (unsigned lane = 0; lane < ETHERNET_LANES; lane++) {
		port->paused_before[lane] = port_paused_time(port, lane);
		port->paused_from[lane] = now;
		port->lanes[lane].paused_until = now;
	}
}

void port_set_link(struct port *port, bool up)
{
	struct port *ends[] = {port, port->peer};

	assert(port->peer && !port->boundary);
	if (port->down == !up)
		return;
	for (unsigned i = 0; i < ARRAY_SIZE(ends); i++) {
		if (!up) {
			fall_silent(ends[i]);
			if (ends[i]->ethernet)
				unpause(ends[i]);
			continue;
		}
		ends[i]->down = false;
		if (ends[i]->ethernet)
			ends[i]->pause_due |= ends[i]->pausing;
		else
			credits_restart(ends[i]);
	}
	for (unsigned i = 0; up && i < ARRAY_SIZE(ends); i++)
		transmit_kick(ends[i]);
}
