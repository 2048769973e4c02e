/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prefetch: prefetches what a packet will touch in a switch, shortly before it arrives or departs
 * (sim/event.h). Changes nothing.
 */
#include "switch/switch_state.h"

/* Returns the entry of the table for the packet that arrives, or NULL. */
static const uint16_t *next_entry(const struct event *event, const struct packet **packet,
				  const struct fabric_switch **sw)
{
	struct port_user *user;
	uint32_t index;

	*packet = port_arriving(event, &user);
	if (!(*packet)->path)
		return NULL;
	*sw = container_of(user, struct switch_port, user)->sw;
	index = (*sw)->by_lid ? (*packet)->path->dlid : (*packet)->path->destination;
	return index < (*sw)->table_entries ? &(*sw)->table[index] : NULL;
}

static void fetch_entry(const struct event *event)
{
	const struct packet *packet;
	const struct fabric_switch *sw;

	__builtin_prefetch(next_entry(event, &packet, &sw));
}

/* Prefetches the output that the entry names, or its group. */
static void fetch_output(const struct event *event)
{
	const struct packet *packet;
	const struct fabric_switch *sw;
	const uint16_t *entry = next_entry(event, &packet, &sw);

	if (!entry || *entry == NO_ROUTE)
		return;
	if (*entry < sw->port_count)
		port_prefetch(sw->links[*entry], packet->vl);
	else
		__builtin_prefetch(&sw->groups[*entry - sw->port_count]);
}

/* Prefetches the input of the packet that departs, which gets its space back. */
static void fetch_input(const struct event *event)
{
	struct port_user *user;
	const struct packet *packet = port_departing(event, &user);
	const struct fabric_switch *sw;

	if (!packet)
		return;
	sw = container_of(user, struct switch_port, user)->sw;
	if (!sw->buffer)
		port_prefetch_release(sw->links[packet->ingress & INGRESS_PORT], packet->vl,
				      sw->by_lid ? LINK_INFINIBAND : LINK_ETHERNET);
}

static const struct event_fetch arrival = {
	{port_fetch_arrival_port, port_fetch_arrival_packet, fetch_entry, fetch_output}};
static const struct event_fetch departure = {{port_fetch_departure_port, port_fetch_departure_queue,
					      port_fetch_departure_packet, fetch_input}};

void prefetch_init(struct port *port)
{
	port_set_fetch(port, &arrival, &departure);
}
