/* SPDX-License-Identifier: Apache-2.0 */
/*
 * star: one switch with a station at each port, for the tests of switches.
 */
#ifndef TESTS_SWITCH_SUPPORT_STAR_H
#define TESTS_SWITCH_SUPPORT_STAR_H

#include <stdio.h>

#include "switch/shared_buffer.h"
#include "switch/switch.h"
#include "tests/fabric/support/station.h"

#define STAR_HOSTS 256

struct star {
	struct sim *sim;
	struct packet_pool *pool;
	struct endpoints *endpoints;
	struct topology *topology;
	struct fabric_switch *sw;
	struct switch_params params;
	unsigned count;
	char error[256];
	struct station hosts[STAR_HOSTS];
};

/* Connects the star, after params are set. Returns false with the reason in star->why on
 * failure. */
static inline bool star_begin(struct star *star, enum link_layer link_layer, unsigned hosts)
{
	struct topology_switch ops;

	assert(hosts <= STAR_HOSTS);
	star->count = hosts;
	star->sim = sim_create(SIM_ENGINE_native, 1);
	star->pool = packet_pool_create();
	star->endpoints = endpoints_create();
	star->topology = topology_create(star->endpoints);
	star->sw = switch_create(star->sim, "switch", &star->params, hosts, link_layer, star->pool);
	ops = switch_topology(star->sw);
	topology_add_switch(star->topology, &ops);
	for (unsigned i = 0; i < hosts; i++) {
		const uint8_t ip[4] = {10, 0, 0, (uint8_t)(i + 1)};
		char name[32];
		unsigned node;

		snprintf(name, sizeof(name), "host%u.port", i);
		station_init(&star->hosts[i], star->sim, name, &star->params.port, link_layer,
			     star->pool);
		node = topology_add_host(star->topology, star->hosts[i].port,
					 endpoints_add(star->endpoints, name, link_layer, ip));
		if (!topology_link(star->topology, node, 0, 0, i, LENGTH_OF_PARAMS, RATE_OF_PARAMS,
				   star->error, sizeof(star->error)))
			return false;
	}
	return topology_finish(star->topology, star->error, sizeof(star->error));
}

static inline void star_send(struct star *star, unsigned from, unsigned to, uint64_t packets,
			     uint32_t payload_bytes)
{
	station_send(&star->hosts[from], station_path(star->endpoints, from, to), packets,
		     payload_bytes);
}

/* Returns the packets that the pool misses: 0. */
static inline uint64_t star_end(struct star *star)
{
	uint64_t missing;

	for (unsigned i = 0; i < star->count; i++)
		port_destroy(star->hosts[i].port);
	topology_destroy(star->topology);
	switch_destroy(star->sw);
	missing = packet_pool_in_use(star->pool);
	endpoints_destroy(star->endpoints);
	packet_pool_destroy(star->pool);
	sim_destroy(star->sim);
	return missing;
}

static inline void star_defaults(struct star *star)
{
	memset(star, 0, sizeof(*star));
	switch_params_default(&star->params);
}

#endif
