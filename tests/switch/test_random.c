/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests invariants with many seeds, on a fabric of two leaves and two spines. Buffers (own or
 * shared), schedules, marks, routes, lengths, VLs, sizes, and faults of packets and links are
 * random. Every packet arrives or is counted where it was lost. Without a fault a lossless fabric
 * loses none. Input space and credits are complete at the end, and every engine gives the same run.
 */
#include <stdio.h>

#include "fabric/fault.h"
#include "fabric/port_fault.h"
#include "sim/random.h"
#include "switch/shared_buffer.h"
#include "switch/switch.h"
#include "tests/fabric/support/station.h"
#include "tests/support/suite.h"

#define TESTS(TEST) TEST(seeds)
SUITE(TESTS)

#define HOSTS    6
#define SWITCHES 4
#define PORTS    5
#define SEEDS    200

struct fabric {
	struct sim *sim;
	struct packet_pool *pool;
	struct endpoints *endpoints;
	struct topology *topology;
	struct switch_params params;
	struct fabric_switch *switches[SWITCHES];
	struct station hosts[HOSTS];
	struct fault *fault;
	struct port_fault *port_fault; /* NULL: none */
	struct random dice;
	uint64_t to_send;
};

static uint64_t pick(struct fabric *fabric, uint64_t low, uint64_t high)
{
	return low + random_below(&fabric->dice, high - low + 1);
}

static void choose_params(struct fabric *fabric)
{
	static const uint64_t rates[] = {UINT64_C(25000000000), UINT64_C(54545454545),
					 UINT64_C(100000000000), UINT64_C(400000000000)};
	struct port_params *port = &fabric->params.port;

	switch_params_default(&fabric->params);
	fabric->params.balance = (uint32_t)pick(fabric, BALANCE_DESTINATION, BALANCE_ADAPTIVE);
	fabric->params.flowlet_gap = pick(fabric, 1, 10) * US;
	port->rate = rates[pick(fabric, 0, 3)];
	port->vls = pick(fabric, 1, 4);
	port->length = (double)pick(fabric, 0, 100);
	port->transmit_depth = pick(fabric, 1, 8);
	port->input_buffer = pick(fabric, 5, 400) * 1024;
	port->credit_batch = pick(fabric, 0, 3) * 640;
	port->pause_quanta = pick(fabric, 20, 65535);
	/* 400 Gb/s with 100 m wants 218 KB of headroom */
	if (port->input_buffer < 300 * 1024)
		port->pfc_priorities = 0;
}

/* Packet memory of 5 to 12 MB: 400 Gb/s with 100 m on 5 ports and 4 VLs wants 4.4 MB of
 * headroom. */
static void choose_features(struct fabric *fabric)
{
	struct switch_params *params = &fabric->params;

	params->buffer.size = pick(fabric, 0, 1) * pick(fabric, 5, 12) * 1000000;
	params->buffer.lossless = pick(fabric, 0, 1) ? 255 : pick(fabric, 0, 15);
	params->buffer.reserved = pick(fabric, 0, 2) * 5000;
	params->buffer.alpha = (double)pick(fabric, 1, 32) / 1024;
	params->buffer.alpha_lossy = (double)pick(fabric, 1, 32) / 512;
	params->ecn.mark = (uint32_t)pick(fabric, ECN_MARK_OFF, ECN_MARK_ENQUEUE);
	params->fecn.threshold = pick(fabric, 0, 15);
	params->telemetry = pick(fabric, 0, 1);
	params->port.schedule = (uint32_t)pick(fabric, SCHEDULE_ROUND_ROBIN, SCHEDULE_WEIGHTED);
	params->port.strict = pick(fabric, 0, 3);
	params->port.weight2 = pick(fabric, 0, 9);
	params->port.hoq_life = pick(fabric, 0, 1) * 16384 * NS;
}

static void build(struct fabric *fabric, enum link_layer link_layer)
{
	char name[32], error[256];
	struct topology_switch ops;

	for (unsigned i = 0; i < SWITCHES; i++) {
		snprintf(name, sizeof(name), "switch%u", i);
		fabric->switches[i] = switch_create(fabric->sim, name, &fabric->params, PORTS,
						    link_layer, fabric->pool);
		ops = switch_topology(fabric->switches[i]);
		topology_add_switch(fabric->topology, &ops);
	}
	for (unsigned i = 0; i < HOSTS; i++) {
		const uint8_t ip[4] = {10, 0, 0, (uint8_t)i};

		snprintf(name, sizeof(name), "host%u.port", i);
		endpoints_add(fabric->endpoints, name, link_layer, ip);
		station_init(&fabric->hosts[i], fabric->sim, name, &fabric->params.port, link_layer,
			     fabric->pool);
		fabric->hosts[i].release_delay = pick(fabric, 0, 3) * US;
		fabric->hosts[i].ecn = (uint8_t)pick(fabric, ECN_NOT_ECT, ECN_ECT0);
		fabric->hosts[i].asks = pick(fabric, 0, 1);
		unsigned node = topology_add_host(fabric->topology, fabric->hosts[i].port, i);

		CU_ASSERT_TRUE(topology_link(fabric->topology, node, 0, i / 3, i % 3,
					     LENGTH_OF_PARAMS, RATE_OF_PARAMS, error,
					     sizeof(error)));
	}
	for (unsigned leaf = 0; leaf < 2; leaf++)
		for (unsigned spine = 0; spine < 2; spine++)
			CU_ASSERT_TRUE(topology_link(fabric->topology, leaf, 3 + spine, 2 + spine,
						     leaf, LENGTH_OF_PARAMS, RATE_OF_PARAMS, error,
						     sizeof(error)));
	CU_ASSERT_TRUE(topology_finish(fabric->topology, error, sizeof(error)));
}

static void add_faults(struct fabric *fabric)
{
	fabric->fault = fault_create(fabric->sim, "fault");
	for (uint64_t i = pick(fabric, 0, 3); i > 0; i--) {
		const struct fault_rule rule = {
			.action = (enum fault_action)pick(fabric, FAULT_drop, FAULT_delay),
			.kind = (enum packet_kind)pick(fabric, PACKET_DATA, PACKET_PFC),
			.opcode = FAULT_ANY_OPCODE,
			.probability = 0.05,
			.delay = pick(fabric, 0, US),
		};

		fault_add(fabric->fault, &rule);
	}
	if (fault_delays(fabric->fault) || pick(fabric, 0, 1))
		port_set_transmit_fault(switch_port(fabric->switches[0], 3), fabric->fault);
	else
		port_set_receive_fault(switch_port(fabric->switches[0], 3), fabric->fault);
}

/* An uplink is down for some time, or a host slow, in a third of the runs. */
static void add_port_fault(struct fabric *fabric)
{
	sim_time from = pick(fabric, 0, 20) * US;
	const struct port_fault_plan plan = {
		.kind = pick(fabric, 0, 1) ? PORT_FAULT_link_down : PORT_FAULT_slow_receiver,
		.from = from,
		.lasts = pick(fabric, 1, 20) * US,
		.times = 1,
		.rate_bps = UINT64_C(5000000000),
	};
	struct port *port = plan.kind == PORT_FAULT_link_down ? switch_port(fabric->switches[0], 4)
							      : fabric->hosts[5].port;

	if (pick(fabric, 0, 2) == 0)
		fabric->port_fault = port_fault_create(fabric->sim, "port_fault", &plan, &port, 1);
}

static void send_some(struct fabric *fabric)
{
	for (unsigned from = 0; from < HOSTS; from++) {
		struct station *host = &fabric->hosts[from];
		uint64_t packets = pick(fabric, 0, 200);
		unsigned to = (unsigned)(from + pick(fabric, 1, HOSTS - 1)) % HOSTS;

		if (host->to_send)
			continue;
		host->vl = (uint8_t)pick(fabric, 0, fabric->params.port.vls - 1);
		fabric->to_send += packets;
		station_send(host, station_path(fabric->endpoints, from, to), packets,
			     (uint32_t)pick(fabric, 0, 4096));
	}
}

static void add_up(const struct port *port, uint64_t *dropped, uint64_t *overflowed)
{
	const struct port_counters *count = port_counters(port);

	*dropped += count->fault_drops + count->damage_drops + count->hoq_life_drops +
		    count->down_drops + count->control_drops;
	*overflowed += count->overflow_drops;
	for (unsigned vl = 0; vl < port_vls(port); vl++) {
		CU_ASSERT_EQUAL(port_input_used(port, vl), 0);
		CU_ASSERT_EQUAL(port_queued(port, vl), 0);
	}
	if (port_link_layer(port) == LINK_INFINIBAND && port_peer(port))
		CU_ASSERT_EQUAL(count->credits_consumed,
				port_counters(port_peer(port))->credits_received);
}

static uint64_t check(struct fabric *fabric, enum link_layer link_layer)
{
	uint64_t received = 0, dropped = 0, overflowed = 0, lossy = 0,
		 digest = sim_now(fabric->sim);
	uint64_t no_headroom = 0;
	const struct fault_counters *faults = fault_counters(fabric->fault);

	for (unsigned i = 0; i < HOSTS; i++) {
		received += fabric->hosts[i].received;
		digest = digest * 31 + fabric->hosts[i].digest;
		add_up(fabric->hosts[i].port, &dropped, &overflowed);
	}
	for (unsigned i = 0; i < SWITCHES; i++) {
		const struct switch_counters *count = switch_counters(fabric->switches[i]);

		for (unsigned port = 0; port < PORTS; port++)
			add_up(switch_port(fabric->switches[i], port), &dropped, &overflowed);
		no_headroom += count->headroom_drops;
		lossy += count->egress_drops + count->pool_drops + count->headroom_drops;
		digest = digest * 31 + count->ecn_marks + count->bytes_dropped;
		if (switch_buffer(fabric->switches[i])) {
			CU_ASSERT_EQUAL(shared_buffer_used(switch_buffer(fabric->switches[i])), 0);
			CU_ASSERT_EQUAL(
				shared_buffer_shared_used(switch_buffer(fabric->switches[i])), 0);
		}
	}
	if (fabric->params.port.pfc_priorities && !faults->packets_dropped &&
	    !faults->packets_vcrc_damaged && !faults->packets_delayed &&
	    !faults->packets_icrc_damaged && !fabric->port_fault)
		CU_ASSERT_EQUAL(no_headroom, 0);
	if (link_layer == LINK_INFINIBAND || fabric->params.port.pfc_priorities) {
		if (!faults->packets_dropped && !faults->packets_vcrc_damaged &&
		    !fabric->port_fault)
			CU_ASSERT_EQUAL(overflowed, 0);
	}
	if (link_layer == LINK_INFINIBAND)
		CU_ASSERT_EQUAL(overflowed, 0);
	/* two rules may hit one packet; any damage is the end of the link's own packets, which may
	 * be among the dropped */
	CU_ASSERT_TRUE(dropped >= faults->packets_dropped);
	CU_ASSERT_TRUE(received + overflowed + lossy <= fabric->to_send);
	CU_ASSERT_TRUE(received + overflowed + lossy + dropped >= fabric->to_send);
	CU_ASSERT_EQUAL(packet_pool_in_use(fabric->pool), 0);
	return digest * 31 + sim_events_fired(fabric->sim);
}

static void destroy(struct fabric *fabric)
{
	if (fabric->port_fault)
		port_fault_destroy(fabric->port_fault);
	for (unsigned i = 0; i < HOSTS; i++)
		port_destroy(fabric->hosts[i].port);
	for (unsigned i = 0; i < SWITCHES; i++)
		switch_destroy(fabric->switches[i]);
	fault_destroy(fabric->fault);
	topology_destroy(fabric->topology);
	endpoints_destroy(fabric->endpoints);
	packet_pool_destroy(fabric->pool);
	sim_destroy(fabric->sim);
}

static uint64_t run(enum sim_engine engine, uint64_t seed, enum link_layer link_layer)
{
	static struct fabric fabric;
	uint64_t digest;

	memset(&fabric, 0, sizeof(fabric));
	fabric.sim = sim_create(engine, seed);
	fabric.pool = packet_pool_create();
	fabric.endpoints = endpoints_create();
	fabric.topology = topology_create(fabric.endpoints);
	random_init_named(&fabric.dice, seed, "test", "dice");
	choose_params(&fabric);
	choose_features(&fabric);
	build(&fabric, link_layer);
	add_faults(&fabric);
	add_port_fault(&fabric);
	for (unsigned i = 0; i < 4; i++) {
		send_some(&fabric);
		sim_run(fabric.sim, sim_now(fabric.sim) + pick(&fabric, 1, 20 * US));
	}
	sim_run(fabric.sim, SIM_NEVER);
	sim_run(fabric.sim, sim_now(fabric.sim) + MS); /* the last releases have no event */
	digest = check(&fabric, link_layer);
	destroy(&fabric);
	return digest;
}

static void test_seeds(void)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		unsigned failures = CU_get_number_of_failures();
		enum link_layer link_layer = seed % 2 ? LINK_INFINIBAND : LINK_ETHERNET;
		uint64_t native = run(SIM_ENGINE_native, seed, link_layer);

		CU_ASSERT_EQUAL(run(SIM_ENGINE_systemc, seed, link_layer), native);
		if (seed % 4 < 2)
			CU_ASSERT_EQUAL(run(SIM_ENGINE_systemc_reference, seed, link_layer),
					native);
		if (CU_get_number_of_failures() != failures)
			printf("seed %lu\n", (unsigned long)seed);
	}
}
