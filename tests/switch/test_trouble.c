/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests a switch with failing ports: lifetime at the head of a queue, PFC watchdog, pause storms,
 * slow receivers. Also links that go down and up, and a restart. Each loses exactly the expected
 * packets, and keeps credits, buffers and pools complete.
 */
#include "fabric/port_fault.h"
#include "tests/support/suite.h"
#include "tests/switch/support/star.h"

#define TESTS(TEST)          \
	TEST(lifetime)       \
	TEST(stall)          \
	TEST(storm)          \
	TEST(two_priorities) \
	TEST(slow_receiver)  \
	TEST(link_down)      \
	TEST(restart)
SUITE(TESTS)

#define BYTE_PS 80
#define MTU     4096

static struct star star;

static void settle_and_check(enum link_layer link_layer)
{
	sim_run(star.sim, SIM_NEVER);
	sim_run(star.sim, sim_now(star.sim) + MS);
	for (unsigned i = 0; i < star.count; i++) {
		const struct port *port = switch_port(star.sw, i);

		for (unsigned vl = 0; vl < port_vls(port); vl++) {
			CU_ASSERT_EQUAL(port_input_used(port, vl), 0);
			CU_ASSERT_EQUAL(port_input_used(star.hosts[i].port, vl), 0);
			CU_ASSERT_EQUAL(port_queued(port, vl), 0);
			CU_ASSERT_EQUAL(port_queued_bytes(port, vl), 0);
		}
		if (link_layer == LINK_ETHERNET)
			continue;
		CU_ASSERT_EQUAL(port_counters(port)->credits_consumed,
				port_counters(star.hosts[i].port)->credits_received);
		CU_ASSERT_EQUAL(port_counters(star.hosts[i].port)->credits_consumed,
				port_counters(port)->credits_received);
	}
	if (switch_buffer(star.sw))
		CU_ASSERT_EQUAL(shared_buffer_used(switch_buffer(star.sw)), 0);
	CU_ASSERT_EQUAL(packet_pool_in_use(star.pool), 0);
}

/* Host 1 keeps all: 31 packets fill its buffer, the rest of 60 wait in the switch, and are dropped
 * one a lifetime. */
static void test_lifetime(void)
{
	star_defaults(&star);
	star.params.port.hoq_life = 16384 * NS;
	CU_ASSERT_TRUE(star_begin(&star, LINK_INFINIBAND, 2));
	star.hosts[1].holds = true;
	star_send(&star, 0, 1, 40, MTU);
	sim_run(star.sim, 14 * US);
	CU_ASSERT_EQUAL(star.hosts[1].received, 31);
	CU_ASSERT_EQUAL(port_counters(switch_port(star.sw, 1))->hoq_life_drops, 0);
	sim_run(star.sim, 10 * US + 16384 * NS + 3 * US);
	CU_ASSERT_EQUAL(port_counters(switch_port(star.sw, 1))->hoq_life_drops, 1);
	sim_run(star.sim, 10 * US + 9 * 16384 * NS + 3 * US);
	CU_ASSERT_EQUAL(port_counters(switch_port(star.sw, 1))->hoq_life_drops, 9);
	CU_ASSERT_EQUAL(switch_counters(star.sw)->queue_drops, 9);
	star.hosts[1].holds = false;
	for (unsigned i = 0; i < 31; i++)
		port_release(star.hosts[1].port, 0, MTU + 26);
	settle_and_check(LINK_INFINIBAND);
	CU_ASSERT_EQUAL(star_end(&star), 0);
}

/* Three drops in a row stall the VL. Waiting packets are dropped at once, packets within 8
 * lifetimes on arrival. Then the VL is served again. A packet that leaves in between begins the
 * count anew. */
static void test_stall(void)
{
	const sim_time lifetime = 16384 * NS;
	const struct port_counters *count;

	star_defaults(&star);
	star.params.port.hoq_life = lifetime;
	star.params.port.vl_stall_count = 3;
	CU_ASSERT_TRUE(star_begin(&star, LINK_INFINIBAND, 2));
	count = port_counters(switch_port(star.sw, 1));
	star.hosts[1].holds = true;
	star_send(&star, 0, 1, 50, MTU);
	sim_run(star.sim, 14 * US + 2 * lifetime);
	CU_ASSERT_EQUAL(count->hoq_life_drops, 2);
	for (unsigned i = 0; i < 2; i++) /* two leave */
		port_release(star.hosts[1].port, 0, MTU + 26);
	sim_run(star.sim, 30 * US + 4 * lifetime);
	CU_ASSERT_EQUAL(star.hosts[1].received, 33);
	CU_ASSERT_EQUAL(count->hoq_life_drops, 4);
	CU_ASSERT_EQUAL(count->vl_stalls, 0);
	sim_run(star.sim, 30 * US + 5 * lifetime);
	CU_ASSERT_EQUAL(count->vl_stalls, 1);
	CU_ASSERT_EQUAL(count->hoq_life_drops, 50 - 33);
	star_send(&star, 0, 1, 5, MTU);
	for (unsigned i = 0; i < 31; i++)
		port_release(star.hosts[1].port, 0, MTU + 26);
	star.hosts[1].holds = false;
	sim_run(star.sim, 14 * US + 12 * lifetime);
	CU_ASSERT_EQUAL(star.hosts[1].received, 33);
	CU_ASSERT_EQUAL(count->hoq_life_drops, 50 - 33 + 5);
	sim_run(star.sim, 30 * US + 14 * lifetime);
	star_send(&star, 0, 1, 50, MTU);
	settle_and_check(LINK_INFINIBAND);
	CU_ASSERT_EQUAL(star.hosts[1].received, 33 + 50);
	CU_ASSERT_EQUAL(switch_counters(star.sw)->queue_drops, count->hoq_life_drops);
	CU_ASSERT_EQUAL(star_end(&star), 0);
}

static struct port_fault *add_fault(enum port_fault_kind kind, struct port *port, sim_time from,
				    sim_time until)
{
	const struct port_fault_plan plan = {
		.kind = kind,
		.from = from,
		.lasts = until == SIM_NEVER ? SIM_NEVER : until - from,
		.times = 1,
		.priorities = 1,
		.rate_bps = UINT64_C(10000000000),
	};

	return port_fault_create(star.sim, "fault", &plan, &port, 1);
}

/* Host 1 pauses from 10 us on, for 2 ms or for 600 ms. The switch holds all packets, or gives up
 * after 200 ms. */
static void storm(sim_time until, unsigned triggers, bool shared)
{
	struct port_fault *fault;

	star_defaults(&star);
	star.params.buffer.size = shared ? 10000000 : 0;
	CU_ASSERT_TRUE(star_begin(&star, LINK_ETHERNET, 3));
	fault = add_fault(PORT_FAULT_pause_storm, star.hosts[1].port, 10 * US, until);
	star_send(&star, 0, 1, 5000, MTU);
	sim_run(star.sim, 2 * MS - 1);
	/* one per 334.24 ns up to 10 us, and the packet that leaves when the frame arrives */
	CU_ASSERT_EQUAL(star.hosts[1].received, 31);
	/* its sender is paused as well: 26 packets are in the switch's input, or half of the shared
	 * buffer is full */
	CU_ASSERT_EQUAL(star.hosts[0].to_send, 5000 - 31 - (shared ? 1193 : 26));
	CU_ASSERT_TRUE(port_paused(star.hosts[0].port, 0));
	/* except the first 10 us, cable, reaction time and the frame itself */
	CU_ASSERT_DOUBLE_EQUAL((double)port_paused_time(switch_port(star.sw, 1), 0),
			       (double)(2 * MS - 10 * US), (double)US);
	star_send(&star, 2, 0, 10, MTU); /* others are not concerned */
	sim_run(star.sim, 3 * MS);
	CU_ASSERT_EQUAL(star.hosts[0].received, 10);
	sim_run(star.sim, SEC);
	CU_ASSERT_EQUAL(port_counters(switch_port(star.sw, 1))->pfc_watchdog_triggers, triggers);
	CU_ASSERT_EQUAL(star.hosts[1].received + switch_counters(star.sw)->queue_drops, 5000);
	CU_ASSERT_EQUAL(switch_counters(star.sw)->queue_drops,
			port_counters(switch_port(star.sw, 1))->pfc_watchdog_drops);
	CU_ASSERT_EQUAL(switch_counters(star.sw)->queue_drops > 0, triggers > 0);
	star_send(&star, 0, 1, 10, MTU); /* and it is over */
	uint64_t before = star.hosts[1].received;

	sim_run(star.sim, SEC + MS);
	CU_ASSERT_EQUAL(star.hosts[1].received, before + 10);
	settle_and_check(LINK_ETHERNET);
	port_fault_destroy(fault);
	CU_ASSERT_EQUAL(star_end(&star), 0);
}

static void test_storm(void)
{
	storm(2 * MS, 0, false);
	storm(600 * MS, 1, false);
	storm(2 * MS, 0, true);
	storm(600 * MS, 1, true);
}

/* The switch gives up priority 0 at 200 ms. Priority 1 is paused and goes on meanwhile. Priority 0
 * is served again all the same, once its pause is over. */
static void test_two_priorities(void)
{
	struct port_fault_plan plan = {
		.kind = PORT_FAULT_pause_storm,
		.from = 400 * MS,
		.lasts = MS,
		.times = 1,
		.priorities = 2,
	};
	struct port_fault *faults[2];

	star_defaults(&star);
	CU_ASSERT_TRUE(star_begin(&star, LINK_ETHERNET, 3));
	faults[0] = add_fault(PORT_FAULT_pause_storm, star.hosts[1].port, 10 * US, 600 * MS);
	faults[1] = port_fault_create(star.sim, "second", &plan, &star.hosts[1].port, 1);
	star_send(&star, 0, 1, 40, MTU);
	sim_run(star.sim, 400 * MS - 100 * US);
	CU_ASSERT_EQUAL(star.hosts[1].received, 31);
	CU_ASSERT_EQUAL(port_counters(switch_port(star.sw, 1))->pfc_watchdog_drops, 9);
	star.hosts[2].vl = 1;
	star_send(&star, 2, 1, 1000, MTU);
	sim_run(star.sim, 400 * MS + 500 * US);
	CU_ASSERT_TRUE(port_paused(switch_port(star.sw, 1), 1));
	CU_ASSERT_TRUE(star.hosts[1].received < 31 + 1000);
	sim_run(star.sim, SEC);
	CU_ASSERT_EQUAL(star.hosts[1].received, 31 + 1000);
	star_send(&star, 0, 1, 10, MTU);
	sim_run(star.sim, SEC + MS);
	CU_ASSERT_EQUAL(star.hosts[1].received, 31 + 1000 + 10);
	CU_ASSERT_EQUAL(port_counters(switch_port(star.sw, 1))->pfc_watchdog_triggers, 1);
	settle_and_check(LINK_ETHERNET);
	for (unsigned i = 0; i < 2; i++)
		port_fault_destroy(faults[i]);
	CU_ASSERT_EQUAL(star_end(&star), 0);
}

/* Host 1 takes 10 Gb/s: the whole flow runs at that, nothing is lost, and it is fast again
 * afterwards. */
static void slow(enum link_layer link_layer)
{
	const uint32_t wire = MTU + (link_layer == LINK_ETHERNET ? 62 : 26);
	const sim_time duration = (MTU + (link_layer == LINK_ETHERNET ? 82 : 26)) * BYTE_PS;
	struct port_fault *fault;

	star_defaults(&star);
	CU_ASSERT_TRUE(star_begin(&star, link_layer, 2));
	fault = add_fault(PORT_FAULT_slow_receiver, star.hosts[1].port, 0, 2 * MS);
	star_send(&star, 0, 1, 2000, MTU);
	sim_run(star.sim, MS);
	uint64_t first = star.hosts[1].received;

	sim_run(star.sim, 2 * MS);
	CU_ASSERT_DOUBLE_EQUAL((double)(star.hosts[1].received - first), 1e-3 * 1e10 / 8 / wire,
			       12);
	uint64_t slowly = star.hosts[1].received;

	sim_run(star.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(star.hosts[1].received, 2000);
	CU_ASSERT_DOUBLE_EQUAL((double)star.hosts[1].last_head,
			       (double)(2 * MS + (2000 - slowly) * duration),
			       20e6); /* the packets in its input are still accepted slowly */
	settle_and_check(link_layer);
	CU_ASSERT_EQUAL(port_fault_counters(fault)->ended, 1);
	port_fault_destroy(fault);
	CU_ASSERT_EQUAL(star_end(&star), 0);
}

static void test_slow_receiver(void)
{
	slow(LINK_INFINIBAND);
	slow(LINK_ETHERNET);
}

/* Packets that arrive while the link is down are lost, each counted once. Later packets arrive at
 * the full rate. */
static void down(enum link_layer link_layer, bool of_sender, bool shared, uint64_t expected)
{
	const sim_time duration = (MTU + (link_layer == LINK_ETHERNET ? 82 : 26)) * BYTE_PS;
	struct port_fault *fault;
	uint64_t lost = 0;

	star_defaults(&star);
	star.params.buffer.size = shared ? 10000000 : 0;
	CU_ASSERT_TRUE(star_begin(&star, link_layer, 3));
	fault = add_fault(PORT_FAULT_link_down, star.hosts[of_sender ? 0 : 1].port, 50 * US,
			  80 * US);
	star_send(&star, 0, 1, 500, MTU);
	star_send(&star, 2, 1, 500, MTU);
	sim_run(star.sim, 60 * US);
	CU_ASSERT_FALSE(port_is_up(switch_port(star.sw, of_sender ? 0 : 1)));
	sim_run(star.sim, SIM_NEVER);
	for (unsigned i = 0; i < 3; i++)
		lost += port_counters(star.hosts[i].port)->fault_drops +
			port_counters(switch_port(star.sw, i))->fault_drops +
			port_counters(switch_port(star.sw, i))->down_drops;
	CU_ASSERT_EQUAL(lost, expected);
	CU_ASSERT_EQUAL(star.hosts[1].received, 1000 - lost);
	CU_ASSERT_DOUBLE_EQUAL((double)star.hosts[1].last_head,
			       (double)((1000 - lost) * duration + (of_sender ? 0 : 30 * US)), 1e6);
	settle_and_check(link_layer);
	port_fault_destroy(fault);
	CU_ASSERT_EQUAL(star_end(&star), 0);
}

static void test_link_down(void)
{
	/* in 30 us two senders lose 180 packets; the switch held the rest, more of it in shared
	 * memory */
	down(LINK_INFINIBAND, false, false, 243);
	down(LINK_ETHERNET, false, false, 218);
	down(LINK_ETHERNET, false, true, 330);
	/* a sender waits for credits, or is paused; into shared memory it sends on, and loses one
	 * in 334 ns */
	down(LINK_INFINIBAND, true, false, 0);
	down(LINK_ETHERNET, true, false, 0);
	down(LINK_ETHERNET, true, true, 90);
}

/* A restart: all links are down for a time. */
static void test_restart(void)
{
	struct port_fault *fault;
	struct port *ports[3];

	star_defaults(&star);
	CU_ASSERT_TRUE(star_begin(&star, LINK_INFINIBAND, 3));
	for (unsigned i = 0; i < 3; i++)
		ports[i] = switch_port(star.sw, i);
	fault = port_fault_create(star.sim, "restart",
				  &(struct port_fault_plan){.kind = PORT_FAULT_link_down,
							    .from = 20 * US,
							    .lasts = 80 * US,
							    .times = 1},
				  ports, 3);
	star_send(&star, 0, 2, 400, MTU);
	star_send(&star, 1, 2, 400, MTU);
	sim_run(star.sim, 99 * US);
	uint64_t before = star.hosts[2].received;

	CU_ASSERT_EQUAL(before, (20 * US - 95 * NS) / (4122 * BYTE_PS) + 1);
	sim_run(star.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(star.hosts[2].received,
			800 - 61); /* packets in the switch and on two links are lost */
	settle_and_check(LINK_INFINIBAND);
	port_fault_destroy(fault);
	CU_ASSERT_EQUAL(star_end(&star), 0);
}
