/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that the three engines give the same run. Random models schedule, cancel and reschedule
 * events of all priorities inside events, with delays from 0 to days. They run in slices of random
 * length with changes and stops in between. Each engine must give the same digest of (time, event),
 * and the same sim_now(), sim_next() and count after each slice. FUZZ_SEEDS in the environment sets
 * the number of models (default 800).
 */
#include <stdio.h>
#include <stdlib.h>

#include "sim/block.h"
#include "sim/random.h"
#include "sim/sim.h"
#include "tests/support/suite.h"

#define TESTS(TEST) TEST(random_models)
SUITE(TESTS)

#define BLOCKS 5
#define EVENTS 40
#define SLICES 40
#define FIRED  1500 /* a model that has fired this many events schedules nothing more */

static const struct block_type plain = {.name = "plain"};

struct model {
	struct sim *sim;
	struct random random;
	struct block blocks[BLOCKS];
	struct event events[EVENTS];
	uint64_t digest;
};

static struct model *model; /* the model that runs */

static void digest(uint64_t value)
{
	model->digest = (model->digest ^ value) * UINT64_C(0x100000001b3);
	model->digest ^= model->digest >> 29;
}

static sim_time random_delay(void)
{
	static const sim_time wheel_edges[] = {7,    8,     63,     64,      511, 512,
					       4096, 32768, 262144, 1 << 27, SEC};
	struct random *random = &model->random;

	switch (random_below(random, 6)) {
	case 0:
		return 0;
	case 1:
		return random_below(random, 4);
	case 2:
		return 83200 * random_below(random, 4);
	case 3:
		return wheel_edges[random_below(random, ARRAY_SIZE(wheel_edges))] -
		       random_below(random, 3);
	case 4:
		return random_below(random, 2 * US);
	default:
		return random_below(random, UINT64_C(1) << random_below(random, 46));
	}
}

static void random_edit(void)
{
	struct event *event = &model->events[random_below(&model->random, EVENTS)];
	uint64_t choice = random_below(&model->random, 8);

	if (event_pending(event)) {
		digest(event_time(event));
		if (choice > 3)
			return;
		sim_cancel(event);
		if (choice > 1)
			sim_schedule(event, random_delay());
	} else if (sim_events_fired(model->sim) < FIRED) {
		sim_schedule_at(event, sim_now(model->sim) + random_delay());
	}
}

static void fire(struct event *event)
{
	digest(sim_now(model->sim));
	digest((uint64_t)(event - model->events));
	for (uint64_t edits = random_below(&model->random, 5); edits > 0; edits--)
		random_edit();
	if (random_below(&model->random, 200) == 0)
		sim_stop(model->sim);
}

static void model_create(struct model *created, enum sim_engine engine, uint64_t seed)
{
	char name[24];

	model = created;
	model->sim = sim_create(engine, seed);
	model->digest = 0;
	random_init_named(&model->random, seed, "fuzz", "model");
	for (int i = 0; i < BLOCKS; i++) {
		snprintf(name, sizeof(name), "block%d", i);
		block_init(&model->blocks[i], model->sim, &plain, name, NULL, NULL);
	}
	for (int i = 0; i < EVENTS; i++)
		event_init_priority(&model->events[i],
				    &model->blocks[random_below(&model->random, BLOCKS)], fire,
				    (enum event_priority)random_below(&model->random, 8));
}

static void model_destroy(struct model *destroyed)
{
	for (int i = 0; i < BLOCKS; i++)
		block_fini(&destroyed->blocks[i]);
	sim_destroy(destroyed->sim);
}

static void run_slice(struct model *running, bool last)
{
	model = running;
	for (uint64_t edits = random_below(&model->random, 6); edits > 0; edits--)
		random_edit();
	digest(sim_next(model->sim));
	if (!last) {
		sim_run(model->sim, sim_now(model->sim) + random_delay());
	} else {
		while (sim_next(model->sim) != SIM_NEVER) /* again after each stop */
			sim_run(model->sim, SIM_NEVER);
	}
	digest(sim_now(model->sim));
	digest(sim_events_fired(model->sim));
}

/* The engines take turns slice by slice, so that several SystemC contexts are alive at a time. */
static uint64_t compare_engines(uint64_t seed)
{
	static struct model models[SIM_ENGINE_COUNT];
	uint64_t fired;

	for (unsigned engine = 0; engine < SIM_ENGINE_COUNT; engine++)
		model_create(&models[engine], (enum sim_engine)engine, seed);
	for (int slice = 0; slice < SLICES; slice++) {
		for (unsigned engine = 0; engine < SIM_ENGINE_COUNT; engine++)
			run_slice(&models[engine], slice == SLICES - 1);
		for (unsigned engine = 1; engine < SIM_ENGINE_COUNT; engine++) {
			if (models[engine].digest == models[0].digest)
				continue;
			printf("\nseed %llu, slice %d: engine %u differs from native\n",
			       (unsigned long long)seed, slice, engine);
			CU_FAIL_FATAL("engines differ");
		}
	}
	fired = sim_events_fired(models[0].sim);
	for (unsigned engine = 0; engine < SIM_ENGINE_COUNT; engine++)
		model_destroy(&models[engine]);
	return fired;
}

static void test_random_models(void)
{
	const char *text = getenv("FUZZ_SEEDS");
	uint64_t seeds = text != NULL ? strtoull(text, NULL, 10) : 800;
	uint64_t fired = 0;

	for (uint64_t seed = 1; seed <= seeds; seed++)
		fired += compare_engines(seed);
	printf(" %llu models, %llu events on each engine ", (unsigned long long)seeds,
	       (unsigned long long)fired);
	CU_ASSERT_TRUE(fired > seeds * FIRED / 2);
}
