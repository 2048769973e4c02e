/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests whole transfers, in virtual time, over a link that loses, reorders and repeats segments.
 * Every byte arrives once and in order, and both windows are obeyed (support/pipe.c checks both).
 * Every connection closes, and the link is used as well as possible.
 */
#include <inttypes.h>
#include <stdio.h>

#include "tests/support/suite.h"
#include "tests/tcp/support/pipe.h"

#define TESTS(TEST)                         \
	TEST(random_transfers)              \
	TEST(a_quiet_link_is_full)          \
	TEST(one_loss_costs_one_round_trip) \
	TEST(reordering_costs_little)       \
	TEST(dctcp_holds_the_queue)         \
	TEST(slow_reader)                   \
	TEST(the_same_again)
SUITE(TESTS)

#define GBPS UINT64_C(1000000000)

enum { SEEDS = 1000 };

static const char *const algorithms[] = {"newreno", "cubic", "dctcp", "swift", "none"};
static const double losses[] = {0, 0, 0.001, 0.01, 0.05, 0.2};

static bool flip(struct random *random)
{
	return random_below(random, 2);
}

static void choose_params(struct random *random, struct tcp_params *params)
{
	params->timestamps = flip(random);
	params->sack = random_below(random, 4) > 0;
	params->rack = random_below(random, 4) > 0;
	params->window_scale = random_below(random, 4) > 0;
	params->tail_probe = flip(random);
	params->nagle = (uint32_t)random_below(random, 3);
	params->delayed_ack = flip(random) ? 0 : random_below(random, 40 * MS);
	params->ack_every = 1 + random_below(random, 4);
	params->quick_acks = random_below(random, 20);
	params->receive_buffer = 2048UL << random_below(random, 10);
	params->rto_min = MS << random_below(random, 8);
	params->time_wait = MS;
	params->retries = 100; /* of 20 % loss */
	params->syn_retries = 100;
}

static void choose(struct pipe_setup *setup, uint64_t seed)
{
	struct random random;

	pipe_default(setup);
	random_init_named(&random, seed, "test", "transfers");
	setup->seed = seed;
	setup->congestion = algorithms[random_below(&random, ARRAY_SIZE(algorithms))];
	for (unsigned i = 0; i < 2; i++) {
		choose_params(&random, &setup->params[i]);
		setup->mss[i] = (uint16_t)(100 + random_below(&random, 8860));
		setup->bytes[i] = random_below(&random, UINT64_C(1) << random_below(&random, 18));
	}
	setup->bytes[0]++;
	setup->write_bytes = (uint32_t)(1 + random_below(&random, 1u << 16));
	setup->read_every = (uint32_t)(1 + random_below(&random, 5));
	setup->rate_bps = GBPS / 100 << random_below(&random, 13);
	setup->delay = random_below(&random, 2 * MS);
	setup->queue_bytes = UINT64_C(20000) << random_below(&random, 8);
	setup->mark_bytes = flip(&random) ? setup->queue_bytes / 4 : 0;
	setup->loss = losses[random_below(&random, ARRAY_SIZE(losses))];
	setup->reorder = flip(&random) ? 0 : 0.05;
	setup->reorder_by = random_below(&random, 4 * setup->delay + 1);
	setup->duplicate = flip(&random) ? 0 : 0.02;
	setup->limit = 100000 * SEC;
}

static void test_random_transfers(void)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct pipe_setup setup;
		struct pipe_result result;

		choose(&setup, seed);
		pipe_run(&setup, &result);
		CU_ASSERT_TRUE(result.complete);
		if (!result.complete)
			printf("seed %" PRIu64 ": %s and %s at the end\n", seed,
			       tcp_state_name(result.report[0].state),
			       tcp_state_name(result.report[1].state));
	}
}

static double goodput(const struct pipe_setup *setup, const struct pipe_result *result)
{
	return (double)setup->bytes[0] * 8 * (double)SEC / (double)result->finished_at /
	       (double)setup->rate_bps;
}

/* 1448 of 1538 bytes are payload (time stamps included in the rest). Slow start takes some RTTs. */
static void test_a_quiet_link_is_full(void)
{
	struct pipe_setup setup;
	struct pipe_result result;

	pipe_default(&setup);
	setup.bytes[0] = 50 << 20;
	setup.params[1].receive_buffer = 256 << 10; /* less than the queue takes */
	pipe_run(&setup, &result);
	CU_ASSERT_TRUE(result.complete);
	CU_ASSERT_EQUAL(result.report[0].counts.retransmissions, 0);
	CU_ASSERT(goodput(&setup, &result) > 0.93);
	CU_ASSERT(goodput(&setup, &result) < 1448.0 / (1448 + 78));
}

/* The transfer is window-limited, so that one lost segment costs only its own repair. */
static void test_one_loss_costs_one_round_trip(void)
{
	struct pipe_setup setup;
	struct pipe_result quiet, lossy;

	pipe_default(&setup);
	setup.bytes[0] = 10 << 20;
	setup.params[1].receive_buffer = 256 << 10;
	pipe_run(&setup, &quiet);
	setup.drop_from = 7000;
	setup.drop_count = 1;
	pipe_run(&setup, &lossy);
	CU_ASSERT_EQUAL(lossy.report[0].counts.retransmissions, 1);
	CU_ASSERT_EQUAL(lossy.report[0].counts.timeouts, 0);
	CU_ASSERT(lossy.finished_at >= quiet.finished_at);
	CU_ASSERT(lossy.finished_at < quiet.finished_at + 200 * US);
}

/* RACK detects that segments are reordered, and waits. The first reordered segments halve the
 * window twice. */
static void test_reordering_costs_little(void)
{
	struct pipe_setup setup;
	struct pipe_result result;

	pipe_default(&setup);
	setup.bytes[0] = 50 << 20;
	setup.delay = 100 * US;
	setup.reorder = 0.01;
	setup.reorder_by = 20 * US;
	pipe_run(&setup, &result);
	CU_ASSERT_TRUE(result.complete);
	CU_ASSERT_EQUAL(result.report[0].counts.timeouts, 0);
	CU_ASSERT(result.report[0].counts.retransmissions <= 2);
	CU_ASSERT_EQUAL(result.report[0].counts.dsacks, result.report[0].counts.retransmissions);
	CU_ASSERT(goodput(&setup, &result) > 0.7);
}

/* The queue stays near the marking threshold K. Slow start overshoots it, by a window that doubles
 * until the marks come back. */
static void test_dctcp_holds_the_queue(void)
{
	struct pipe_setup setup;
	struct pipe_result result;

	pipe_default(&setup);
	setup.congestion = "dctcp";
	setup.bytes[0] = 50 << 20;
	setup.mark_bytes = 60000;
	pipe_run(&setup, &result);
	CU_ASSERT_TRUE(result.complete);
	CU_ASSERT_EQUAL(result.report[0].counts.retransmissions, 0);
	CU_ASSERT(result.queue_max < 3 * setup.mark_bytes);
	CU_ASSERT(result.queue_mean > 0.5 * (double)setup.mark_bytes);
	CU_ASSERT(result.queue_mean < 1.1 * (double)setup.mark_bytes);
	CU_ASSERT(goodput(&setup, &result) > 0.92);
}

static void test_slow_reader(void)
{
	struct pipe_setup setup;
	struct pipe_result result;

	pipe_default(&setup);
	setup.bytes[0] = 1 << 20;
	setup.params[1].receive_buffer = 8192;
	setup.read_every = 7;
	pipe_run(&setup, &result);
	CU_ASSERT_TRUE(result.complete);
	CU_ASSERT_EQUAL(result.report[0].counts.retransmissions, 0);
}

static void test_the_same_again(void)
{
	struct pipe_setup setup;
	struct pipe_result one, other;

	choose(&setup, 77);
	pipe_run(&setup, &one);
	pipe_run(&setup, &other);
	CU_ASSERT_EQUAL(one.finished_at, other.finished_at);
	CU_ASSERT_EQUAL(one.report[0].counts.segments_sent, other.report[0].counts.segments_sent);
}
