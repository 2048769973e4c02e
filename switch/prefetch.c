/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prefetch: prefetches what a packet will touch in a switch, shortly before it arrives or departs
 * (sim/event.h). Changes nothing.
 */
#include "switch/switch_state.h"

static const struct fabric_switch *switch_of(const struct port_user *user)
{
	return container_of(user, const struct switch_port, user)->sw;
}

/* Prefetches the output of the packet that arrives. Of a group, the output is known if its hash
 * decides. */
static void fetch_output(const struct event *event)
{
	struct port_user *user;
	const struct packet *packet = port_arriving(event, &user);
	const struct fabric_switch *sw;
	unsigned output;

	if (!packet->path)
		return;
	sw = switch_of(user);
	output = forwarding_find(sw, packet->path);
	if (output == NO_ROUTE)
		return;
	if (output >= sw->port_count) {
		const struct port_group *group = &sw->groups[output - sw->port_count];

		if (sw->params.balance != BALANCE_ECMP) {
			__builtin_prefetch(group);
			return;
		}
		output = balance_hashed(sw, group, packet->path);
	}
	__builtin_prefetch(&sw->ports[output].user);
	port_prefetch(sw->links[output], packet->vl);
}

/* Prefetches the input of the packet that departs, which gets its space back. */
static void fetch_input(const struct event *event)
{
	struct port_user *user;
	const struct packet *packet = port_departing(event, &user);
	const struct fabric_switch *sw;

	if (!packet)
		return;
	sw = switch_of(user);
	if (!sw->buffer)
		port_prefetch_release(sw->links[packet->ingress & INGRESS_PORT], packet->vl,
				      sw->by_lid ? LINK_INFINIBAND : LINK_ETHERNET);
}

static const struct event_fetch arrival = {
	{port_fetch_arrival_port, port_fetch_arrival_packet, fetch_output, port_fetch_nothing}};
static const struct event_fetch departure = {{port_fetch_departure_port, port_fetch_departure_queue,
					      port_fetch_departure_packet, fetch_input}};

void prefetch_init(struct port *port)
{
	port_set_fetch(port, &arrival, &departure);
}
