/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stall: an adapter that accepts no packets for a time, because the limit of recoveries from lost
 * READ responses is reached (hca/transport/read_recoveries.h). Packets of all queue pairs then wait
 * in the port's input space, and packets that have arrived are not processed. After the stall all
 * of them are processed at once, in order.
 */
#include "hca/endpoint/endpoint_state.h"

static sim_time later(sim_time one, sim_time other)
{
	return one > other ? one : other;
}

/* Replaces port_user.receive during a stall. */
static void keep(struct port_user *user, struct port *port, struct packet *packet)
{
	(void)port;
	endpoint_packet_line_append(&container_of(user, struct endpoint_hca, port_user)->stalled,
				    packet);
}

void stall_until(struct endpoint_hca *ep, sim_time until)
{
	ep->count.read_recovery_stalls++;
	ep->port_user.receive = keep;
	sim_cancel(&ep->arrived.event);
	sim_cancel(&ep->stalled.event);
	sim_schedule_at(&ep->stalled.event, until);
}

static void end(struct event *event)
{
	struct packet_line *line = container_of(event, struct packet_line, event);
	struct endpoint_hca *ep = line->ep;
	sim_time now = endpoint_now(ep);

	endpoint_receives(ep);
	for (struct packet *packet = ep->arrived.head; packet; packet = packet->next)
		packet->tail_at = later(packet->tail_at, now);
	if (ep->arrived.head)
		sim_schedule_at(&ep->arrived.event, ep->arrived.head->tail_at);
	while (line->head) {
		struct packet *packet = line->head;

		line->head = packet->next;
		packet->tail_at = later(packet->tail_at, now);
		ep->port_user.receive(&ep->port_user, ep->port, packet);
	}
}

void stall_init(struct endpoint_hca *ep)
{
	ep->stalled = (struct packet_line){.ep = ep};
	event_init(&ep->stalled.event, &ep->block, end);
}
