/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine: the border inside sim/ between what all engines share (sim.c: total order, blocks, the
 * API) and what each does in its own way. Nobody outside sim/ includes it.
 *
 *     sim.c --native: direct calls--> wheel.c, in several threads: parallel.c
 *           --ops------------------> systemc_engine.cpp, systemc_reference.cpp
 */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include "sim/arena.h"
#include "sim/block.h"
#include "sim/sim.h"
#include "sim/wheel.h"

#ifdef __cplusplus
extern "C" {
#endif

struct engine_ops {
	void (*init)(struct sim *sim);
	void (*fini)(struct sim *sim);
	void (*insert)(struct sim *sim, struct event *event); /* key and order are set */
	void (*cancel)(struct sim *sim, struct event *event);
	const struct event *(*first)(struct sim *sim); /* NULL: nothing is pending */
	/* Fires what is before `until` and stops early when sim->stop is set; leaves sim->now at
	 * the last event. */
	void (*run)(struct sim *sim, sim_time until);
};

struct sim {
	sim_time now;                 /* first: sim_now() */
	struct block *current;        /* whose event is firing; NULL outside of events */
	const struct engine_ops *ops; /* NULL: native, which is called directly */
	uint64_t fired;
	bool stop;
	enum sim_engine engine;
	uint32_t block_count; /* ever created: the last id */
	struct block *first_block, *last_block;
	struct trace_file *trace; /* NULL: no trace is open */
	void *host;               /* of the SystemC engines */
	uint64_t seed;
	uint32_t last_tag;
	struct sim *root; /* of a parallel run: its first LP; else this */
	struct lp *lp;    /* NULL: the run is sequential */
	unsigned lp_number;
	struct arena arena; /* of a parallel run: its first LP's, for all */
	struct wheel wheel; /* of the engines native and systemc */
};

#ifndef __cplusplus
_Static_assert(offsetof(struct sim, now) == 0, "sim_now() reads it there");
#endif

extern const struct engine_ops engine_systemc;
extern const struct engine_ops engine_systemc_reference;

/* trace.c: a block created while a trace is open enters it if its name is selected. */
void trace_attach(struct trace_file *trace, struct block *block);

static inline void engine_fire(struct sim *sim, struct event *event)
{
	sim->now = event->key >> 3;
	sim->current = event->owner;
	sim->fired++;
	event->fire(event);
}

/* sim.c: what is before `until`; leaves sim->now at the last event, sim->current at its block. */
void engine_run_native(struct sim *sim, sim_time until);

/* parallel.c: of the first LP, for all */
void parallel_run(struct sim *sim, sim_time until);
sim_time parallel_next(const struct sim *sim);
uint64_t parallel_events_fired(const struct sim *sim);
void parallel_destroy(struct sim *sim);

#ifdef __cplusplus
}
#endif
#endif
