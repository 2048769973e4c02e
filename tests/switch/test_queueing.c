/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the order in which packets of several inputs leave an output, in round robin or by arrival.
 * Also tests the number of switches that a pause reports.
 */
#include "tests/hca/support/study.h"
#include "tests/support/suite.h"
#include "tests/switch/support/star.h"

#define TESTS(TEST) \
	TEST(order) \
	TEST(depth_of_pauses)
SUITE(TESTS)

#define MTU  4096
#define SLOT ((MTU + 62 + 20) * (sim_time)80)

/* Two hosts keep an output busy, and a third host sends one packet in between. Counts the packets
 * that leave before it, and the packets that had arrived before it. */
static void place_of_late_packet(unsigned queueing, uint64_t *before, uint64_t *came)
{
	static struct star star;

	star_defaults(&star);
	star.params.queueing = queueing;
	star.params.port.input_buffer = 1 << 20;
	CU_ASSERT_TRUE(star_begin(&star, LINK_ETHERNET, 4));
	star_send(&star, 0, 3, 50, MTU);
	star_send(&star, 1, 3, 50, MTU);
	sim_run(star.sim, 25 * SLOT + SLOT / 2);
	star_send(&star, 2, 3, 1, MTU);
	while (!port_counters(switch_port(star.sw, 2))->packets_received)
		sim_run(star.sim, sim_now(star.sim) + 1 * NS);
	*came = switch_counters(star.sw)->packets_forwarded - 1;
	while (!star.hosts[3].from[2])
		sim_run(star.sim, sim_now(star.sim) + 1 * NS);
	*before = star.hosts[3].received - 1;
	sim_run(star.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(star.hosts[3].received, 101);
	CU_ASSERT_EQUAL(star_end(&star), 0);
}

static void test_order(void)
{
	uint64_t before, came;

	place_of_late_packet(QUEUEING_ARRIVAL, &before, &came);
	CU_ASSERT_EQUAL(before, came);
	CU_ASSERT_EQUAL(came, 52);
	place_of_late_packet(QUEUEING_INPUTS, &before, &came);
	CU_ASSERT_EQUAL(came, 52);
	CU_ASSERT(before >= 26 && before <= 29); /* 26 have left; then one of each input at most */
}

/* Hosts 0 and 1 are at switch 0, and hosts 2 and 3 at switch 1. Three hosts send to the last
 * one. */
static void test_depth_of_pauses(void)
{
	struct study study;
	struct transfer transfers[3];
	unsigned done = 0, deepest[3] = {0};

	study_init(&study, LINK_ETHERNET, "none", 2, 4);
	study.switch_params.buffer.size = 1 << 20;
	study.switch_params.buffer.alpha = 0.125;
	unsigned first = study_add_switch(&study, 3), second = study_add_switch(&study, 3);

	for (unsigned i = 0; i < 2; i++)
		study_link(&study, study_add_host(&study), 0, first, i);
	study_link(&study, first, 2, second, 0);
	for (unsigned i = 1; i < 3; i++)
		study_link(&study, study_add_host(&study), 0, second, i);
	study_finish(&study);
	for (unsigned i = 0; i < 3; i++)
		transfer_post(&transfers[i],
			      endpoint_create_pair(study.hosts[i], study.hosts[3], 0, 0),
			      ENDPOINT_WRITE, 4 << 20, &done);
	for (sim_time at = 0; at < 200 * US; at += 100 * NS) {
		sim_run(study.sim, at);
		for (unsigned i = 0; i < 3; i++) {
			const struct port *port = endpoint_port(study.hosts[i]);
			unsigned depth = port_pause_depth(port, 0);

			CU_ASSERT_EQUAL(depth > 0, port_paused(port, 0));
			if (depth > deepest[i])
				deepest[i] = depth;
		}
	}
	const struct switch_counters *near = switch_counters(study.switches[1]);
	const struct switch_counters *far = switch_counters(study.switches[0]);

	/* the last port of the second switch is congested; the first switch also pauses its hosts
	 * for the link between */
	CU_ASSERT_EQUAL(near->pauses_depth1, 140); /* observed: one packet at a time, in 200 us */
	CU_ASSERT_EQUAL(near->pauses_depth2 + near->pauses_depth3 + near->pauses_depth4, 0);
	CU_ASSERT_EQUAL(far->pauses_depth2, 68);
	CU_ASSERT_EQUAL(far->pauses_depth3 + far->pauses_depth4, 0);
	CU_ASSERT_EQUAL(deepest[0], 2);
	CU_ASSERT_EQUAL(deepest[1], 2);
	CU_ASSERT_EQUAL(deepest[2], 1);
	sim_run(study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, 3);
	study_fini(&study);
}
