/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes_out: the bytes of data packets that have left a port at any time. A packet counts as sent
 * from its start, so the bytes that have not left are subtracted. They are known from the packets
 * in flight to the other end. A fault loses, delays or reorders packets in flight. The departures
 * of such packets are therefore kept in a list of their own until the last bit has left.
 */
#include <stdlib.h>
#include <string.h>

#include "fabric/port_state.h"

/* Returns the bytes of a packet that have not left, if its last bit leaves at `until`. */
static uint64_t bytes_to_leave(const struct port *port, sim_time until, uint32_t bytes)
{
	sim_time now = sim_now(port->block.sim);
	double left = until > now ? (double)(until - now) * (double)port->rate_bps /
					    (double)ENCODED_BITS_A_BYTE
				  : 0;

	return left < bytes ? (uint64_t)(left + 0.5) : bytes;
}

static uint64_t in_flight(const struct port *port, sim_time tail_at, uint32_t bytes)
{
	return bytes_to_leave(port, tail_at > port->latency ? tail_at - port->latency : 0, bytes);
}

static uint64_t in_list(const struct port *port, const struct departure_list *list)
{
	uint64_t bytes = 0;

	for (uint32_t i = list->first; i < list->count; i++)
		bytes += bytes_to_leave(port, list->departures[i].until, list->departures[i].bytes);
	return bytes;
}

uint64_t port_bytes_out(const struct port *port)
{
	const struct port *peer = port->peer;
	uint64_t later = in_list(port, &port->departures);

	if (!port->faulty) {
		later += in_list(port, &peer->lost_arriving);
		later += in_flight(port, peer->arriving_until, peer->arriving_bytes);
		for (const struct packet *packet = peer->flying.head; packet; packet = packet->next)
			if (packet->kind != PACKET_FLOW_CONTROL && packet->kind != PACKET_PFC)
				later += in_flight(port, packet->tail_at, packet->wire_bytes);
	}
	return port->count.bytes_sent > later ? port->count.bytes_sent - later : 0;
}

void bytes_out_keep(const struct port *port, struct departure_list *list, sim_time until,
		    uint32_t bytes)
{
	sim_time now = sim_now(port->block.sim);

	while (list->first < list->count && list->departures[list->first].until <= now)
		list->first++;
	if (list->first == list->count) {
		list->first = list->count = 0;
	} else if (list->count == list->room && list->first) {
		list->count -= list->first;
		memmove(list->departures, list->departures + list->first,
			list->count * sizeof(list->departures[0]));
		list->first = 0;
	}
	if (list->count == list->room) {
		list->room = list->room ? 2 * list->room : 4;
		list->departures =
			realloc(list->departures, list->room * sizeof(list->departures[0]));
		assert(list->departures);
	}
	list->departures[list->count++] = (struct departure){until, bytes};
}

static void carry_list(struct departure_list *list, struct carry *carry)
{
	uint32_t count = list->count - list->first;

	CARRY(carry, count);
	if (carry->reads) {
		list->first = 0;
		list->count = count;
		if (list->room < count) {
			list->room = count;
			list->departures =
				realloc(list->departures, list->room * sizeof(list->departures[0]));
			assert(list->departures);
		}
	}
	for (uint32_t i = list->first; i < list->count; i++) {
		CARRY(carry, list->departures[i].until);
		CARRY(carry, list->departures[i].bytes);
	}
}

void bytes_out_carry(struct port *port, struct carry *carry)
{
	carry_list(&port->departures, carry);
	carry_list(&port->lost_arriving, carry);
}

void bytes_out_fini(struct port *port)
{
	free(port->departures.departures);
	free(port->lost_arriving.departures);
}
