/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests credit starvation (IBTA annex A10). While its traffic is congested, a port of the mask gets
 * the rate that the return delay allows, and another port the rest. Without congestion, without a
 * threshold, or outside the mask, nothing changes.
 */
#include "tests/support/suite.h"
#include "tests/switch/support/star.h"

#define TESTS(TEST)      \
	TEST(rates)      \
	TEST(congestion) \
	TEST(only_there)
SUITE(TESTS)

#define MTU     4096
#define PACKETS 4000u

static struct star star;

static void begin(uint64_t threshold, const char *mask, uint64_t shift, uint64_t multiplier)
{
	star_defaults(&star);
	star.params.fecn.cs_threshold = threshold;
	star.params.fecn.cs_shift = shift;
	star.params.fecn.cs_multiplier = multiplier;
	snprintf(star.params.fecn.credit_mask.text, sizeof(star.params.fecn.credit_mask.text), "%s",
		 mask);
	CU_ASSERT_TRUE(star_begin(&star, LINK_INFINIBAND, 4));
}

static uint64_t came_from(unsigned host)
{
	return port_counters(switch_port(star.sw, host))->packets_received;
}

/* Hosts 0 and 1 send to host 2, until PACKETS packets have left to it. Returns the number of
 * packets from host 0. */
static uint64_t share(uint64_t threshold, const char *mask, uint64_t shift, uint64_t multiplier)
{
	uint64_t packets;

	begin(threshold, mask, shift, multiplier);
	star_send(&star, 0, 2, PACKETS, MTU);
	star_send(&star, 1, 2, PACKETS, MTU);
	while (star.hosts[2].received < PACKETS)
		sim_run(star.sim, sim_now(star.sim) + 10 * US);
	packets = came_from(0);
	sim_run(star.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(star.hosts[2].received, 2 * PACKETS);
	CU_ASSERT_EQUAL(switch_counters(star.sw)->credits_starved > 0,
			threshold && multiplier && *mask == '1');
	CU_ASSERT_EQUAL(star_end(&star), 0);
	return packets;
}

/* The rates are exact within the 31 packets of an input buffer, and the 30 packets of the check of
 * arrivals. */
static void test_rates(void)
{
	CU_ASSERT_DOUBLE_EQUAL(share(0, "1", 0, 3), PACKETS / 2, 64);
	CU_ASSERT_DOUBLE_EQUAL(share(15, "1", 0, 3), PACKETS / 4, 64);
	CU_ASSERT_DOUBLE_EQUAL(share(15, "1", 0, 9), PACKETS / 10, 64);
	CU_ASSERT_DOUBLE_EQUAL(share(15, "1", 1, 6), PACKETS / 4, 64);
	CU_ASSERT_DOUBLE_EQUAL(share(15, "1", 2, 28), PACKETS / 8, 64);
	CU_ASSERT_DOUBLE_EQUAL(share(15, "8", 0, 3), PACKETS / 2, 64); /* host 3's port alone */
}

/* One sender of a star congests nothing. */
static void test_congestion(void)
{
	sim_time times[2];

	for (unsigned starves = 0; starves < 2; starves++) {
		begin(starves ? 15 : 0, "1", 0, 9);
		star_send(&star, 0, 2, 500, MTU);
		sim_run(star.sim, SIM_NEVER);
		CU_ASSERT_EQUAL(switch_counters(star.sw)->credits_starved, 0);
		times[starves] = sim_now(star.sim);
		CU_ASSERT_EQUAL(star_end(&star), 0);
	}
	CU_ASSERT_EQUAL(times[1], times[0]);
}

/* With a threshold of 1, an output's queue has to pass 15 sixteenths of an input buffer: two
 * inputs' packets do. */
static void test_only_there(void)
{
	CU_ASSERT_DOUBLE_EQUAL(share(1, "1", 0, 3), PACKETS / 4, 64);
}
