/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stall: an adapter that takes in nothing for a while, since all its recoveries from lost READ responses are under way
 * (hca/transport/read_recoveries.h). What comes meanwhile, of any queue pair, waits in the port's input space, and what has come is not
 * acted on; then all of it follows at once, in order.
 */
#include "hca/endpoint/endpoint_state.h"

static sim_time later(sim_time one, sim_time other)
{
	return one > other ? one : other;
}

/* In the place of port_user.receive. */
static void keep(struct port_user *user, struct port *port, struct packet *packet)
{
	(void)port;
	packet_line_append(&container_of(user, struct endpoint_hca, port_user)->stalled, packet);
}

void stall_until(struct endpoint_hca *hca, sim_time until)
{
	hca->count.read_recovery_stalls++;
	hca->port_user.receive = keep;
	sim_cancel(&hca->arrived.event);
	sim_cancel(&hca->stalled.event);
	sim_schedule_at(&hca->stalled.event, until);
}

static void end(struct event *event)
{
	struct packet_line *line = container_of(event, struct packet_line, event);
	struct endpoint_hca *hca = line->hca;
	sim_time now = endpoint_now(hca);

	endpoint_receives(hca);
	for (struct packet *packet = hca->arrived.head; packet; packet = packet->next)
		packet->tail_at = later(packet->tail_at, now);
	if (hca->arrived.head)
		sim_schedule_at(&hca->arrived.event, hca->arrived.head->tail_at);
	while (line->head) {
		struct packet *packet = line->head;

		line->head = packet->next;
		packet->tail_at = later(packet->tail_at, now);
		hca->port_user.receive(&hca->port_user, hca->port, packet);
	}
}

void stall_init(struct endpoint_hca *hca)
{
	hca->stalled = (struct packet_line){.hca = hca};
	event_init(&hca->stalled.event, &hca->block, end);
}
