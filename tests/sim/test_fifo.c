/*
 * Proves that a FIFO keeps order over its wrap, refuses what does not fit and counts it, and wakes producer and consumer
 * at the same instant but never inside a call.
 */
#include <CUnit/Basic.h>

#include "sim/block.h"
#include "sim/fifo.h"

#define CAPACITY 3

static const struct block_type plain = {.name = "plain"};
static struct sim *sim;
static struct block block;
static struct fifo fifo;
static struct event on_data, on_space;
static unsigned data_wakes, space_wakes;

static void wake_consumer(struct event *event)
{
	(void)event;
	data_wakes++;
}

static void wake_producer(struct event *event)
{
	(void)event;
	space_wakes++;
}

static void begin(void)
{
	sim = sim_create(SIM_KERNEL_native, 1);
	block_init(&block, sim, &plain, "queue", NULL, NULL);
	event_init(&on_data, &block, wake_consumer);
	event_init(&on_space, &block, wake_producer);
	fifo_init(&fifo, sizeof(uint64_t), CAPACITY);
	fifo.on_data = &on_data;
	fifo.on_space = &on_space;
	data_wakes = space_wakes = 0;
}

static void end(void)
{
	fifo_fini(&fifo);
	block_fini(&block);
	sim_destroy(sim);
}

static void test_order(void)
{
	uint64_t in = 0, out = 0, item;

	begin();
	for (int round = 0; round < 10; round++) {
		while (fifo_push(&fifo, &in))
			in++;
		CU_ASSERT_TRUE(fifo_full(&fifo));
		CU_ASSERT_EQUAL(*(uint64_t *)fifo_first(&fifo), out);
		for (int i = 0; i < 2; i++) {
			CU_ASSERT_TRUE(fifo_pop(&fifo, &item));
			CU_ASSERT_EQUAL(item, out++);
		}
	}
	CU_ASSERT_EQUAL(in, CAPACITY + 9 * 2);
	CU_ASSERT_EQUAL(fifo.pushed, in);
	CU_ASSERT_EQUAL(fifo.stalls, 10);
	CU_ASSERT_EQUAL(fifo.count_max, CAPACITY);
	CU_ASSERT_TRUE(fifo_pop(&fifo, &item));
	CU_ASSERT_FALSE(fifo_pop(&fifo, &item));
	CU_ASSERT_PTR_NULL(fifo_first(&fifo));
	end();
}

static void test_wakes(void)
{
	uint64_t item = 7;

	begin();
	sim_run(sim, NS);
	for (int i = 0; i < CAPACITY; i++)
		CU_ASSERT_TRUE(fifo_push(&fifo, &item));
	CU_ASSERT_EQUAL(data_wakes, 0);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(data_wakes, 1);
	CU_ASSERT_EQUAL(sim_now(sim), NS);
	CU_ASSERT_TRUE(fifo_pop(&fifo, &item));
	CU_ASSERT_EQUAL(sim_next(sim), SIM_NEVER); /* nobody was refused */
	CU_ASSERT_TRUE(fifo_push(&fifo, &item));
	CU_ASSERT_FALSE(fifo_push(&fifo, &item));
	CU_ASSERT_TRUE(fifo_pop(&fifo, &item));
	CU_ASSERT_TRUE(fifo_pop(&fifo, &item));
	CU_ASSERT_EQUAL(space_wakes, 0);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(space_wakes, 1);
	CU_ASSERT_EQUAL(data_wakes, 1);
	end();
}

int main(void)
{
	CU_TestInfo tests[] = {{"order", test_order}, {"wakes", test_wakes}, CU_TEST_INFO_NULL};
	CU_SuiteInfo suites[] = {{"fifo", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

	CU_initialize_registry();
	CU_register_suites(suites);
	CU_basic_set_mode(CU_BRM_VERBOSE);
	CU_basic_run_tests();
	return CU_get_number_of_failures() != 0;
}
