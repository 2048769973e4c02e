/* SPDX-License-Identifier: Apache-2.0 */
/* mirror: see mirror.h. */
#include "switch/mirror.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "switch/switch_state.h"

#define DSCP_SHIFT 2 /* of the traffic class */

enum direction { MIRROR_INGRESS, MIRROR_EGRESS, MIRROR_BOTH, MIRROR_DROPS };

struct mirror {
	struct block block;
	struct mirror_params params;
	struct mirror_counters count;
	struct port_set ports;
	unsigned to;
	uint64_t waiting_bytes, seen;
};

/* All mirrors of a switch, and the port functions that they intercept. */
struct mirrors {
	struct mirror **all;
	uint32_t count;
	struct port_user users[];
};

/* clang-format off */
#define ROW(...) PARAM_ROW(struct mirror_params, __VA_ARGS__)
const struct param mirror_param_list[] = { MIRROR_PARAMS(ROW) { 0 } };

static const struct block_type mirror_type = {
	.name     = "mirror",
	.params   = mirror_param_list,
	.counters = (const struct counter[]){ MIRROR_COUNTERS(COUNTER_ENTRY) { 0 } },
};
/* clang-format on */

static bool concerns(struct mirror *mirror, const struct packet *packet)
{
	const struct mirror_params *params = &mirror->params;

	if (params->dscp != MIRROR_ANY_DSCP &&
	    packet->path->traffic_class >> DSCP_SHIFT != params->dscp)
		return false;
	return mirror->seen++ % params->sample == 0;
}

/* Sends a copy whose last bit is available at `at`. */
static void copy(struct fabric_switch *sw, struct mirror *mirror, const struct packet *packet,
		 sim_time at)
{
	struct packet *mirrored;

	if (!concerns(mirror, packet))
		return;
	if (mirror->waiting_bytes + packet->wire_bytes > mirror->params.buffer) {
		mirror->count.lost++;
		return;
	}
	mirror->waiting_bytes += packet->wire_bytes;
	if (mirror->count.waiting_bytes_max < mirror->waiting_bytes)
		mirror->count.waiting_bytes_max = mirror->waiting_bytes;
	mirror->count.packets++;
	mirror->count.bytes += packet->wire_bytes;
	mirrored = packet_copy(sw->pool, packet);
	mirrored->mirror = mirror;
	mirrored->damage |= WRONG_MAC | MIRRORED;
	mirrored->vl = (uint8_t)mirror->params.priority;
	mirrored->ingress = (uint16_t)mirror->to; /* the copy holds no memory of an input */
	mirrored->head_at = mirrored->tail_at = at + sw->forwarding_latency;
	port_send_at(sw->ports[mirror->to].port, mirrored, mirrored->head_at);
}

static void copy_all(struct switch_port *port, const struct packet *packet,
		     enum direction direction, sim_time at)
{
	struct fabric_switch *sw = port->sw;

	for (uint32_t i = 0; i < sw->mirrors->count; i++) {
		struct mirror *mirror = sw->mirrors->all[i];
		enum direction chosen = mirror->params.direction;

		if (port_set_has(&mirror->ports, port_index(port)) &&
		    (chosen == direction || (chosen == MIRROR_BOTH && direction != MIRROR_DROPS)))
			copy(sw, mirror, packet, at);
	}
}

static struct switch_port *port_of(struct port_user *user)
{
	return container_of(user, struct switch_port, user);
}

static const struct port_user *before(const struct switch_port *port)
{
	return &port->sw->mirrors->users[port_index(port)];
}

static void receive(struct port_user *user, struct port *port, struct packet *packet)
{
	struct switch_port *input = port_of(user);

	copy_all(input, packet, MIRROR_INGRESS, packet->tail_at);
	before(input)->receive(user, port, packet);
}

/* Returns true if the packet is a copy, which no longer waits. */
static bool is_copy(const struct packet *packet)
{
	if (!(packet->damage & MIRRORED))
		return false;
	packet->mirror->waiting_bytes -= packet->wire_bytes;
	return true;
}

static void departs(struct port_user *user, struct port *port, struct packet *packet,
		    sim_time starts_at, sim_time until)
{
	if (is_copy(packet))
		return;
	before(port_of(user))->departs(user, port, packet, starts_at, until);
	copy_all(port_of(user), packet, MIRROR_EGRESS, until);
}

static void discarded(struct port_user *user, struct port *port, const struct packet *packet)
{
	if (is_copy(packet))
		port_of(user)->sw->count.queue_drops++;
	else
		before(port_of(user))->discarded(user, port, packet);
}

void mirror_dropped(struct switch_port *input, const struct packet *packet)
{
	sim_time now = sim_now(input->sw->block.sim);

	if (input->sw->mirrors)
		copy_all(input, packet, MIRROR_DROPS,
			 packet->tail_at > now ? packet->tail_at : now);
}

/* Installs the functions of this file in front of the functions of the ports. */
static struct mirrors *stand_before(struct fabric_switch *sw)
{
	struct mirrors *mirrors =
		calloc(1, sizeof(*mirrors) + sw->port_count * sizeof(mirrors->users[0]));

	assert(mirrors);
	for (unsigned i = 0; i < sw->port_count; i++) {
		struct port_user *user = &sw->ports[i].user;

		mirrors->users[i] = *user;
		user->receive = receive;
		user->departs = departs;
		user->discarded = discarded;
	}
	return mirrors;
}

void mirror_add(struct fabric_switch *sw, const struct mirror_params *params,
		const struct port_set *ports, unsigned to)
{
	struct mirror *mirror = calloc(1, sizeof(*mirror));
	char name[256];

	assert(mirror && to < sw->port_count && !port_set_has(ports, to));
	if (!sw->mirrors)
		sw->mirrors = stand_before(sw);
	snprintf(name, sizeof(name), "%s.mirror%u", sw->block.name, sw->mirrors->count);
	mirror->params = *params;
	mirror->ports = *ports;
	mirror->to = to;
	port_set_aside(sw->ports[to].port);
	block_init(&mirror->block, sw->block.sim, &mirror_type, name, &mirror->params,
		   &mirror->count);
	sw->mirrors->all =
		realloc(sw->mirrors->all, (sw->mirrors->count + 1) * sizeof(sw->mirrors->all[0]));
	assert(sw->mirrors->all);
	sw->mirrors->all[sw->mirrors->count++] = mirror;
}

uint64_t mirror_copies(const struct fabric_switch *sw)
{
	uint64_t copies = 0;

	for (uint32_t i = 0; sw->mirrors && i < sw->mirrors->count; i++)
		copies += sw->mirrors->all[i]->count.packets;
	return copies;
}

void mirror_fini(struct fabric_switch *sw)
{
	for (uint32_t i = 0; sw->mirrors && i < sw->mirrors->count; i++) {
		block_fini(&sw->mirrors->all[i]->block);
		free(sw->mirrors->all[i]);
	}
	if (sw->mirrors)
		free(sw->mirrors->all);
	free(sw->mirrors);
}
