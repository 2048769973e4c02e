/* SPDX-License-Identifier: Apache-2.0 */
/*
 * station: minimal device behind a port, for tests and benchmarks. It sends a number of equal
 * packets as fast as the port accepts them, discards received packets, and records exact times.
 */
#ifndef TESTS_FABRIC_SUPPORT_STATION_H
#define TESTS_FABRIC_SUPPORT_STATION_H

#include <assert.h>
#include <string.h>

#include "fabric/endpoints.h"
#include "fabric/port.h"
#include "fabric/port_params.h"
#include "fabric/wire/opcode.h"

struct station {
	struct port_user user; /* first */
	struct sim *sim;
	struct packet_pool *pool;
	struct port *port;
	const struct path *path;
	uint32_t payload_bytes;
	uint8_t vl;
	uint8_t ecn; /* of the sent packets */
	uint16_t pkey;
	bool asks;    /* for telemetry */
	bool answers; /* each sent packet carries a telemetry record */
	uint64_t to_send;
	uint64_t sent;
	/* what came */
	bool holds;             /* keeps the input space of arrived packets */
	sim_time release_delay; /* after the tail, else */
	uint64_t received, received_payload, out_of_order, damaged, marked;
	struct telemetry telemetry; /* of the last that had some */
	uint32_t queue_max;         /* of their first hops */
	uint64_t from[8];           /* by source endpoint */
	uint64_t expected_psn;
	sim_time first_head, first_tail, last_head, last_tail;
	uint64_t digest;
};

static inline void station_fill(struct station *station)
{
	while (station->to_send && port_has_room(station->port, station->vl)) {
		struct packet *packet = packet_new(station->pool);

		packet->path = station->path;
		packet->opcode = RC_WRITE_MIDDLE;
		packet->payload_bytes = station->payload_bytes;
		packet->psn = (uint32_t)station->sent++ & 0xffffff;
		packet->vl = station->vl;
		packet->hop_limit = 64;
		packet->ecn = station->ecn;
		packet->pkey = station->pkey;
		if (station->asks)
			packet->telemetry = packet_telemetry_new(station->pool);
		if (station->answers)
			packet->telemetry->complete = true;
		packet->wire_bytes = packet_wire_bytes(packet);
		station->to_send--;
		port_send(station->port, packet);
	}
}

static inline void station_room(struct port_user *user, struct port *port, unsigned vl)
{
	(void)port, (void)vl;
	station_fill((struct station *)(void *)user);
}

static inline void station_receive(struct port_user *user, struct port *port, struct packet *packet)
{
	struct station *station = (struct station *)(void *)user;

	assert(packet->head_at == sim_now(station->sim));
	if (!station->received++) {
		station->first_head = packet->head_at;
		station->first_tail = packet->tail_at;
	}
	station->last_head = packet->head_at;
	station->last_tail = packet->tail_at;
	station->received_payload += packet->payload_bytes;
	station->damaged += packet->damage != 0;
	station->marked += packet->ecn == ECN_CE;
	if (packet->telemetry)
		station->telemetry = *packet->telemetry;
	if (packet->telemetry && packet->telemetry->hops[0].queue_bytes > station->queue_max)
		station->queue_max = packet->telemetry->hops[0].queue_bytes;
	station->out_of_order += packet->psn != station->expected_psn;
	station->expected_psn = (packet->psn + 1) & 0xffffff;
	if (packet->path->source < 8)
		station->from[packet->path->source]++;
	station->digest =
		(station->digest ^ packet->head_at ^ packet->tail_at << 20 ^ packet->psn) *
		UINT64_C(0x100000001b3);
	if (!station->holds)
		port_release_at(port, packet->vl, packet->wire_bytes,
				packet->tail_at + station->release_delay);
	packet_free(station->pool, packet);
}

/* The station outlives its port. */
static inline void station_init(struct station *station, struct sim *sim, const char *name,
				const struct port_params *params, enum link_layer link_layer,
				struct packet_pool *pool)
{
	memset(station, 0, sizeof(*station));
	station->user = (struct port_user){.receive = station_receive, .room = station_room};
	station->sim = sim;
	station->pool = pool;
	station->port = port_create(sim, name, params, link_layer, pool, &station->user);
}

static inline void station_send(struct station *station, const struct path *path, uint64_t packets,
				uint32_t payload_bytes)
{
	station->path = path;
	station->to_send = packets;
	station->payload_bytes = payload_bytes;
	station_fill(station);
}

/* Returns a path of InfiniBand without GRH, or of RoCEv2 over IPv4. */
static inline const struct path *station_path(struct endpoints *endpoints, uint32_t from,
					      uint32_t to)
{
	const struct endpoint *source = endpoints_get(endpoints, from);
	const struct endpoint *destination = endpoints_get(endpoints, to);
	struct path path;

	memset(&path, 0, sizeof(path));
	path.source = from;
	path.destination = to;
	path.link_layer = source->link_layer;
	path.hop_limit = 64;
	path.slid = source->lid;
	path.dlid = destination->lid;
	if (source->link_layer == LINK_ETHERNET) {
		path.roce_version = ROCE_V2_IPV4;
		path.has_grh = true;
		memcpy(path.smac, source->mac, 6);
		memcpy(path.dmac, destination->mac, 6);
		memcpy(path.sgid, source->gids[3].bytes, 16);
		memcpy(path.dgid, destination->gids[3].bytes, 16);
		path.udp_source_port = 0xc000;
	}
	return path_intern(endpoints_paths(endpoints), &path);
}

#endif
