/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that items leave a delay line in order and at their exact times, with one pending event for
 * any number of items. Also when arrivals push again, or when the line is emptied.
 */
#include <string.h>

#include "sim/block.h"
#include "sim/delay_line.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                \
	TEST(order_and_times)      \
	TEST(push_from_an_arrival) \
	TEST(take)                 \
	TEST(take_from_an_arrival)
SUITE(TESTS)

#define ITEMS 1000

static const struct block_type plain = {.name = "plain"};
static struct sim *sim;
static struct block block;
static struct delay_line line;
static struct delay_item items[ITEMS];
static struct delay_item *order[2 * ITEMS];
static sim_time times[2 * ITEMS];
static size_t arrived;

static void arrive(struct delay_line *from, struct delay_item *item)
{
	CU_ASSERT_PTR_EQUAL(from, &line);
	times[arrived] = sim_now(sim);
	order[arrived++] = item;
}

static void arrive_and_return(struct delay_line *from, struct delay_item *item)
{
	arrive(from, item);
	if (arrived <= ITEMS)
		delay_line_push(from, item, arrived % 3 == 0 ? 0 : 10 * US);
}

static void begin(void (*arrival)(struct delay_line *, struct delay_item *))
{
	sim = sim_create(SIM_ENGINE_native, 1);
	block_init(&block, sim, &plain, "cable", NULL, NULL);
	delay_line_init(&line, &block, arrival);
	arrived = 0;
}

static void end(void)
{
	block_fini(&block);
	sim_destroy(sim);
}

static void test_order_and_times(void)
{
	begin(arrive);
	for (size_t i = 0; i < ITEMS; i++)
		delay_line_push_at(&line, &items[i], 500 * NS + i / 2 * 83200); /* two at a time */
	CU_ASSERT_EQUAL(line.count, ITEMS);
	CU_ASSERT_EQUAL(sim_next(sim), 500 * NS);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL_FATAL(arrived, ITEMS);
	for (size_t i = 0; i < ITEMS; i++) {
		CU_ASSERT_PTR_EQUAL(order[i], &items[i]);
		CU_ASSERT_EQUAL(times[i], 500 * NS + i / 2 * 83200);
	}
	CU_ASSERT_EQUAL(sim_events_fired(sim), ITEMS / 2);
	CU_ASSERT_EQUAL(line.count, 0);
	end();
}

/* Only items that cannot overtake may be pushed. Delay 0 after other items would abort, so the test
 * empties the line first. */
static void test_push_from_an_arrival(void)
{
	begin(arrive_and_return);
	delay_line_push(&line, &items[0], NS);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(arrived, ITEMS + 1);
	/* of the pushes 1..ITEMS, each third had delay 0 and came in an event of its own */
	CU_ASSERT_EQUAL(sim_now(sim), NS + (ITEMS - ITEMS / 3) * 10 * US);
	CU_ASSERT_EQUAL(sim_events_fired(sim), ITEMS + 1);
	end();
}

static void test_take(void)
{
	begin(arrive);
	for (size_t i = 0; i < 3; i++)
		delay_line_push(&line, &items[i], (i + 1) * NS);
	CU_ASSERT_PTR_EQUAL(delay_line_take(&line), &items[0]);
	CU_ASSERT_EQUAL(sim_next(sim), 2 * NS);
	sim_run(sim, 2 * NS + 1);
	CU_ASSERT_EQUAL(arrived, 1);
	CU_ASSERT_PTR_EQUAL(order[0], &items[1]);
	CU_ASSERT_PTR_EQUAL(delay_line_take(&line), &items[2]);
	CU_ASSERT_PTR_NULL(delay_line_take(&line));
	CU_ASSERT_EQUAL(sim_next(sim), SIM_NEVER);
	end();
}

static void arrive_and_take(struct delay_line *from, struct delay_item *item)
{
	arrive(from, item);
	if (arrived == 1)
		CU_ASSERT_PTR_EQUAL(delay_line_take(from), &items[1]);
}

/* Items after the removed one arrive at their own times. */
static void test_take_from_an_arrival(void)
{
	begin(arrive_and_take);
	for (size_t i = 0; i < 3; i++)
		delay_line_push(&line, &items[i], (i + 1) * NS);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(arrived, 2);
	CU_ASSERT_PTR_EQUAL(order[1], &items[2]);
	CU_ASSERT_EQUAL(times[1], 3 * NS);
	CU_ASSERT_EQUAL(sim_events_fired(sim), 2);
	end();
}
