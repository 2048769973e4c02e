/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests switches with more than 64 ports. Packets from 255 inputs to one output leave in turn, in
 * each of three rounds. All links are busy when each host sends to the next. Sets of ports contain
 * exactly the ports added.
 */
#include "tests/support/suite.h"
#include "tests/switch/support/star.h"

#define TESTS(TEST)       \
	TEST(turns)       \
	TEST(all_at_once) \
	TEST(sets)
SUITE(TESTS)

#define HOSTS   PORT_SET_PORTS
#define SENDERS (HOSTS - 1)
#define ROUNDS  3
#define BYTE_PS 80

static struct star star;
static uint8_t order[SENDERS * ROUNDS];
static unsigned arrived;

static void note_source(struct port_user *user, struct port *port, struct packet *packet)
{
	if (arrived < sizeof(order))
		order[arrived] = (uint8_t)packet->path->source;
	arrived++;
	station_receive(user, port, packet);
}

static void turns(enum link_layer link_layer)
{
	unsigned from_each[SENDERS] = {0};

	star_defaults(&star);
	CU_ASSERT_TRUE(star_begin(&star, link_layer, HOSTS));
	star.hosts[SENDERS].user.receive = note_source;
	arrived = 0;
	for (unsigned i = 0; i < SENDERS; i++)
		star_send(&star, i, SENDERS, ROUNDS, 1024);
	sim_run(star.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(arrived, SENDERS * ROUNDS);
	for (unsigned i = 0; i < SENDERS * ROUNDS; i++) {
		from_each[order[i]]++;
		CU_ASSERT_EQUAL(order[i], (order[0] + i) % SENDERS);
	}
	for (unsigned i = 0; i < SENDERS; i++)
		CU_ASSERT_EQUAL(from_each[i], ROUNDS);
	CU_ASSERT_EQUAL(star_end(&star), 0);
}

static void test_turns(void)
{
	turns(LINK_INFINIBAND);
	turns(LINK_ETHERNET);
}

/* Flows do not share links. 20 packets per host arrive 20 packet times after the first bit. */
static void test_all_at_once(void)
{
	star_defaults(&star);
	CU_ASSERT_TRUE(star_begin(&star, LINK_ETHERNET, HOSTS));
	for (unsigned i = 0; i < HOSTS; i++)
		star_send(&star, i, (i + 100) % HOSTS, 20, 1024);
	sim_run(star.sim, SIM_NEVER);
	for (unsigned i = 0; i < HOSTS; i++) {
		CU_ASSERT_EQUAL(star.hosts[i].received, 20);
		CU_ASSERT_EQUAL(star.hosts[i].last_head - star.hosts[i].first_head,
				19 * (1024 + 82) * BYTE_PS);
	}
	CU_ASSERT_EQUAL(star_end(&star), 0);
}

static void test_sets(void)
{
	static const unsigned ports[] = {0, 1, 62, 63, 64, 127, 128, 200, 255};
	struct port_set set = {0}, other = {0};
	unsigned found = 0;

	CU_ASSERT_EQUAL(port_set_next(&set, 0), PORT_SET_PORTS);
	for (unsigned i = 0; i < ARRAY_SIZE(ports); i++)
		port_set_add(&set, ports[i]);
	CU_ASSERT_EQUAL(port_set_count(&set), ARRAY_SIZE(ports));
	PORT_SET_EACH(port, &set)
	CU_ASSERT_EQUAL(port, ports[found++]);
	CU_ASSERT_EQUAL(found, ARRAY_SIZE(ports));
	CU_ASSERT_TRUE(port_set_has(&set, 200));
	CU_ASSERT_FALSE(port_set_has(&set, 201));
	other = set;
	CU_ASSERT_TRUE(port_set_equal(&set, &other));
	port_set_remove(&other, 255);
	CU_ASSERT_FALSE(port_set_equal(&set, &other));
	CU_ASSERT_EQUAL(port_set_next(&other, 201), PORT_SET_PORTS);
	CU_ASSERT_EQUAL(port_set_next(&other, PORT_SET_PORTS), PORT_SET_PORTS);
}
