/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine: the interface inside sim/ between the code that all engines share (sim.c: total
 * order, blocks, the API) and the code of each engine. No other folder includes it.
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
	const struct event *(*first)(struct sim *sim); /* returns NULL if no event is pending */
	/* Fires the events before `until`, and stops early if sim->stop is set. Leaves sim->now
	 * at the last event. */
	void (*run)(struct sim *sim, sim_time until);
};

struct sim {
	sim_time now;          /* first member: sim_now() reads it there */
	struct block *current; /* block whose event is firing; NULL outside of events */
	/* NULL for the native engine, whose functions are called directly */
	const struct engine_ops *ops;
	uint64_t fired;
	bool stop;
	sim_time limit; /* of engine_run_native(); parallel.c lowers it within events */
	enum sim_engine engine;
	uint32_t block_count; /* number of blocks ever created; the last id */
	struct block *first_block, *last_block;
	struct trace_file *trace; /* NULL if no trace is open */
	void *host;               /* state of the SystemC engines */
	uint64_t seed;
	uint32_t last_tag;
	sim_time first_loss; /* SIM_NEVER: no packet is lost */
	struct sim *root;    /* first LP of a parallel run; itself otherwise */
	struct lp *lp;       /* NULL if the run is sequential */
	unsigned lp_number;
	bool remote;        /* an LP that another process fires (ranks.h) */
	struct arena arena; /* of this LP */
	struct wheel wheel; /* used by the engines native and systemc */
};

#ifndef __cplusplus
_Static_assert(offsetof(struct sim, now) == 0, "sim_now() reads it there");
#endif

extern const struct engine_ops engine_systemc;
extern const struct engine_ops engine_systemc_reference;

/* Traces the block if its name is selected (trace.c). block_create() calls this function for a
 * block that is created while a trace is open. */
void trace_attach(struct trace_file *trace, struct block *block);

static inline void engine_fire(struct sim *sim, struct event *event)
{
	sim->now = event->key >> 3;
	sim->current = event->owner;
	sim->fired++;
	event->fire(event);
}

/* Fires the events before sim->limit, which begins as `until` (sim.c). Leaves sim->now at the last
 * event and sim->current at its block. */
void engine_run_native(struct sim *sim, sim_time until);

/* Functions of parallel.c. They take the first LP and act for all LPs. */
void parallel_run(struct sim *sim, sim_time until);
sim_time parallel_next(struct sim *sim);
uint64_t parallel_events_fired(const struct sim *sim);
void parallel_destroy(struct sim *sim);

#ifdef __cplusplus
}
#endif
#endif
