/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the shared packet memory: the steady state of dynamic thresholds to the byte, for ingress
 * pauses and for egress drops. Row C-15: 12 MB, alpha 1: 6 MB for one congested port, 705.9 KB for
 * each of 16. Other queues cannot use reserves. Headroom of C-14 loses nothing at exactly the
 * required size, and a packet with a byte less. Checks the arithmetic of C-16, and that every byte
 * is released.
 */
#include "tests/support/suite.h"
#include "tests/switch/support/star.h"

#define TESTS(TEST)             \
	TEST(dynamic_threshold) \
	TEST(reserved)          \
	TEST(pause_and_go)      \
	TEST(headroom_pool)     \
	TEST(headroom_if_full)  \
	TEST(trident)           \
	TEST(headroom)          \
	TEST(lossy_switch)      \
	TEST(mixed)             \
	TEST(too_small)
SUITE_AFTER(set_up, TESTS)

#define BYTE_PS 80
#define MTU     4096
#define WIRE    (MTU + 62)

static struct star star;

/* A buffer without a switch. */
static struct sim *sim;
static struct block block;
static uint8_t paused[64];
static const struct block_type block_type = {.name = "test"};
static struct shared_buffer_params params;
static struct shared_buffer *buffer;

static void note_pause(void *context, unsigned port, unsigned vl, bool stop)
{
	(void)context;
	CU_ASSERT_NOT_EQUAL(!!(paused[port] & 1u << vl), stop);
	paused[port] ^= (uint8_t)(1u << vl);
}

static void alone_begin(unsigned ports, uint64_t headroom)
{
	char error[256];

	memset(paused, 0, sizeof(paused));
	sim = sim_create(SIM_ENGINE_native, 1);
	block_init(&block, sim, &block_type, "test", NULL, NULL);
	buffer = shared_buffer_create(&block, &params, ports, note_pause, NULL);
	for (unsigned i = 0; i < ports; i++)
		shared_buffer_add_port(buffer, i, BUFFER_VLS, UINT64_C(100000000000), headroom);
	CU_ASSERT_TRUE(shared_buffer_start(buffer, error, sizeof(error)));
}

static void alone_end(void)
{
	shared_buffer_destroy(buffer);
	block_fini(&block);
	sim_destroy(sim);
	params_default(shared_buffer_param_list, &params);
}

/* An idle port sends single bytes in turn to M egress queues that never drain, until all queues
 * refuse. */
static void lossy_steady_state(unsigned queues, double alpha, uint64_t expected)
{
	bool full = false;

	params.size = 12000000;
	params.lossless = 0;
	params.alpha_lossy = alpha;
	alone_begin(32, 0);
	while (!full) {
		full = true;
		for (unsigned i = 0; i < queues; i++)
			full &= shared_buffer_admit(buffer, buffer_class(31, 0), buffer_class(i, 0),
						    1) != BUFFER_ADMITTED;
	}
	for (unsigned i = 0; i < queues; i++)
		CU_ASSERT_TRUE(shared_buffer_egress_used(buffer, buffer_class(i, 0)) - expected <=
			       1);
	alone_end();
}

/* Checks the steady state for M inputs with a lossless priority. Each is paused when it reaches its
 * share, and not before. */
static void lossless_steady_state(unsigned inputs, double alpha, uint64_t expected)
{
	unsigned stopped = 0;

	params.size = 12000000 + 32 * 1000;
	params.lossless = 1;
	params.alpha = alpha;
	alone_begin(32, 1000);
	CU_ASSERT_EQUAL(shared_buffer_shared_size(buffer), 12000000);
	while (stopped < inputs) {
		for (unsigned i = 0; i < inputs; i++) {
			if (paused[i])
				continue;
			CU_ASSERT_EQUAL(shared_buffer_admit(buffer, buffer_class(i, 0),
							    buffer_class(31, 0), 1),
					BUFFER_ADMITTED);
			stopped += paused[i];
		}
	}
	for (unsigned i = 0; i < inputs; i++) {
		uint16_t class = buffer_class(i, 0);

		CU_ASSERT_EQUAL(shared_buffer_headroom_used(buffer, class), 1);
		CU_ASSERT_TRUE(shared_buffer_ingress_used(buffer, class) - 1 - expected <= 1);
	}
	alone_end();
}

static void set_up(void)
{
	params_default(shared_buffer_param_list, &params);
}

/* alpha * B / (1 + M * alpha) */
static void test_dynamic_threshold(void)
{
	lossy_steady_state(1, 1, 6000000);
	lossy_steady_state(16, 1, 705882);
	lossy_steady_state(4, 0.125, 1000000);
	lossless_steady_state(1, 1, 6000000);
	lossless_steady_state(16, 1, 705882);
	params.alpha_per_rate = 25000000000; /* at 100 Gb/s four times as much, and 1 at most */
	lossless_steady_state(16, 0.25, 705882);
	params.alpha_per_rate = 25000000000;
	lossless_steady_state(16, 0.5, 705882);
	params.alpha_per_rate = 400000000000;
	lossless_steady_state(1, 1, 12000000 / 5);
	lossless_steady_state(3, 32, UINT64_C(32) * 12000000 / 97);
}

static void test_reserved(void)
{
	params.size = 100000;
	params.lossless = 0;
	params.reserved = 1000;
	params.alpha_lossy = 1000; /* the first takes all that is shared */
	alone_begin(4, 0);
	CU_ASSERT_EQUAL(shared_buffer_shared_size(buffer), 100000 - 4 * 8 * 1000);
	while (shared_buffer_admit(buffer, buffer_class(0, 0), buffer_class(1, 0), 100) ==
	       BUFFER_ADMITTED)
		;
	CU_ASSERT_EQUAL(shared_buffer_shared_used(buffer), 68000);
	CU_ASSERT_EQUAL(shared_buffer_ingress_used(buffer, buffer_class(0, 0)), 69000);
	CU_ASSERT_EQUAL(shared_buffer_admit(buffer, buffer_class(2, 0), buffer_class(1, 0), 1000),
			BUFFER_ADMITTED); /* its own */
	CU_ASSERT_EQUAL(shared_buffer_admit(buffer, buffer_class(2, 0), buffer_class(1, 0), 1),
			BUFFER_EGRESS_FULL);
	shared_buffer_release_at(buffer, buffer_class(0, 0), buffer_class(1, 0), 500, 7);
	CU_ASSERT_EQUAL(shared_buffer_shared_used(buffer), 68000);
	sim_run(sim, 7);
	CU_ASSERT_EQUAL(shared_buffer_shared_used(buffer), 67500);
	CU_ASSERT_EQUAL(shared_buffer_used(buffer), 69500);
	CU_ASSERT_EQUAL(shared_buffer_used_max(buffer), 70000);
	alone_end();
}

/* Headroom is released first. The pause ends xon_below under the threshold, at the picosecond of
 * the release. */
static void test_pause_and_go(void)
{
	const uint16_t in = buffer_class(0, 0), out = buffer_class(1, 0);

	params.size = 21000;
	params.lossless = 1;
	params.xon_below = 2000;
	alone_begin(2, 500);
	for (unsigned i = 0; i < 10; i++)
		CU_ASSERT_EQUAL(shared_buffer_admit(buffer, in, out, 1000), BUFFER_ADMITTED);
	CU_ASSERT_EQUAL(paused[0], 0); /* 10000 = 1 * (20000 - 10000) */
	CU_ASSERT_EQUAL(shared_buffer_admit(buffer, in, out, 501), BUFFER_NO_HEADROOM);
	CU_ASSERT_EQUAL(paused[0], 1);
	CU_ASSERT_EQUAL(shared_buffer_admit(buffer, in, out, 500), BUFFER_ADMITTED);
	CU_ASSERT_EQUAL(shared_buffer_headroom_used(buffer, in), 500);
	CU_ASSERT_EQUAL(shared_buffer_admit(buffer, in, out, 1), BUFFER_NO_HEADROOM);
	shared_buffer_release_at(buffer, in, out, 1000, 30);
	shared_buffer_release_at(buffer, in, out, 500, 20);
	sim_run(sim, 21);
	CU_ASSERT_EQUAL(shared_buffer_headroom_used(buffer, in), 0);
	CU_ASSERT_EQUAL(paused[0], 1); /* 10000 + 2000 > 20000 - 10000 */
	sim_run(sim, 31);
	CU_ASSERT_EQUAL(paused[0], 0); /* 9000 + 2000 <= 11000 */
	CU_ASSERT_EQUAL(sim_events_fired(sim), 2);
	CU_ASSERT_EQUAL(shared_buffer_headroom_used_max(buffer, in), 500);
	alone_end();
}

/* Ports share a headroom pool. Each port has its own limit, and all ports together have another
 * limit, to the byte. */
static void test_headroom_pool(void)
{
	const uint16_t one = buffer_class(0, 0), other = buffer_class(1, 0);
	const uint16_t out = buffer_class(2, 0);

	params.size = 20700;
	params.lossless = 1;
	params.alpha = 0.001; /* paused at once */
	params.headroom_pool = 700;
	alone_begin(3, 500);
	CU_ASSERT_EQUAL(shared_buffer_shared_size(buffer), 20000);
	CU_ASSERT_EQUAL(shared_buffer_admit(buffer, one, out, 400), BUFFER_ADMITTED);
	CU_ASSERT_EQUAL(shared_buffer_admit(buffer, other, out, 300), BUFFER_ADMITTED);
	CU_ASSERT_EQUAL(shared_buffer_admit(buffer, other, out, 1), BUFFER_NO_HEADROOM);
	CU_ASSERT_EQUAL(shared_buffer_headroom_used(buffer, one), 400);
	CU_ASSERT_EQUAL(shared_buffer_headroom_used(buffer, other), 300);
	shared_buffer_release_at(buffer, one, out, 400, 10);
	sim_run(sim, 11);
	CU_ASSERT_EQUAL(shared_buffer_admit(buffer, other, out, 201), BUFFER_NO_HEADROOM);
	CU_ASSERT_EQUAL(shared_buffer_admit(buffer, other, out, 200), BUFFER_ADMITTED);
	alone_end();
}

/* headroom_from: full. Packets above the pause threshold take shared memory. Headroom begins when
 * all of it is used, and is released first. */
static void test_headroom_if_full(void)
{
	const uint16_t in = buffer_class(0, 0), out = buffer_class(1, 0);

	params.size = 21000;
	params.lossless = 1;
	params.xon_below = 0;
	params.headroom_from = BUFFER_HEADROOM_FROM_FULL;
	alone_begin(2, 500);
	CU_ASSERT_EQUAL(shared_buffer_admit(buffer, in, out, 10000), BUFFER_ADMITTED);
	CU_ASSERT_EQUAL(paused[0], 0); /* 10000 = 1 * (20000 - 10000) */
	CU_ASSERT_EQUAL(shared_buffer_admit(buffer, in, out, 10000), BUFFER_ADMITTED);
	CU_ASSERT_EQUAL(paused[0], 1);
	CU_ASSERT_EQUAL(shared_buffer_shared_used(buffer), 20000);
	CU_ASSERT_EQUAL(shared_buffer_headroom_used(buffer, in), 0);
	CU_ASSERT_EQUAL(shared_buffer_admit(buffer, in, out, 500), BUFFER_ADMITTED);
	CU_ASSERT_EQUAL(shared_buffer_headroom_used(buffer, in), 500);
	CU_ASSERT_EQUAL(shared_buffer_admit(buffer, in, out, 1), BUFFER_NO_HEADROOM);
	shared_buffer_release_at(buffer, in, out, 500, 10);
	shared_buffer_release_at(buffer, in, out, 9999, 20);
	sim_run(sim, 11);
	CU_ASSERT_EQUAL(shared_buffer_headroom_used(buffer, in), 0);
	sim_run(sim, 21);
	CU_ASSERT_EQUAL(paused[0], 1); /* 10001 > 20000 - 10001 */
	shared_buffer_release_at(buffer, in, out, 1, 30);
	sim_run(sim, 31);
	CU_ASSERT_EQUAL(paused[0], 0);
	alone_end();
}

/* row C-16: 12 MB, 32 ports of 40 Gb/s, 8 priorities, headroom 22.4 KB: if all of it is reserved, a
 * port is paused at 24.47 KB; and with beta = 8 for the threshold (DCQCN, section 4), ECN below
 * 21.75 KB is safe */
static void test_trident(void)
{
	const double headroom = 22400, size = 12e6;
	const double shared = size - 32 * 8 * headroom;
	const double per_class = shared / (8 * 32);

	CU_ASSERT_DOUBLE_EQUAL(per_class, 24475, 1); /* t_PFC <= 24.47 KB if static */
	/* the ECN threshold must be reached at egress before any ingress pauses: n * t_PFC > t_ECN,
	 * with n = 1 at worst; t_PFC = beta * (free) / 8 when each of the 32 ports uses t_ECN
	 * bytes */
	CU_ASSERT_DOUBLE_EQUAL(8 * shared / 8 / (32 * (1 + 8)), 21756, 1);
	params.size = 12000000;
	params.lossless = 255;
	params.headroom = 22400;
	params.alpha = 1;
	alone_begin(32, 0);
	CU_ASSERT_EQUAL(shared_buffer_shared_size(buffer), 6265600);
	alone_end();
}

/* Every host sends to the last host. One link carries the traffic of three, so the buffer fills,
 * and pauses the hosts. */
static uint64_t lost_with(uint64_t headroom, double metres, uint64_t *needed)
{
	uint64_t lost, received;

	star_defaults(&star);
	star.params.port.length = metres;
	star.params.buffer.size = 1000000 + 4 * headroom;
	star.params.buffer.headroom = headroom;
	CU_ASSERT_TRUE(star_begin(&star, LINK_ETHERNET, 4));
	for (unsigned i = 0; i < 3; i++)
		star_send(&star, i, 3, 1000, MTU);
	sim_run(star.sim, SIM_NEVER);
	sim_run(star.sim, sim_now(star.sim) + MS);
	lost = switch_counters(star.sw)->headroom_drops;
	received = star.hosts[3].received;
	CU_ASSERT_EQUAL(received + lost, 3000);
	CU_ASSERT_EQUAL(switch_counters(star.sw)->bytes_dropped, lost * WIRE);
	CU_ASSERT_EQUAL(shared_buffer_used(switch_buffer(star.sw)), 0);
	CU_ASSERT_EQUAL(shared_buffer_shared_used(switch_buffer(star.sw)), 0);
	*needed = 0;
	for (unsigned i = 0; i < 3; i++) {
		uint64_t max =
			shared_buffer_headroom_used_max(switch_buffer(star.sw), buffer_class(i, 0));

		CU_ASSERT_EQUAL(port_counters(switch_port(star.sw, i))->pause_sent,
				port_counters(star.hosts[i].port)->pause_received);
		*needed = max > *needed ? max : *needed;
	}
	CU_ASSERT_EQUAL(star_end(&star), 0);
	return lost;
}

static void test_headroom(void)
{
	uint64_t needed, again;

	CU_ASSERT_EQUAL(lost_with(62841, 100, &needed), 0); /* row C-14 */
	/* 2 * 500 ns of cable, 300 ns of reaction, 5.76 ns of frame: four packets of 334 ns, while
	 * one of them leaves */
	CU_ASSERT_EQUAL(needed, 3 * WIRE);
	CU_ASSERT_EQUAL(lost_with(needed, 100, &again), 0);
	CU_ASSERT_EQUAL(lost_with(needed - 1, 100, &again),
			420);                          /* the third of each pause: seen */
	CU_ASSERT_EQUAL(lost_with(0, 100, &again), 0); /* computed: the same formula */
}

/* Two senders send to one output. The queue is exactly half the shared memory, minus the packet
 * that just left and the next one. The rest is lost. */
static void test_lossy_switch(void)
{
	struct shared_buffer *shared;
	uint64_t queue;

	star_defaults(&star);
	star.params.buffer.size = 1000000;
	star.params.buffer.lossless = 0;
	CU_ASSERT_TRUE(star_begin(&star, LINK_ETHERNET, 3));
	shared = switch_buffer(star.sw);
	star_send(&star, 0, 2, 5000, MTU);
	star_send(&star, 1, 2, 5000, MTU);
	sim_run(star.sim, 500 * US);
	queue = shared_buffer_egress_used(shared, buffer_class(2, 0));
	CU_ASSERT_EQUAL(queue, 500000 / WIRE * WIRE - WIRE);
	sim_run(star.sim, SIM_NEVER);
	sim_run(star.sim, sim_now(star.sim) + MS);
	/* one leaves while two arrive, and the final queue leaves as well */
	CU_ASSERT_EQUAL(switch_counters(star.sw)->egress_drops, 5000 - 118);
	CU_ASSERT_EQUAL(star.hosts[2].received + switch_counters(star.sw)->egress_drops, 10000);
	CU_ASSERT_EQUAL(shared_buffer_used(shared), 0);
	CU_ASSERT_EQUAL(port_counters(switch_port(star.sw, 0))->pause_sent, 0);
	CU_ASSERT_EQUAL(star_end(&star), 0);
}

/* A lossy priority takes no headroom of a lossless priority. */
static void test_mixed(void)
{
	star_defaults(&star);
	star.params.buffer.size = 500000;
	star.params.buffer.lossless = 1 << 3;
	star.params.port.transmit_depth = 1000;
	CU_ASSERT_TRUE(star_begin(&star, LINK_ETHERNET, 4));
	for (unsigned i = 0; i < 3; i++) {
		star_send(&star, i, 3, 900, MTU);
		star.hosts[i].vl = 3;
		star_send(&star, i, 3, 100, MTU);
	}
	sim_run(star.sim, SIM_NEVER);
	sim_run(star.sim, sim_now(star.sim) + MS);
	CU_ASSERT_EQUAL(switch_counters(star.sw)->headroom_drops, 0);
	CU_ASSERT_EQUAL(switch_counters(star.sw)->egress_drops, 1962); /* of 2700: seen */
	CU_ASSERT_EQUAL(star.hosts[3].received + switch_counters(star.sw)->egress_drops +
				switch_counters(star.sw)->pool_drops,
			3000);
	CU_ASSERT_EQUAL(star_end(&star), 0);
}

static void test_too_small(void)
{
	star_defaults(&star);
	star.params.buffer.size = 100000;
	star.params.port.length = 100;
	CU_ASSERT_FALSE(star_begin(&star, LINK_ETHERNET, 4));
	CU_ASSERT_STRING_EQUAL(star.error,
			       "switch: buffer size is 100000 B, but reserved (0 B) and "
			       "headroom (251364 B) leave nothing to share");
	star_end(&star);
}
