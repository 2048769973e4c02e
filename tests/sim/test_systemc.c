/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that a SystemC module and C models interleave at exact times on the engines systemc and
 * systemc-reference. Requests cross at their time; responses and ticks return after the models'
 * events of the same instant, in slices and in one run.
 */
#include <stdio.h>
#include <string.h>

#include "sim/block.h"
#include "sim/systemc.h"
#include "tests/sim/support/echo_module.h"
#include "tests/support/suite.h"

#define TESTS(TEST)        \
	TEST(interleaving) \
	TEST(native_has_no_systemc)
SUITE(TESTS)

#define REQUESTS 20

static const struct block_type plain = {.name = "plain"};

static struct sim *sim;
static struct block model, bridge;
static struct event work, request, answer, tick;
static struct echo_ports ports;
static unsigned requests;
static char log_text[8192];

static void note(char what)
{
	size_t used = strlen(log_text);

	snprintf(log_text + used, sizeof(log_text) - used, "%c%llu ", what,
		 (unsigned long long)sim_now(sim));
}

static void do_work(struct event *event)
{
	note('w');
	if (requests < REQUESTS)
		sim_schedule(event, 5 * NS);
}

static void send_request(struct event *event)
{
	(void)event;
	CU_ASSERT_EQUAL(echo_module_now(), sim_now(sim));
	note('r');
	requests++;
	echo_module_request(ports.module);
}

static void take_answer(struct event *event)
{
	(void)event;
	note('a');
	if (requests < REQUESTS)
		sim_schedule(&request, 3 * NS);
}

static void take_tick(struct event *event)
{
	(void)event;
	note('t');
}

static void begin(enum sim_engine engine)
{
	sim = sim_create(engine, 1);
	block_init(&model, sim, &plain, "model", NULL, NULL);
	block_init(&bridge, sim, &plain, "bridge", NULL, NULL);
	event_init(&work, &model, do_work);
	event_init_priority(&request, &model, send_request, PRIORITY_SYSTEMC);
	event_init_priority(&answer, &bridge, take_answer, PRIORITY_EXTERNAL);
	event_init_priority(&tick, &bridge, take_tick, PRIORITY_EXTERNAL);
	ports = (struct echo_ports){.answer = &answer,
				    .tick = &tick,
				    .latency = 7 * NS,
				    .period = 10 * NS,
				    .ticks = 15};
	requests = 0;
	memset(log_text, 0, sizeof(log_text));
	CU_ASSERT_TRUE(systemc_call(sim, echo_module_create, &ports));
	sim_schedule(&work, 0);
	sim_schedule(&request, 2 * NS);
}

static void end(void)
{
	CU_ASSERT_TRUE(systemc_call(sim, echo_module_destroy, &ports));
	block_fini(&bridge);
	block_fini(&model);
	sim_destroy(sim);
}

static void test_interleaving(void)
{
	static char expected[sizeof(log_text)];

	for (unsigned engine = SIM_ENGINE_systemc; engine <= SIM_ENGINE_systemc_reference;
	     engine++) {
		for (sim_time slice = 1 * NS; slice <= 1000 * NS; slice *= 1000) {
			begin((enum sim_engine)engine);
			while (sim_now(sim) < 1000 * NS)
				sim_run(sim, sim_now(sim) + slice);
			end();
			if (expected[0] == '\0')
				memcpy(expected, log_text, sizeof(expected));
			CU_ASSERT_STRING_EQUAL(log_text, expected);
		}
	}
	/* The request of 2 ns is answered at 9 ns; the next at 12 + 7; the tick at 10 follows the
	 * work at 10. */
	CU_ASSERT_EQUAL(
		strncmp(expected,
			"w0 r2000 w5000 a9000 w10000 t10000 r12000 w15000 a19000 w20000 t20000 ",
			70),
		0);
	CU_ASSERT_PTR_NOT_NULL(strstr(expected, " t150000 "));
	CU_ASSERT_PTR_NULL(strstr(expected, " t160000 "));
	CU_ASSERT_EQUAL(requests, REQUESTS);
}

static void test_native_has_no_systemc(void)
{
	struct sim *native = sim_create(SIM_ENGINE_native, 1);

	CU_ASSERT_FALSE(systemc_call(native, echo_module_create, &ports));
	sim_destroy(native);
}
