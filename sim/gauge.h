/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gauge: a time-weighted utilisation statistic: how full a queue of a block was, how busy a
 * server was, how long requests waited for space. A gauge is an integral over time, unlike a
 * gauge of Prometheus, which is a momentary value. Gauges need no events. A change costs two
 * additions: an item that enters subtracts its time from the sum, and an item that leaves adds
 * it. Between two changes the sum therefore lacks level * now, which gauge_area() adds.
 *
 *     #define DMA_GAUGES(X) \
 *             X(gathers, POOL, "transfers", "Transfers from host to HCA in progress.")
 *     struct dma_gauges { DMA_GAUGES(GAUGE_FIELD) };
 *     .gauges = (const struct gauge_info[]){DMA_GAUGES(GAUGE_ENTRY) {0}}    (in the block's type)
 *     block_gauges(&engine->block, (struct gauge *)&engine->gauge);         (after block_init())
 *
 * Counter files and `hcasim explain --bottleneck` read gauges.
 * docs/explanation/latency-and-bottlenecks.md explains them. Each check of the blocks applies
 * the laws of sim/audit.h to all gauges.
 */
#ifndef SIM_GAUGE_H
#define SIM_GAUGE_H

#include "sim/block.h"

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
/* kind, and the use that is reported for it, as a share of the time with work */
#define GAUGE_KINDS(X) \
	X(BUSY, "A server. Its use is the share of time for which it was busy.") \
	X(POOL, \
	  "A limited number of places. Its use is the share of time for which a request waited " \
	  "for a place.") \
	X(SHARE, \
	  "A limit of each queue pair. Its use is the share of queue pairs with work that it " \
	  "delayed.") \
	X(WORK, "Queue pairs with work. It measures the time in which any queue pair had work.") \
	X(QUEUE, "Items that wait for another resource. It has no use of its own.")

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
	uint64_t area;    /* unit x ps, less level * now; for BUSY: ps of service */
	uint64_t stalled; /* ps in which a request waited, less `now` while one waits */
	uint64_t level, level_max;
	uint64_t capacity; /* places, or number of servers; 0 for no limit */
	uint64_t beyond;   /* amount by which the last entry may exceed the capacity */
	uint64_t stays;    /* unit x ps: total stay of departed items, counted at entry times */
	sim_time until;    /* end of the last service or stay that is booked */
	bool waits;        /* a request waits */
	bool timed;        /* every item reports its entry time: gauge_left() */
};

static inline void gauge_enter(struct gauge *gauge, sim_time now, uint64_t amount)
{
	gauge->area -= amount * now;
	gauge->level += amount;
	if (gauge->level > gauge->level_max)
		gauge->level_max = gauge->level;
}

/* Removes `amount` at the time `at`, which is now or the future time of departure. */
static inline void gauge_leave(struct gauge *gauge, sim_time at, uint64_t amount)
{
	gauge->area += amount * at;
	gauge->level -= amount;
	if (gauge->level > gauge->level_max) /* below zero: the audit reports it */
		gauge->level_max = gauge->level;
}

/* Removes an item that knows the time at which it entered. A gauge uses either this function
 * for all items, or never. */
static inline void gauge_left(struct gauge *gauge, sim_time entered, sim_time at, uint64_t amount)
{
	gauge->stays += amount * (at - entered);
	gauge->timed = true;
	gauge_leave(gauge, at, amount);
}

/* Removes `count` items of amount 1 that entered at the same time, as gauge_left() does. `times` is
 * the sum of the times at which they depart. */
static inline void gauge_left_each(struct gauge *gauge, sim_time entered, uint64_t times,
				   uint64_t count)
{
	gauge->area += times;
	gauge_left(gauge, entered, 0, count);
	gauge->stays += times;
}

/* Removes an item as gauge_left() does, at the booked time `at` that may lie in the future. */
static inline void gauge_booked(struct gauge *gauge, sim_time entered, sim_time at, uint64_t amount)
{
	gauge_left(gauge, entered, at, amount);
	if (at > gauge->until)
		gauge->until = at;
}

/* Adds items whose departures are known when they enter. `stay` is their stay in total, in unit x
 * ps, and `at` the time of the last departure. The items do not count for level_max. */
static inline void gauge_stay(struct gauge *gauge, uint64_t stay, sim_time at)
{
	gauge->area += stay;
	gauge->stays += stay;
	gauge->timed = true;
	if (at > gauge->until)
		gauge->until = at;
}

/* Moves a booked departure of one item from the time `from` to the time `to`. */
static inline void gauge_rebook(struct gauge *gauge, sim_time from, sim_time to)
{
	gauge->area += to - from;
	gauge->stays += to - from;
}

/* Adds one service of `duration` that starts at `start`, now or later. */
static inline void gauge_serve(struct gauge *gauge, sim_time start, sim_time duration)
{
	gauge->area += duration;
	if (start + duration > gauge->until)
		gauge->until = start + duration;
}

/* Records whether any request waits for this resource, from `now` on. */
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

const char *gauge_kind_name(enum gauge_kind kind); /* returns "POOL" */

/* Returns the gauges of a block, after the block has brought them up to date. Returns NULL if
 * the block has none. */
const struct gauge *gauges_read(struct block *block);

#ifdef __cplusplus
}
#endif
#endif
