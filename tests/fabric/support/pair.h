/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pair: two stations, a and b, at the ends of one link, for tests of ports. Set parameters before
 * pair_begin(). pair_end() restores the defaults.
 */
#ifndef TESTS_FABRIC_SUPPORT_PAIR_H
#define TESTS_FABRIC_SUPPORT_PAIR_H

#include <CUnit/CUnit.h>

#include "fabric/fault.h"
#include "tests/fabric/support/station.h"

static struct sim *sim;
static struct packet_pool *pool;
static struct endpoints *endpoints;
static struct port_params params;
static struct station a, b;
static struct fault *fault; /* NULL unless the test creates one */

static inline void pair_begin(enum link_layer link_layer, uint64_t seed)
{
	const uint8_t ip[2][4] = {{10, 0, 0, 1}, {10, 0, 0, 2}};

	sim = sim_create(SIM_ENGINE_native, seed);
	pool = packet_pool_create();
	endpoints = endpoints_create();
	endpoints_add(endpoints, "a", link_layer, ip[0]);
	endpoints_add(endpoints, "b", link_layer, ip[1]);
	station_init(&a, sim, "a.port", &params, link_layer, pool);
	station_init(&b, sim, "b.port", &params, link_layer, pool);
	port_connect(a.port, b.port);
}

/* Sends packets from a to b. */
static inline void pair_send(uint64_t packets, uint32_t payload_bytes)
{
	station_send(&a, station_path(endpoints, 0, 1), packets, payload_bytes);
}

static inline void pair_end(void)
{
	CU_ASSERT_EQUAL(packet_pool_in_use(pool), 0);
	port_destroy(a.port);
	port_destroy(b.port);
	if (fault)
		fault_destroy(fault);
	fault = NULL;
	endpoints_destroy(endpoints);
	packet_pool_destroy(pool);
	sim_destroy(sim);
	params_default(port_param_list, &params);
}

#endif
