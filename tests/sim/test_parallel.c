/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that a parallel run equals a sequential one. Nodes in a ring pass tokens after random
 * times, many at the same picosecond. The LPs see the same tokens at the same times and in the same
 * order. Runs have 1, 2, 3 and 5 LPs, in one call of sim_run(), in slices, or with sequential
 * slices in between. Time, the next event and the number of events cover all LPs. A window is as
 * long as the shortest channel. One thread runs windows with few events, for the windows that the
 * numbers of events determine, and all windows while a clock says that threads are slower.
 */
#include <stdio.h>
#include <string.h>

#include "sim/parallel.h"
#include "sim/random.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                   \
	TEST(the_same_in_lps)         \
	TEST(the_same_in_slices)      \
	TEST(the_same_sequential)     \
	TEST(who_is_first)            \
	TEST(gaps_are_skipped)        \
	TEST(little_is_done_together) \
	TEST(slow_threads_end)
SUITE(TESTS)

#define NODES  15
#define TOKENS 40
#define HOPS   300
#define CABLE  (10 * NS)

struct token {
	struct token *next;
	unsigned number, hops;
	sim_time arrives_at;
};

/* Tokens come from the previous node, and wait in this heap until they arrive. The earliest is
 * first. Among equal times, the lowest number is first. */
struct node {
	struct block block;
	struct random random;
	struct event arrival;
	struct event echo; /* of the same instant: its rank is the node's next sequence number */
	struct token *coming;
	struct node *next;
	struct lp_channel channel; /* to the next, if that is in another LP */
	struct token *left[2];
	uint64_t log; /* hash of arrivals and their times */
};

struct ring {
	struct sim *sim;
	struct node nodes[NODES];
	struct token tokens[TOKENS];
};

static const struct block_type node_type = {.name = "node"};

/* The order in which all nodes fire. */
struct witness {
	uint64_t log;
	sim_time last;
	unsigned ties; /* at the time of the event before */
};

static struct witness *witness; /* NULL: nobody looks, as LPs have threads */

static bool before(const struct token *one, const struct token *other)
{
	return one->arrives_at != other->arrives_at ? one->arrives_at < other->arrives_at
						    : one->number < other->number;
}

static void come(struct token *token, struct node *node)
{
	struct token **place = &node->coming;

	while (*place && before(*place, token))
		place = &(*place)->next;
	token->next = *place;
	*place = token;
	if (token != node->coming)
		return;
	sim_cancel(&node->arrival);
	sim_schedule_last(node->block.sim, &node->arrival, token->arrives_at);
}

static void note(struct node *node, uint64_t what)
{
	node->log = (node->log ^ what) * UINT64_C(0x9e3779b97f4a7c15);
	if (!witness)
		return;
	witness->log = (witness->log ^ what ^ node->block.id) * UINT64_C(0x9e3779b97f4a7c15);
	witness->ties += sim_now(node->block.sim) == witness->last;
	witness->last = sim_now(node->block.sim);
}

static void echo(struct event *event)
{
	struct node *node = container_of(event, struct node, echo);

	note(node, sim_now(node->block.sim));
}

static void arrive(struct event *event)
{
	struct node *node = container_of(event, struct node, arrival);
	struct token *token = node->coming;
	sim_time now = sim_now(node->block.sim);

	node->coming = token->next;
	if (node->coming)
		sim_schedule_last(node->block.sim, &node->arrival, node->coming->arrives_at);
	note(node, now << 8 | token->number);
	if (!event_pending(&node->echo))
		sim_schedule(&node->echo, random_below(&node->random, 2) * NS);
	if (++token->hops == HOPS)
		return;
	token->arrives_at = now + CABLE + random_below(&node->random, 4) * NS;
	if (node->next->block.sim == node->block.sim) {
		come(token, node->next);
	} else {
		unsigned window = lp_channel_leave(&node->channel, token->arrives_at);

		token->next = node->left[window];
		node->left[window] = token;
	}
}

static void take(struct lp_channel *channel, unsigned window)
{
	struct node *node = container_of(channel, struct node, channel);

	while (node->left[window]) {
		struct token *token = node->left[window];

		node->left[window] = token->next;
		come(token, node->next);
	}
}

static void ring_begin(struct ring *ring, unsigned lps)
{
	char name[16];

	memset(ring, 0, sizeof(*ring));
	ring->sim = sim_create(SIM_ENGINE_native, 7);
	sim_create_lps(ring->sim, lps);
	CU_ASSERT_EQUAL(sim_lps(ring->sim), lps);
	for (unsigned i = 0; i < NODES; i++) {
		struct node *node = &ring->nodes[i];

		snprintf(name, sizeof(name), "node%u", i);
		block_init(&node->block, sim_lp(ring->sim, i * lps / NODES), &node_type, name, NULL,
			   NULL);
		CU_ASSERT_EQUAL(node->block.id, i + 1);
		CU_ASSERT_EQUAL(sim_lp_number(node->block.sim), i * lps / NODES);
		random_init(&node->random, &node->block, "hold");
		event_init_last(&node->arrival, &node->block, arrive);
		event_init(&node->echo, &node->block, echo);
		node->next = &ring->nodes[(i + 1) % NODES];
	}
	for (unsigned i = 0; i < NODES; i++) {
		struct node *node = &ring->nodes[i];

		if (node->next->block.sim != node->block.sim)
			lp_channel_init(&node->channel, node->block.sim, node->next->block.sim,
					CABLE, take);
	}
	for (unsigned i = 0; i < TOKENS; i++) {
		ring->tokens[i] = (struct token){.number = i, .arrives_at = i % 3 * NS};
		come(&ring->tokens[i], &ring->nodes[i % NODES]);
	}
}

static void ring_end(struct ring *ring)
{
	for (unsigned i = 0; i < NODES; i++)
		block_fini(&ring->nodes[i].block);
	sim_destroy(ring->sim);
}

static void compare(unsigned lps, sim_time slice, bool sequential)
{
	static struct ring one, parallel;
	sim_time until = 0;

	ring_begin(&one, 1);
	ring_begin(&parallel, lps);
	while (sim_next(one.sim) != SIM_NEVER) {
		CU_ASSERT_EQUAL(sim_next(one.sim), sim_next(parallel.sim));
		until = slice ? until + slice : SIM_NEVER;
		sim_run(one.sim, until);
		if (sequential && until / slice % 3)
			sim_run_sequential(parallel.sim, until);
		else
			sim_run(parallel.sim, until);
		CU_ASSERT_EQUAL(sim_now(one.sim), sim_now(parallel.sim));
		CU_ASSERT_EQUAL(sim_events_fired(one.sim), sim_events_fired(parallel.sim));
		for (unsigned i = 0; i < NODES; i++)
			CU_ASSERT_EQUAL(one.nodes[i].log, parallel.nodes[i].log);
	}
	CU_ASSERT_EQUAL(sim_next(parallel.sim), SIM_NEVER);
	for (unsigned i = 0; i < TOKENS; i++)
		CU_ASSERT_EQUAL(parallel.tokens[i].hops, HOPS);
	if (lps > 1 && !sequential) {
		struct sim_windows windows = sim_windows(parallel.sim);

		CU_ASSERT_EQUAL(windows.length, CABLE);
		CU_ASSERT(windows.count >= sim_now(one.sim) / (2 * CABLE));
		CU_ASSERT(windows.count <=
			  sim_now(one.sim) / CABLE + 1 + (slice ? until / slice : 0));
		CU_ASSERT_EQUAL(windows.events, sim_events_fired(one.sim));
		CU_ASSERT(windows.longest * lps >= windows.events);
		CU_ASSERT(windows.longest < windows.events);
	}
	ring_end(&one);
	ring_end(&parallel);
}

static void test_the_same_in_lps(void)
{
	compare(1, 0, false);
	compare(2, 0, false);
	compare(3, 0, false);
	compare(5, 0, false);
}

static void test_the_same_in_slices(void)
{
	compare(2, 1 * US, false);
	compare(3, 333 * NS, false);
	compare(2, 7 * NS, false); /* shorter than a window */
}

static void test_the_same_sequential(void)
{
	compare(1, 1 * US, true);
	compare(2, 1 * US, true);
	compare(3, 333 * NS, true);
	compare(5, 7 * NS, true);
}

/* An event sees the effects of earlier events in other nodes. These are the first node at an
 * instant, and the number of nodes that act. */
static void test_who_is_first(void)
{
	static struct ring one, parallel;

	ring_begin(&one, 1);
	ring_begin(&parallel, 3);
	witness = &(struct witness){0};
	sim_run_sequential(one.sim, 1 * MS);
	uint64_t seen = witness->log;
	CU_ASSERT(witness->ties > 100);
	witness->log = 0;
	sim_run_sequential(parallel.sim, 1 * MS);
	CU_ASSERT_EQUAL(witness->log, seen);
	CU_ASSERT_EQUAL(sim_now(parallel.sim), sim_now(one.sim));
	witness = NULL;
	ring_end(&one);
	ring_end(&parallel);
}

/* A gap in which nothing happens is one step, not many windows. */
static void test_gaps_are_skipped(void)
{
	static struct ring ring;
	uint64_t before;

	ring_begin(&ring, 2);
	sim_run(ring.sim, SIM_NEVER);
	before = sim_windows(ring.sim).count;
	ring.tokens[0] = (struct token){.hops = HOPS - 1, .arrives_at = sim_now(ring.sim) + SEC};
	come(&ring.tokens[0], &ring.nodes[NODES - 1]);
	sim_run(ring.sim, SIM_NEVER);
	CU_ASSERT(sim_windows(ring.sim).count <= before + 2); /* the token, its echo */
	ring_end(&ring);
}

/* Each LP has one event per window for a while, then many events, then one event again. */
struct beat {
	struct block block;
	struct event event;
	struct lp_channel channel; /* by which nothing comes */
	unsigned left, dense_from, dense_to;
};

enum { BEATS_A_WINDOW = 1000, SPARSE = 3000, DENSE = 500 };

static void beat(struct event *event)
{
	struct beat *self = container_of(event, struct beat, event);
	bool dense = self->left <= self->dense_from && self->left > self->dense_to;

	if (--self->left)
		sim_schedule(event, dense ? CABLE / BEATS_A_WINDOW : CABLE);
}

static void beats_begin(struct beat *beats, struct sim *sim, unsigned sparse, unsigned dense)
{
	sim_create_lps(sim, 2);
	for (unsigned i = 0; i < 2; i++) {
		block_init(&beats[i].block, sim_lp(sim, i), &node_type, i ? "one" : "other", NULL,
			   NULL);
		event_init(&beats[i].event, &beats[i].block, beat);
		beats[i].dense_to = sparse;
		beats[i].dense_from = sparse + dense * BEATS_A_WINDOW;
		beats[i].left = beats[i].dense_from + sparse;
		sim_schedule(&beats[i].event, 0);
	}
	for (unsigned i = 0; i < 2; i++)
		lp_channel_init(&beats[i].channel, sim_lp(sim, i), sim_lp(sim, 1 - i), CABLE, take);
}

static void beats_end(struct beat *beats, struct sim *sim)
{
	for (unsigned i = 0; i < 2; i++)
		block_fini(&beats[i].block);
	sim_destroy(sim);
}

/* One thread weighs windows in groups of 64. */
static bool is_near(uint64_t value, uint64_t expected)
{
	return value >= expected && value <= expected + 64;
}

static void test_little_is_done_together(void)
{
	static struct beat beats[2];
	struct sim *sim = sim_create(SIM_ENGINE_native, 1);
	struct sim_windows windows;
	/* A window costs the time of 10 events, and gains the work of the other LP: one event costs
	 * 9 of 10,000. The mode changes after windows that gain 990 each have gained 10,000. */
	const unsigned lose = (10000 + 8) / 9, win = (10000 + 989) / 990;

	beats_begin(beats, sim, SPARSE, DENSE);
	sim_run(sim, SPARSE * CABLE);
	CU_ASSERT(is_near(sim_windows(sim).count, SPARSE));
	CU_ASSERT(is_near(sim_windows(sim).together, SPARSE - lose));
	sim_run(sim, (SPARSE + DENSE) * CABLE);
	CU_ASSERT(is_near(sim_windows(sim).count, SPARSE + DENSE));
	CU_ASSERT(is_near(sim_windows(sim).together, SPARSE - lose + win));
	sim_run(sim, SIM_NEVER);
	windows = sim_windows(sim);
	CU_ASSERT(is_near(windows.count, 2 * SPARSE + DENSE));
	CU_ASSERT(is_near(windows.together, 2 * (SPARSE - lose) + win));
	CU_ASSERT_EQUAL(windows.events, 2 * (2 * SPARSE + DENSE * BEATS_A_WINDOW));
	CU_ASSERT(windows.longest >= windows.events / 2);
	CU_ASSERT(windows.longest <= windows.events / 2 + 2 * BEATS_A_WINDOW);
	beats_end(beats, sim);
}

static uint64_t stopped_clock(void)
{
	return 0;
}

/* One thread reads it once in a block of events, several threads in each window. */
static uint64_t clock_that_counts_calls(void)
{
	static uint64_t calls;

	return ++calls;
}

static void test_slow_threads_end(void)
{
	static struct beat beats[2];
	uint64_t (*const clocks[])(void) = {stopped_clock, clock_that_counts_calls};

	for (unsigned slow = 0; slow < 2; slow++) {
		struct sim *sim = sim_create(SIM_ENGINE_native, 1);
		struct sim_windows windows;

		beats_begin(beats, sim, 1, 2000);
		sim_measure_threads(sim, clocks[slow]);
		sim_run(sim, SIM_NEVER);
		windows = sim_windows(sim);
		CU_ASSERT_EQUAL(windows.events, 2 * (2 + 2000 * BEATS_A_WINDOW));
		CU_ASSERT(is_near(windows.count, 2000));
		/* Two blocks of 100,000 events are 100 windows, as an attempt. */
		if (slow)
			CU_ASSERT(windows.together > 1600 && windows.together < 1900);
		if (!slow)
			CU_ASSERT(is_near(windows.together, 100));
		beats_end(beats, sim);
	}
}
