/* SPDX-License-Identifier: Apache-2.0 */
/* mirror: see mirror.h. */
#include "switch/mirror.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/wire/codec.h"
#include "fabric/wire/erspan.h"
#include "fabric/wire/ethernet.h"
#include "fabric/wire/ip.h"
#include "switch/switch_state.h"

#define DSCP_SHIFT 2  /* of the traffic class */
#define FRAME_MIN  60 /* without FCS */
#define FCS_BYTES  4
#define IPV4_BYTES 20
#define VLAN_MASK  0xfff

enum direction { MIRROR_INGRESS, MIRROR_EGRESS, MIRROR_BOTH, MIRROR_DROPS };

struct mirror {
	struct block block;
	struct mirror_params params;
	struct mirror_counters count;
	struct port_set ports;
	unsigned to;              /* without ERSPAN */
	const struct path *outer; /* NULL without ERSPAN */
	struct mirror_erspan_params erspan;
	uint64_t waiting_bytes, seen;
	uint32_t sequence;
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
#undef ROW
#define ROW(...) PARAM_ROW(struct mirror_erspan_params, __VA_ARGS__)
const struct param mirror_erspan_param_list[] = { MIRROR_ERSPAN_PARAMS(ROW) { 0 } };

static const struct block_type mirror_type = {
	.name     = "mirror",
	.params   = mirror_param_list,
	.counters = (const struct counter[]){ MIRROR_COUNTERS(COUNTER_ENTRY) { 0 } },
};
/* clang-format on */

static bool concerns(struct mirror *mirror, const struct packet *packet)
{
	const struct mirror_params *params = &mirror->params;

	if (packet->path->source == NO_ENDPOINT) /* ERSPAN */
		return false;
	if (params->dscp != MIRROR_ANY_DSCP &&
	    packet->path->traffic_class >> DSCP_SHIFT != params->dscp)
		return false;
	return mirror->seen++ % params->sample == 0;
}

/* ---- ERSPAN ---- */

/* Writes the frame as it is on the link, without FCS. */
static uint32_t frame_build(const struct packet *packet, uint8_t *frame)
{
	uint32_t bytes = (uint32_t)codec_build(packet, frame, PACKET_BYTES_MAX);

	if (bytes >= FRAME_MIN)
		return bytes;
	memset(frame + bytes, 0, FRAME_MIN - bytes);
	return FRAME_MIN;
}

static struct erspan header_of(const struct mirror *mirror, const struct packet *packet,
			       unsigned port, enum direction direction, sim_time at)
{
	const struct path *path = packet->path;

	return (struct erspan){
		.type = mirror->erspan.type == MIRROR_ERSPAN_III ? ERSPAN_III : ERSPAN_II,
		.sequence = mirror->sequence,
		.session = (uint16_t)mirror->erspan.session,
		.vlan = path->vlan & VLAN_MASK,
		.cos = path->service_level & 7,
		.tagged = path_vlan_tag(path) != 0,
		.index = port,
		.timestamp = (uint32_t)(at / (ERSPAN_TIMESTAMP_NS * NS)),
		.egress = direction == MIRROR_EGRESS,
	};
}

/* Returns an IP packet with a copy of the packet, which is cut off at `mtu`. */
static struct packet *encapsulate(struct fabric_switch *sw, struct mirror *mirror,
				  const struct packet *packet, struct erspan *erspan)
{
	uint8_t headers[ERSPAN_HEADERS_MAX], inner[PACKET_BYTES_MAX], frame[PACKET_BYTES_MAX];
	uint32_t header_bytes = (uint32_t)erspan_build(erspan, headers);
	uint32_t inner_bytes = frame_build(packet, inner);
	uint32_t room = (uint32_t)mirror->erspan.mtu - IPV4_BYTES - header_bytes, at;
	struct packet *outer = packet_new(sw->pool);

	if (inner_bytes > room) {
		inner_bytes = room;
		erspan->truncated = true;
		erspan_build(erspan, headers);
	}
	outer->kind = PACKET_RAW;
	outer->path = mirror->outer;
	outer->hop_limit = mirror->outer->hop_limit;
	at = (uint32_t)ethernet_build(mirror->outer, ETHERTYPE_IPV4, frame);
	at += (uint32_t)ip_build(outer, IP_GRE, header_bytes + inner_bytes, frame + at);
	memcpy(frame + at, headers, header_bytes);
	memcpy(frame + at + header_bytes, inner, inner_bytes);
	outer->payload_bytes = at + header_bytes + inner_bytes;
	outer->payload = packet_payload_of(sw->pool, frame, outer->payload_bytes);
	outer->wire_bytes = outer->payload_bytes + FCS_BYTES;
	return outer;
}

/* Returns the output towards the analyser, or NO_ROUTE. */
static unsigned route(struct fabric_switch *sw, const struct packet *packet)
{
	unsigned output = forwarding_find(sw, packet->path);

	if (output == NO_ROUTE || output < sw->port_count)
		return output;
	return balance_choose(sw, &sw->groups[output - sw->port_count], packet);
}

/* ---- copies ---- */

/* Returns true if the copy has room. Otherwise it is lost. */
static bool has_room(struct mirror *mirror, uint32_t bytes)
{
	if (mirror->waiting_bytes + bytes <= mirror->params.buffer)
		return true;
	mirror->count.lost++;
	return false;
}

/* Queues a copy at an output, from which it leaves when its last bit is available at `at`. */
static void queue_copy(struct fabric_switch *sw, struct mirror *mirror, struct packet *copy,
		       unsigned output, sim_time at)
{
	mirror->waiting_bytes += copy->wire_bytes;
	if (mirror->count.waiting_bytes_max < mirror->waiting_bytes)
		mirror->count.waiting_bytes_max = mirror->waiting_bytes;
	mirror->count.packets++;
	mirror->count.bytes += copy->wire_bytes;
	copy->mirror = mirror;
	copy->damage |= MIRRORED;
	copy->vl = (uint8_t)mirror->params.priority;
	copy->ingress = (uint16_t)output; /* the copy holds no memory of an input */
	copy->head_at = copy->tail_at = at + sw->forwarding_latency;
	port_send_at(sw->ports[output].port, copy, copy->head_at);
}

static void copy_plain(struct fabric_switch *sw, struct mirror *mirror, const struct packet *packet,
		       sim_time at)
{
	struct packet *copy;

	if (!has_room(mirror, packet->wire_bytes))
		return;
	copy = packet_copy(sw->pool, packet);
	copy->damage |= WRONG_MAC;
	queue_copy(sw, mirror, copy, mirror->to, at);
}

static void copy_encapsulated(struct switch_port *port, struct mirror *mirror,
			      const struct packet *packet, enum direction direction, sim_time at)
{
	struct fabric_switch *sw = port->sw;
	struct erspan erspan = header_of(mirror, packet, port_index(port), direction, at);
	struct packet *copy = encapsulate(sw, mirror, packet, &erspan);
	unsigned output = NO_ROUTE;

	mirror->sequence++;
	if (has_room(mirror, copy->wire_bytes)) {
		copy->vl = (uint8_t)mirror->params.priority;
		output = route(sw, copy);
		mirror->count.no_route += output == NO_ROUTE;
	}
	if (output == NO_ROUTE) {
		packet_free(sw->pool, copy);
		return;
	}
	mirror->count.truncated += erspan.truncated;
	queue_copy(sw, mirror, copy, output, at);
}

static void copy_all(struct switch_port *port, const struct packet *packet,
		     enum direction direction, sim_time at)
{
	struct fabric_switch *sw = port->sw;

	for (uint32_t i = 0; i < sw->mirrors->count; i++) {
		struct mirror *mirror = sw->mirrors->all[i];
		enum direction chosen = mirror->params.direction;

		if (!port_set_has(&mirror->ports, port_index(port)) ||
		    (chosen != direction && (chosen != MIRROR_BOTH || direction == MIRROR_DROPS)) ||
		    !concerns(mirror, packet))
			continue;
		if (mirror->outer)
			copy_encapsulated(port, mirror, packet, direction, at);
		else
			copy_plain(sw, mirror, packet, at);
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

/* Returns true if the packet is a copy of this switch, which no longer waits. */
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
	if (is_copy(packet)) {
		if (packet->mirror->outer) /* from here on an ordinary packet */
			packet->damage &= (uint8_t)~MIRRORED;
		return;
	}
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

static struct mirror *add(struct fabric_switch *sw, const struct mirror_params *params,
			  const struct port_set *ports)
{
	struct mirror *mirror = calloc(1, sizeof(*mirror));
	char name[256];

	assert(mirror);
	if (!sw->mirrors)
		sw->mirrors = stand_before(sw);
	snprintf(name, sizeof(name), "%s.mirror%u", sw->block.name, sw->mirrors->count);
	mirror->params = *params;
	mirror->ports = *ports;
	block_init(&mirror->block, sw->block.sim, &mirror_type, name, &mirror->params,
		   &mirror->count);
	sw->mirrors->all =
		realloc(sw->mirrors->all, (sw->mirrors->count + 1) * sizeof(sw->mirrors->all[0]));
	assert(sw->mirrors->all);
	sw->mirrors->all[sw->mirrors->count++] = mirror;
	return mirror;
}

void mirror_add(struct fabric_switch *sw, const struct mirror_params *params,
		const struct port_set *ports, unsigned to)
{
	assert(to < sw->port_count && !port_set_has(ports, to));
	add(sw, params, ports)->to = to;
	port_set_aside(sw->ports[to].port);
}

void mirror_add_erspan(struct fabric_switch *sw, const struct mirror_params *params,
		       const struct mirror_erspan_params *erspan, const struct port_set *ports,
		       const struct path *path)
{
	struct mirror *mirror = add(sw, params, ports);

	assert(path->source == NO_ENDPOINT);
	mirror->erspan = *erspan;
	mirror->outer = path;
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
