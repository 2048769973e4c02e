/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port_fetch: prefetches the memory of a port and of its packets, shortly before events use it
 * (sim/event.h). arbiter.c has the stages for departures, which need its queues.
 */
#include "fabric/port_state.h"

void port_fetch_arrival_port(const struct event *event)
{
	const struct port *port = container_of(event, const struct port, arrive);

	__builtin_prefetch(port->flying.head, 1);
	__builtin_prefetch(&port->user);
	__builtin_prefetch(&port->busy_until, 1);
}

void port_fetch_arrival_packet(const struct event *event)
{
	const struct port *port = container_of(event, const struct port, arrive);
	const struct packet *packet = port->flying.head;

	__builtin_prefetch(packet->path);
	__builtin_prefetch(packet->next);
	__builtin_prefetch(&port->vls[packet->vl], 1);
	__builtin_prefetch(port->user);
}

const struct packet *port_arriving(const struct event *event, struct port_user **user)
{
	const struct port *port = container_of(event, const struct port, arrive);

	*user = port->user;
	return port->flying.head;
}

void port_fetch_nothing(const struct event *event)
{
	(void)event;
}

static const struct event_fetch arrive_fetch = {{port_fetch_arrival_port, port_fetch_arrival_packet,
						 port_fetch_nothing, port_fetch_nothing}};
static const struct event_fetch transmit_fetch = {
	{port_fetch_departure_port, port_fetch_departure_queue, port_fetch_departure_packet,
	 port_fetch_nothing}};

void port_set_fetch(struct port *port, const struct event_fetch *arrival,
		    const struct event_fetch *departure)
{
	event_set_fetch(&port->arrive, arrival);
	event_set_fetch(&port->transmit, departure);
}

void port_fetch_init(struct port *port)
{
	port_set_fetch(port, &arrive_fetch, &transmit_fetch);
}

void port_prefetch_release(const struct port *port, unsigned vl, enum link_layer link_layer)
{
	__builtin_prefetch(&port->capacity, 1);
	__builtin_prefetch(port->deferred_inline, 1);
	if (link_layer == LINK_INFINIBAND)
		__builtin_prefetch(&port->vls[vl], 1);
}

void port_prefetch(const struct port *port, unsigned vl)
{
	__builtin_prefetch(&port->user);
	__builtin_prefetch(&port->busy_until, 1);
	__builtin_prefetch(&port->transmit, 1);
	__builtin_prefetch(&port->vls[vl], 1);
}
