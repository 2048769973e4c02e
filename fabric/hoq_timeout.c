/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hoq_timeout: drops packets of a VL whose first packet cannot leave for a long time.
 *
 * InfiniBand: a packet that has been first in its VL for `hoq_life` is dropped (HOQLife, IBTA vol.
 * 1, 18.2.5.4). After `vl_stall_count` such drops without a departure in between, the VL is
 * stalled: all its packets are dropped for 8 times `hoq_life`.
 *
 * Ethernet: when a priority has been paused for `pfc_watchdog` while packets wait, all its packets
 * are dropped. This ends when no pause has arrived for the same time (Guo et al., SIGCOMM 2016, row
 * D-21).
 *
 * A port whose user has no discarded(), such as the port of an HCA, never drops packets for these
 * reasons.
 */
#include "fabric/port_state.h"

#define STALL_LIFETIMES 8

static sim_time patience(const struct port *port)
{
	return port->ethernet ? port->params.pfc_watchdog : port->params.hoq_life;
}

void hoq_timeout_discard(struct port *port, struct packet *packet, enum drop_reason reason)
{
	port->user->discarded(port->user, port, packet);
	port_drop(port, packet, reason);
}

void hoq_timeout_flush(struct port *port, unsigned vl, enum drop_reason reason)
{
	struct packet *packet;

	while ((packet = arbiter_remove(port, vl)))
		hoq_timeout_discard(port, packet, reason);
}

void hoq_timeout_note(struct port *port, unsigned vl)
{
	sim_time now = sim_now(port->block.sim);

	if (!port->patient || port->hoq_blocked & 1u << vl || vl == MANAGEMENT_VL)
		return;
	port->hoq_blocked |= (uint16_t)(1u << vl);
	port->hoq->blocked_since[vl] = now;
	if (!event_pending(&port->give_up))
		sim_schedule(&port->give_up, patience(port));
}

void hoq_timeout_progress(struct port *port, unsigned vl)
{
	port->hoq_blocked &= (uint16_t) ~(1u << vl);
	if (!port->hoq_blocked && !port->given_up)
		sim_cancel(&port->give_up);
}

static void stall(struct port *port, unsigned vl)
{
	port->given_up |= (uint16_t)(1u << vl);
	port->hoq->stalled_until[vl] =
		sim_now(port->block.sim) + STALL_LIFETIMES * port->params.hoq_life;
	port->hoq->drops_in_a_row[vl] = 0;
	port->count.vl_stalls++;
	hoq_timeout_flush(port, vl, DROP_HOQ_LIFE);
}

/* Drops the first packet of the VL, which has waited for too long. */
static void expire(struct port *port, unsigned vl)
{
	struct packet *packet = arbiter_remove(port, vl);
	uint16_t sent = port->vls[vl].credit_total;

	if (!packet)
		return;
	hoq_timeout_discard(port, packet, DROP_HOQ_LIFE);
	if (port->hoq->last_drop_at[vl] != sent)
		port->hoq->drops_in_a_row[vl] = 0;
	port->hoq->last_drop_at[vl] = sent;
	if (++port->hoq->drops_in_a_row[vl] == port->params.vl_stall_count)
		stall(port, vl);
}

static void give_up(struct port *port, unsigned vl)
{
	if (!port->ethernet) {
		expire(port, vl);
		return;
	}
	port->given_up |= (uint16_t)(1u << vl);
	port->count.pfc_watchdog_triggers++;
	hoq_timeout_flush(port, vl, DROP_PFC_WATCHDOG);
}

/* Returns the time at which the state of a VL that drops its packets is checked again. */
static sim_time look_again(const struct port *port, unsigned vl)
{
	return port->ethernet ? sim_now(port->block.sim) + patience(port)
			      : port->hoq->stalled_until[vl];
}

/* Serves a VL again. A priority resumes when no pause has arrived for the watchdog time, a stalled
 * VL after its stall time. */
static void consider_restore(struct port *port, unsigned vl)
{
	sim_time now = sim_now(port->block.sim);
	bool over = port->ethernet ? !port_paused(port, vl) &&
					     now - port->paused_from[vl] >= patience(port)
				   : now >= port->hoq->stalled_until[vl];

	if (over)
		port->given_up &= (uint16_t) ~(1u << vl);
}

static void give_up_fire(struct event *event)
{
	struct port *port = container_of(event, struct port, give_up);
	sim_time now = sim_now(port->block.sim), next = SIM_NEVER;

	for (uint32_t vls = port->hoq_blocked; vls; vls &= vls - 1) {
		unsigned vl = (unsigned)__builtin_ctz(vls);

		if (now - port->hoq->blocked_since[vl] >= patience(port)) {
			port->hoq_blocked &= (uint16_t) ~(1u << vl);
			give_up(port, vl);
			if (port->vls[vl].queued) { /* the time of the next packet begins */
				port->hoq_blocked |= (uint16_t)(1u << vl);
				port->hoq->blocked_since[vl] = now;
			}
		}
		if (port->hoq_blocked & 1u << vl &&
		    port->hoq->blocked_since[vl] + patience(port) < next)
			next = port->hoq->blocked_since[vl] + patience(port);
	}
	for (uint32_t vls = port->given_up; vls; vls &= vls - 1) {
		unsigned vl = (unsigned)__builtin_ctz(vls);

		consider_restore(port, vl);
		if (port->given_up & 1u << vl && look_again(port, vl) < next)
			next = look_again(port, vl);
	}
	if (next != SIM_NEVER && !event_pending(&port->give_up))
		sim_schedule_at(&port->give_up, next);
	if (port->waiting)
		transmit_kick(port);
	else
		transmit_blocked(port, false);
}

void hoq_timeout_configure(struct port *port)
{
	port->patient = port->user->discarded && patience(port) > 0;
	if (port->patient && !port->hoq)
		port->hoq = sim_arena(port->block.sim, sizeof(*port->hoq));
}

void hoq_timeout_init(struct port *port)
{
	event_init(&port->give_up, &port->block, give_up_fire);
}
