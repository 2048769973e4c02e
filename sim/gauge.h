/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gauge: a time-weighted utilisation statistic: how full a queue of a block was, how busy a server, how long requests waited
 * for room. It is an integral over time; a gauge of Prometheus is a momentary value. The sums are kept without
 * events. A change costs two additions: what enters takes its time off the sum, what leaves adds it, so between
 * two changes the sum lacks level * now, which readers add (gauge_area()).
 *
 *     #define DMA_GAUGES(X)                                                                             \
 *             X(gathers, POOL, "transfers", "host to HCA, under way")
 *     struct dma_gauges { DMA_GAUGES(GAUGE_FIELD) };
 *     .gauges = (const struct gauge_info[]){DMA_GAUGES(GAUGE_ENTRY) {0}}    (in the block's type)
 *     block_gauges(&engine->block, (struct gauge *)&engine->gauge);          (behind block_init())
 *
 * Counters files and `hcasim explain --bottleneck` read them; docs/explanation/latency-and-bottlenecks.md explains. Every check of blocks holds gauges to the
 * laws of sim/audit.h.
 */
#ifndef SIM_GAUGE_H
#define SIM_GAUGE_H

#include "sim/block.h"

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
/*        kind    what its use is, of the time in which there was work */
#define GAUGE_KINDS(X)                                                                                    \
	X(BUSY,   "serves: how busy it was")                                                              \
	X(POOL,   "has room for so many: how long somebody waited for room")                              \
	X(SHARE,  "a limit of each queue pair: how many of those with work it held up")                   \
	X(WORK,   "queue pairs with work; the time in which there was any")                               \
	X(QUEUE,  "waits for something else: none")

#define GAUGE_KIND_ENUM(kind, meaning) GAUGE_##kind,
enum gauge_kind { GAUGE_KINDS(GAUGE_KIND_ENUM) GAUGE_KIND_COUNT };

/* X(field, KIND, unit, meaning) */
#define GAUGE_FIELD(field, kind, unit, meaning) struct gauge field;
#define GAUGE_ENTRY(field, kind, unit, meaning) {#field, GAUGE_##kind, unit, meaning},
/* clang-format on */

struct gauge_info {
	const char *name;
	enum gauge_kind kind;
	const char *unit;
	const char *meaning;
};

struct gauge {
	uint64_t area;    /* unit x ps, less level * now; BUSY: ps of service */
	uint64_t stalled; /* ps in which somebody waited, less now while somebody does */
	uint64_t level, level_max;
	uint64_t capacity; /* room, or servers; 0: no limit */
	uint64_t beyond;   /* the last that entered may exceed the capacity by so much */
	uint64_t stays;    /* unit x ps: how long those that left were there, by their own times */
	sim_time until;    /* the end of the last service, or stay, that is booked */
	bool waits;        /* somebody does */
	bool timed;        /* all that leaves tells its time: gauge_left() */
};

static inline void gauge_enter(struct gauge *gauge, sim_time now, uint64_t amount)
{
	gauge->area -= amount * now;
	gauge->level += amount;
	if (gauge->level > gauge->level_max)
		gauge->level_max = gauge->level;
}

/* at: now, or the time to come at which it will have left */
static inline void gauge_leave(struct gauge *gauge, sim_time at, uint64_t amount)
{
	gauge->area += amount * at;
	gauge->level -= amount;
	if (gauge->level > gauge->level_max) /* below zero: seen by the audit */
		gauge->level_max = gauge->level;
}

/* The same for what keeps the time at which it entered. One gauge is left in this way alone, or never. */
static inline void gauge_left(struct gauge *gauge, sim_time entered, sim_time at, uint64_t amount)
{
	gauge->stays += amount * (at - entered);
	gauge->timed = true;
	gauge_leave(gauge, at, amount);
}

/* start: of the service, now or later */
static inline void gauge_serve(struct gauge *gauge, sim_time start, sim_time duration)
{
	gauge->area += duration;
	if (start + duration > gauge->until)
		gauge->until = start + duration;
}

/* From now on somebody waits, or nobody does. */
static inline void gauge_wait(struct gauge *gauge, sim_time now, bool waits)
{
	if (waits == gauge->waits)
		return;
	gauge->waits = waits;
	gauge->stalled += waits ? -now : now;
}

static inline uint64_t gauge_area(const struct gauge *gauge, sim_time now)
{
	return gauge->area + gauge->level * now;
}

static inline uint64_t gauge_stalled(const struct gauge *gauge, sim_time now)
{
	return gauge->stalled + (gauge->waits ? now : 0);
}

const char *gauge_kind_name(enum gauge_kind kind); /* "POOL" */

/* The gauges of a block for a reader: what the block derives from its counters is up to date then. NULL: none. */
const struct gauge *gauges_read(struct block *block);

#ifdef __cplusplus
}
#endif
#endif
