/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that each engine fires events in the order of (time, priority, origin, sequence). sim_run()
 * excludes its limit, cancelled events do not fire, and stopping and continuing loses no events.
 */
#include <string.h>

#include "sim/block.h"
#include "sim/sim.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                      \
	TEST(time_order)                 \
	TEST(ties)                       \
	TEST(origin_is_the_firing_block) \
	TEST(ranks)                      \
	TEST(delay_zero)                 \
	TEST(run_excludes_its_limit)     \
	TEST(cancel)                     \
	TEST(cancel_while_firing)        \
	TEST(drop)                       \
	TEST(stop)                       \
	TEST(slices)                     \
	TEST(engine_names)
SUITE(TESTS)

#define EVENTS 8

static const struct block_type plain = {.name = "plain"};

static enum sim_engine engine;
static struct sim *sim;
static struct block blocks[2];
static struct event events[EVENTS];
static char fired[64];
static sim_time fired_at[64];

static void note(struct event *event)
{
	size_t n = strlen(fired);

	fired[n] = (char)('a' + (event - events));
	fired_at[n] = sim_now(sim);
}

static void begin(void)
{
	sim = sim_create(engine, 1);
	block_init(&blocks[0], sim, &plain, "first", NULL, NULL);
	block_init(&blocks[1], sim, &plain, "second", NULL, NULL);
	memset(fired, 0, sizeof(fired));
	for (int i = 0; i < EVENTS; i++)
		event_init(&events[i], &blocks[0], note);
}

static void end(void)
{
	block_fini(&blocks[1]);
	block_fini(&blocks[0]);
	sim_destroy(sim);
}

static void time_order(void)
{
	static const sim_time delays[EVENTS] = {3 * NS,           NS,     3 * NS, 0,
						26 * 86400 * SEC, 2 * NS, 1,      5 * SEC};

	begin();
	CU_ASSERT_EQUAL(sim_next(sim), SIM_NEVER);
	for (int i = 0; i < EVENTS; i++)
		sim_schedule(&events[i], delays[i]);
	CU_ASSERT_EQUAL(sim_next(sim), 0);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_STRING_EQUAL(fired, "dgbfache");
	for (size_t i = 0; i < EVENTS; i++)
		CU_ASSERT_EQUAL(fired_at[i], delays[fired[i] - 'a']);
	CU_ASSERT_EQUAL(sim_now(sim), 26 * 86400 * SEC);
	CU_ASSERT_EQUAL(sim_events_fired(sim), EVENTS);
	CU_ASSERT_EQUAL(sim_next(sim), SIM_NEVER);
	end();
}

/* At one instant, the order is priority, then origin (not the order of the calls), then
 * sequence. */
static void ties(void)
{
	begin();
	event_init(&events[0], &blocks[1], note);
	event_init(&events[1], &blocks[0], note);
	event_init(&events[2], &blocks[1], note);
	event_init_priority(&events[3], &blocks[1], note, PRIORITY_FIRST);
	event_init_priority(&events[4], &blocks[0], note, PRIORITY_LAST);
	event_init_priority(&events[5], &blocks[0], note, PRIORITY_EXTERNAL);
	event_init_priority(&events[6], &blocks[1], note, PRIORITY_SYSTEMC);
	event_init(&events[7], &blocks[0], note);
	for (int i = 0; i < EVENTS; i++)
		sim_schedule(&events[i], NS);
	sim_run(sim, 2 * NS);
	CU_ASSERT_STRING_EQUAL(fired, "dbhacgef");
	end();
}

static void schedule_second(struct event *event)
{
	note(event);
	sim_schedule(&events[1], NS); /* its owner is block 0, but block 1 schedules it */
}

static void schedule_fourth(struct event *event)
{
	note(event);
	sim_schedule(&events[3], NS);
}

static void origin_is_the_firing_block(void)
{
	begin();
	event_init_priority(&events[0], &blocks[1], schedule_second, PRIORITY_FIRST);
	event_init(&events[2], &blocks[0], schedule_fourth);
	event_init(&events[3], &blocks[1], note);
	sim_schedule(&events[0], NS);
	sim_schedule(&events[2], NS);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_STRING_EQUAL(fired, "acdb");
	end();
}

static void schedule_ranked(struct event *event)
{
	note(event);
	sim_schedule_ranked(&events[1], 2 * NS, SIM_RANKS - 1);
	sim_schedule_ranked(&events[2], 2 * NS, 0);
}

/* The order does not depend on the caller and the time of scheduling. Block 1 fires first, and the
 * event after the rest of block 0 last. */
static void ranks(void)
{
	begin();
	event_init(&events[0], &blocks[1], schedule_ranked);
	event_init(&events[4], &blocks[1], note);
	event_init_last(&events[5], &blocks[0], note);
	sim_schedule_ranked(&events[3], 2 * NS, 7);
	sim_schedule(&events[4], 2 * NS);
	sim_schedule_last(sim, &events[5], 2 * NS);
	sim_schedule(&events[0], NS);
	sim_schedule(&events[6], 2 * NS);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_STRING_EQUAL(fired, "agcdbfe");
	end();
}

static void schedule_more(struct event *event)
{
	note(event);
	sim_schedule(&events[1], 0);
	sim_schedule(&events[2], 0); /* more urgent than the current event */
	sim_schedule(&events[3], 1);
	CU_ASSERT_EQUAL(strlen(fired), 1);
}

static void delay_zero(void)
{
	begin();
	event_init(&events[0], &blocks[0], schedule_more);
	event_init_priority(&events[2], &blocks[0], note, PRIORITY_FIRST);
	event_init(&events[4], &blocks[1], note);
	sim_schedule(&events[0], 7);
	sim_schedule(&events[4], 7);
	sim_schedule(&events[5], 7);
	sim_run(sim, SIM_NEVER);
	/* a, then the urgent c; block 0 scheduled f before b; block 1 scheduled e; d is later */
	CU_ASSERT_STRING_EQUAL(fired, "acfbed");
	CU_ASSERT_EQUAL(sim_now(sim), 8);
	end();
}

static void run_excludes_its_limit(void)
{
	begin();
	sim_schedule(&events[0], NS - 1);
	sim_schedule(&events[1], NS);
	sim_run(sim, NS);
	CU_ASSERT_STRING_EQUAL(fired, "a");
	CU_ASSERT_EQUAL(sim_now(sim), NS);
	CU_ASSERT_EQUAL(sim_next(sim), NS);
	sim_run(sim, NS);
	CU_ASSERT_STRING_EQUAL(fired, "a");
	sim_schedule(&events[2], 0);
	event_init_priority(&events[3], &blocks[1], note, PRIORITY_FIRST);
	sim_schedule(&events[3], 0);
	sim_run(sim, NS + 1);
	CU_ASSERT_STRING_EQUAL(fired, "adbc");
	CU_ASSERT_EQUAL(sim_now(sim), NS + 1);
	sim_run(sim, 9 * SEC);
	CU_ASSERT_EQUAL(sim_now(sim), 9 * SEC);
	sim_schedule(&events[4], 0);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_STRING_EQUAL(fired, "adbce");
	CU_ASSERT_EQUAL(sim_now(sim), 9 * SEC);
	end();
}

static void cancel(void)
{
	begin();
	for (int i = 0; i < EVENTS; i++)
		sim_schedule(&events[i], NS);
	CU_ASSERT_TRUE(event_pending(&events[3]));
	CU_ASSERT_EQUAL(event_time(&events[3]), NS);
	sim_cancel(&events[0]);
	sim_cancel(&events[3]);
	sim_cancel(&events[7]);
	sim_cancel(&events[7]);
	CU_ASSERT_FALSE(event_pending(&events[3]));
	sim_schedule(&events[3], NS / 2);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_STRING_EQUAL(fired, "dbcefg");
	CU_ASSERT_EQUAL(sim_events_fired(sim), 6);
	sim_schedule(&events[0], NS);
	sim_cancel(&events[0]);
	CU_ASSERT_EQUAL(sim_next(sim), SIM_NEVER);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(sim_now(sim), NS);
	end();
}

static void cancel_neighbours(struct event *event)
{
	note(event);
	sim_cancel(&events[1]);
	sim_schedule(&events[5], 0);
	sim_schedule(&events[6], 0);
	sim_cancel(&events[5]);
	sim_cancel(&events[3]);
}

/* Cancels an event that is due at this instant. */
static void cancel_while_firing(void)
{
	begin();
	event_init(&events[0], &blocks[0], cancel_neighbours);
	for (int i = 0; i < 4; i++)
		sim_schedule(&events[i], NS);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_STRING_EQUAL(fired, "acg");
	CU_ASSERT_EQUAL(sim_events_fired(sim), 3);
	end();
}

/* Removes events near and far, at the same time and at the present time. No event is left, and the
 * run can continue. */
static void drop(void)
{
	static const sim_time delays[EVENTS] = {0,      0,      NS,      NS,
						2 * US, 3 * MS, 5 * SEC, 26 * 86400 * SEC};

	begin();
	for (int i = 0; i < EVENTS; i++)
		sim_schedule(&events[i], delays[i]);
	sim_run(sim, 1);
	CU_ASSERT_STRING_EQUAL(fired, "ab");
	sim_drop(sim);
	CU_ASSERT_EQUAL(sim_next(sim), SIM_NEVER);
	for (int i = 0; i < EVENTS; i++)
		CU_ASSERT_FALSE(event_pending(&events[i]));
	sim_drop(sim);
	sim_schedule(&events[7], NS);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_STRING_EQUAL(fired, "abh");
	CU_ASSERT_EQUAL(sim_now(sim), 1 + NS);
	end();
}

static void stop_here(struct event *event)
{
	note(event);
	sim_stop(sim);
}

static void stop(void)
{
	begin();
	event_init(&events[1], &blocks[0], stop_here);
	for (int i = 0; i < 3; i++)
		sim_schedule(&events[i], NS);
	sim_run(sim, 5 * NS);
	CU_ASSERT_STRING_EQUAL(fired, "ab");
	CU_ASSERT_EQUAL(sim_now(sim), NS);
	CU_ASSERT_EQUAL(sim_next(sim), NS);
	event_init_priority(&events[4], &blocks[0], note, PRIORITY_FIRST);
	sim_schedule(&events[4], 0);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_STRING_EQUAL(fired, "abec");
	CU_ASSERT_EQUAL(sim_now(sim), NS);
	end();
}

static void fire_again(struct event *event)
{
	fired_at[0] = sim_now(sim);
	if (sim_events_fired(sim) < 10000)
		sim_schedule(event, 83200 + sim_events_fired(sim) * 977);
}

/* Schedules one event over all wheel levels that a long run crosses. The run is cut into slices of
 * another length. */
static void slices(void)
{
	sim_time last = 0, limit = 0;

	begin();
	event_init(&events[0], &blocks[0], fire_again);
	sim_schedule(&events[0], 0);
	while (event_pending(&events[0])) {
		CU_ASSERT_EQUAL_FATAL(sim_next(sim), event_time(&events[0]));
		limit += 1234567;
		sim_run(sim, limit);
		CU_ASSERT_FATAL(fired_at[0] < limit && fired_at[0] >= last);
		last = fired_at[0];
	}
	CU_ASSERT_EQUAL(last, UINT64_C(83200) * 9999 + UINT64_C(977) * 9999 * 10000 / 2);
	CU_ASSERT_EQUAL(sim_events_fired(sim), 10000);
	end();
}

static void engine_names(void)
{
	enum sim_engine found;

	CU_ASSERT_TRUE(sim_engine_from_name("native", &found));
	CU_ASSERT_EQUAL(found, SIM_ENGINE_native);
	CU_ASSERT_TRUE(sim_engine_from_name("systemc-reference", &found));
	CU_ASSERT_EQUAL(found, SIM_ENGINE_systemc_reference);
	CU_ASSERT_FALSE(sim_engine_from_name("Native", &found));
}

#define ENGINE_NAME(name, text, meaning) text,

static void on_each_engine(void (*test)(void))
{
	static const char *const names[] = {SIM_ENGINES(ENGINE_NAME)};

	for (unsigned i = 0; i < SIM_ENGINE_COUNT; i++) {
		unsigned failures = CU_get_number_of_failures();

		engine = (enum sim_engine)i;
		test();
		if (CU_get_number_of_failures() > failures)
			printf("\n    on the %s engine", names[i]);
	}
}

#define ON_EACH_KERNEL(name)          \
	static void test_##name(void) \
	{                             \
		on_each_engine(name); \
	}
TESTS(ON_EACH_KERNEL)
