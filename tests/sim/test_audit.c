/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that each law of sim/audit.h finds a block that breaks it, and names block, law and values.
 * A law reports nothing about a correct block. Laws: utilisation, busy time of completions,
 * population, Little's law, order.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/audit.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                     \
	TEST(a_good_shop)               \
	TEST(busier_than_time)          \
	TEST(busy_for_nobody)           \
	TEST(more_than_room)            \
	TEST(less_than_none)            \
	TEST(pool_beyond_its_time)      \
	TEST(stays_of_those_gone)       \
	TEST(stays_of_those_inside)     \
	TEST(a_stay_told_ahead)         \
	TEST(stays_that_began_together) \
	TEST(a_stay_booked_again)       \
	TEST(out_of_order)
SUITE(TESTS)

/* clang-format off */
#define SHOP_GAUGES(X) \
	X(clerk, BUSY,   "customers", "serves") \
	X(seats, POOL,   "seats",     "taken") \
	X(line,  QUEUE,  "customers", "wait")
struct shop_gauges { SHOP_GAUGES(GAUGE_FIELD) };
/* clang-format on */

#define SERVICE 7

struct shop {
	struct block block;
	struct shop_gauges gauge;
	uint64_t served;
	struct audit_order line_order;
};

static void audit(struct block *block, FILE *out)
{
	struct shop *shop = container_of(block, struct shop, block);

	audit_service(block, out, &shop->gauge.clerk, shop->served, SERVICE);
	audit_order(block, out, &shop->line_order, "customers of a line");
}

static const struct block_type shop_type = {
	.name = "shop",
	.params = (const struct param[]){{0}},
	.gauges = (const struct gauge_info[]){SHOP_GAUGES(GAUGE_ENTRY){0}},
	.audit = audit,
};

static struct sim *sim;
static struct shop shop;

static void open_shop(void)
{
	sim = sim_create(SIM_ENGINE_native, 1);
	shop = (struct shop){0};
	block_init(&shop.block, sim, &shop_type, "shop", NULL, NULL);
	block_gauges(&shop.block, (struct gauge *)&shop.gauge);
	shop.gauge.clerk.capacity = 1;
	shop.gauge.seats.capacity = 4;
}

/* Checks that the audit reports exactly this text. "" means no report. */
static void expect(const char *wanted)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	unsigned violations = blocks_check(sim, out);

	fclose(out);
	CU_ASSERT_STRING_EQUAL(text, wanted);
	CU_ASSERT_EQUAL(violations, *wanted != '\0');
	free(text);
	block_fini(&shop.block);
	sim_destroy(sim);
}

static void serve(sim_time start)
{
	gauge_serve(&shop.gauge.clerk, start, SERVICE);
	shop.served++;
}

static void test_a_good_shop(void)
{
	open_shop();
	sim_run(sim, 10);
	serve(10);
	serve(17); /* booked: until 24 */
	gauge_enter(&shop.gauge.seats, 10, 4);
	gauge_enter(&shop.gauge.line, 10, 2);
	sim_run(sim, 12);
	gauge_left(&shop.gauge.line, 10, 12, 1);
	gauge_leave(&shop.gauge.seats, 12, 4);
	expect("");
}

static void test_busier_than_time(void)
{
	open_shop();
	sim_run(sim, 10);
	serve(0);
	serve(2);
	serve(5); /* until 12 */
	expect("shop: utilisation of clerk: busy for 21 ps of 12 ps\n");
}

static void test_busy_for_nobody(void)
{
	open_shop();
	sim_run(sim, 100);
	serve(20);
	shop.served++;
	expect("shop: utilisation of clerk: busy for 7 ps; expected 2 completions x 7 ps = 14 "
	       "ps\n");
}

static void test_more_than_room(void)
{
	open_shop();
	shop.gauge.seats.beyond = 1;
	gauge_enter(&shop.gauge.seats, 0, 6);
	gauge_leave(&shop.gauge.seats, 0, 6);
	expect("shop: population of seats: held 6 seats; expected at most 5\n");
}

static void test_less_than_none(void)
{
	open_shop();
	gauge_leave(&shop.gauge.line, 0, 3);
	gauge_enter(&shop.gauge.line, 0, 3);
	expect("shop: population of line: -3 customers; expected at least 0\n");
}

static void test_pool_beyond_its_time(void)
{
	open_shop();
	sim_run(sim, 10);
	gauge_serve(&shop.gauge.seats, 0, 41);
	shop.gauge.seats.until = 0;
	expect("shop: utilisation of seats: 41 seats x ps in use; expected at most 4 x 10 ps\n");
}

static void test_stays_of_those_gone(void)
{
	open_shop();
	gauge_enter(&shop.gauge.line, 0, 1);
	sim_run(sim, 30);
	gauge_left(&shop.gauge.line, 5, 30, 1); /* it came at 0 */
	expect("shop: Little's law of line: 30 customers x ps by level, but 25 by the stays of "
	       "departed items; 0 items remain\n");
}

/* Two items enter, at 0 and at 10. The item that leaves at 30 reports an entry at 25. The other
 * item would then have stayed for 45 of 30 ps. */
static void test_stays_of_those_inside(void)
{
	open_shop();
	gauge_enter(&shop.gauge.line, 0, 1);
	sim_run(sim, 10);
	gauge_enter(&shop.gauge.line, 10, 1);
	sim_run(sim, 30);
	gauge_left(&shop.gauge.line, 25, 30, 1);
	expect("shop: Little's law of line: 50 customers x ps by level, but 5 by the stays of "
	       "departed items; 1 items remain\n");
}

static void test_a_stay_told_ahead(void)
{
	open_shop();
	sim_run(sim, 10);
	gauge_enter(&shop.gauge.seats, 10, 4);
	gauge_booked(&shop.gauge.seats, 10, 60, 4);
	CU_ASSERT_EQUAL(gauge_area(&shop.gauge.seats, 10), 200);
	CU_ASSERT_EQUAL(shop.gauge.seats.until, 60);
	expect("");
}

static void test_stays_that_began_together(void)
{
	open_shop();
	sim_run(sim, 10);
	gauge_enter(&shop.gauge.seats, 10, 3);
	gauge_left_each(&shop.gauge.seats, 10, 60 + 70, 2);
	CU_ASSERT_EQUAL(gauge_area(&shop.gauge.seats, 90), 50 + 60 + 80);
	CU_ASSERT_EQUAL(shop.gauge.seats.stays, 110);
	gauge_left(&shop.gauge.seats, 10, 90, 1);
	sim_run(sim, 90);
	expect("");
}

static void test_a_stay_booked_again(void)
{
	open_shop();
	sim_run(sim, 10);
	gauge_stay(&shop.gauge.line, 2 * (60 - 10), 60);
	gauge_rebook(&shop.gauge.line, 60, 75);
	CU_ASSERT_EQUAL(gauge_area(&shop.gauge.line, 10), 115);
	CU_ASSERT_EQUAL(shop.gauge.line.stays, 115);
	CU_ASSERT_EQUAL(shop.gauge.line.until, 60);
	expect("");
}

static void test_out_of_order(void)
{
	open_shop();
	audit_order_expect(&shop.line_order, 5, 3, 1, 1);
	audit_order_expect(&shop.line_order, 7, 3, 2, 4);
	audit_order_expect(&shop.line_order, 9, 8, 5, 2); /* counted, not shown */
	expect("shop: order of customers of a line: number 4 of queue 3 at 7 ps; expected number "
	       "2; 2 violations\n");
}
