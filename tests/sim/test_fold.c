/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests folds of a run's state: the same state at two times is the same, and each member that no
 * field excludes, each pending event and its order make a difference. Counters and gauges do not,
 * and grow by repetition.
 */
#include "sim/fold.h"
#include <string.h>

#include "tests/support/suite.h"

#define TESTS(TEST)      \
	TEST(times)      \
	TEST(members)    \
	TEST(pending)    \
	TEST(repetition) \
	TEST(refusal)
SUITE(TESTS)

/* clang-format off */
#define SHOP_COUNTERS(X) X(sold, "goods", "sold")
#define SHOP_GAUGES(X)   X(line, QUEUE, "customers", "wait")
struct shop_counters { SHOP_COUNTERS(COUNTER_FIELD) };
struct shop_gauges { SHOP_GAUGES(GAUGE_FIELD) };
/* clang-format on */

struct shop {
	uint64_t stock;
	sim_time closes_at, opened_at;
	struct event event, other;
	struct block block;
	struct shop_counters count;
	struct shop_gauges gauge;
	bool refuses;
};

static void fold_shop(struct block *block, struct fold *fold)
{
	static const struct fold_field fields[] = {
		FOLD_FIELD(struct shop, closes_at, FOLD_DEADLINE),
		FOLD_FIELD(struct shop, opened_at, FOLD_SINCE),
		FOLD_FIELD(struct shop, event, FOLD_SKIP),
		FOLD_FIELD(struct shop, other, FOLD_SKIP),
		FOLD_FIELD(struct shop, block, FOLD_SKIP),
		FOLD_FIELD(struct shop, count, FOLD_SKIP),
		FOLD_FIELD(struct shop, gauge, FOLD_SKIP),
	};
	const struct shop *shop = container_of(block, const struct shop, block);

	if (shop->refuses)
		fold_refuse(fold, "%s is secret", block->name);
	fold_struct(fold, shop, sizeof(*shop), fields, ARRAY_SIZE(fields));
}

static const struct block_type shop_type = {
	.name = "shop",
	.params = (const struct param[]){{0}},
	.counters = (const struct counter[]){SHOP_COUNTERS(COUNTER_ENTRY){0}},
	.gauges = (const struct gauge_info[]){SHOP_GAUGES(GAUGE_ENTRY){0}},
	.fold = fold_shop,
};

static struct sim *sim;
static struct shop shop;
static struct fold folds[2];

static void fire(struct event *event)
{
	(void)event;
}

static void begin(void)
{
	sim = sim_create(SIM_ENGINE_native, 1);
	memset(&shop, 0, sizeof(shop));
	shop.closes_at = shop.opened_at = SIM_NEVER;
	block_init(&shop.block, sim, &shop_type, "shop", NULL, (const uint64_t *)&shop.count);
	block_gauges(&shop.block, (struct gauge *)&shop.gauge);
	event_init(&shop.event, &shop.block, fire);
	event_init(&shop.other, &shop.block, fire);
}

static void end(void)
{
	fold_fini(&folds[0]);
	fold_fini(&folds[1]);
	sim_cancel(&shop.event);
	sim_cancel(&shop.other);
	block_fini(&shop.block);
	sim_destroy(sim);
}

/* Compares the state now with that of the first fold. */
static bool is_same(void)
{
	CU_ASSERT_TRUE_FATAL(fold_take(&folds[1], sim, NULL));
	return fold_equal(&folds[0], &folds[1]);
}

static void test_times(void)
{
	begin();
	shop.closes_at = 15;
	shop.opened_at = 5;
	sim_run(sim, 10);
	CU_ASSERT_TRUE_FATAL(fold_take(&folds[0], sim, NULL));
	sim_run(sim, 20);
	CU_ASSERT_FALSE(is_same());
	CU_ASSERT_STRING_EQUAL(folds[1].differs, "shop");
	shop.closes_at = 25;
	CU_ASSERT_FALSE(is_same());
	shop.opened_at = 15;
	CU_ASSERT_TRUE(is_same());
	shop.closes_at = 3; /* how long ago does not matter */
	CU_ASSERT_TRUE(fold_take(&folds[0], sim, NULL));
	shop.closes_at = 4;
	CU_ASSERT_TRUE(is_same());
	end();
}

static void test_members(void)
{
	begin();
	CU_ASSERT_TRUE_FATAL(fold_take(&folds[0], sim, NULL));
	shop.count.sold = 7;
	gauge_enter(&shop.gauge.line, 0, 2);
	CU_ASSERT_TRUE(is_same());
	shop.stock = 1;
	CU_ASSERT_FALSE(is_same());
	CU_ASSERT_TRUE(fold_take(&folds[1], sim, &folds[0]));
	CU_ASSERT_FALSE(fold_equal(&folds[0], &folds[1]));
	end();
}

static void test_pending(void)
{
	begin();
	sim_schedule(&shop.event, 5);
	sim_schedule(&shop.other, 5);
	CU_ASSERT_TRUE_FATAL(fold_take(&folds[0], sim, NULL));
	sim_run(sim, 10);
	CU_ASSERT_FALSE(is_same());
	CU_ASSERT_STRING_EQUAL(folds[1].differs, "pending events");
	sim_schedule(&shop.other, 5);
	sim_schedule(&shop.event, 5);
	CU_ASSERT_FALSE(is_same()); /* the order differs */
	sim_cancel(&shop.other);
	sim_schedule(&shop.other, 5);
	CU_ASSERT_TRUE(is_same());
	sim_cancel(&shop.other);
	sim_schedule(&shop.other, 5 * MS); /* in a far slot of the wheel */
	CU_ASSERT_FALSE(is_same());
	end();
}

static void test_repetition(void)
{
	begin();
	gauge_enter(&shop.gauge.line, 0, 1);
	CU_ASSERT_TRUE_FATAL(fold_take(&folds[0], sim, NULL));
	sim_run(sim, 100);
	shop.count.sold = 3;
	CU_ASSERT_TRUE(is_same());
	fold_repeat(&folds[0], &folds[1], sim, 4);
	CU_ASSERT_EQUAL(sim_now(sim), 500);
	CU_ASSERT_EQUAL(shop.count.sold, 15);
	CU_ASSERT_EQUAL(gauge_area(&shop.gauge.line, 500), 500);
	end();
}

static void test_refusal(void)
{
	begin();
	shop.refuses = true;
	CU_ASSERT_FALSE(fold_take(&folds[0], sim, NULL));
	CU_ASSERT_STRING_EQUAL(folds[0].reason, "shop is secret");
	shop.refuses = false;
	CU_ASSERT_TRUE(fold_take(&folds[0], sim, NULL));
	end();
}
