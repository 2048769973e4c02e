/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wqe_cache: the tags of the 64-byte lines of the rings that are cached on the adapter. All send
 * queues share one cache, and all receive queues share another. The queue holds the contents of a
 * line. The cache only decides whether a line must be read over PCIe again.
 *
 *     wqe_fetch, receive_queue --wqe_cache_has(), _fill()--> [ sets x ways ]
 *
 * Each use of a WQE is one lookup: a hit, a miss that starts a read, or a merge that waits for a
 * read in flight.
 */
#ifndef HCA_WORK_WQE_CACHE_H
#define HCA_WORK_WQE_CACHE_H

#include "hca/work/wqe_cache_params.h"
#include "sim/sim.h"

#define WQE_LINE_BYTES 64

/* clang-format off */
#define WQE_CACHE_COUNTERS(X) \
	X(lookups, "lookups", "lookups of WQEs before their use: hits + misses + merges") \
	X(hits, "lookups", "with all lines in the cache") \
	X(misses, "lookups", "that started a PCIe read") \
	X(merges, "lookups", "that waited for a read in flight") \
	X(lost, "lookups", "misses whose lines were replaced before use") \
	X(prefetches, "lines", "read before their use") \
	X(spared, "lines", "not read because a fetch of several lines found them in the cache") \
	X(fills, "lines", "filled") \
	X(evictions, "lines", "replaced to make room")

#define WQE_CACHE_TRACE(X) \
	X(WQE_HIT, "line", "", "a WQE is used from the cache") \
	X(WQE_MISS, "line", "", "a PCIe read starts") \
	X(WQE_MERGE, "line", "", "a lookup waits for a read in flight")
/* clang-format on */

struct wqe_cache_counters {
	WQE_CACHE_COUNTERS(COUNTER_FIELD)
};

/* same order as the trace points */
enum wqe_outcome { WQE_CACHE_HIT, WQE_CACHE_MISS, WQE_CACHE_MERGE };

struct wqe_cache;

/* Creates a cache. Returns NULL if params->entries is 0. */
struct wqe_cache *wqe_cache_create(struct sim *sim, const char *name,
				   const struct wqe_cache_params *params);
void wqe_cache_destroy(struct wqe_cache *cache);

/* Adds a ring of `bytes` bytes. Returns the number of its first line; its other lines follow. */
uint64_t wqe_cache_add_ring(struct wqe_cache *cache, uint64_t bytes);

/* Returns true if all lines are cached. Does not count as a use. */
bool wqe_cache_has(const struct wqe_cache *cache, uint64_t line, uint32_t count);

/* Returns true if the line is cached. Counts as a use. */
bool wqe_cache_want(struct wqe_cache *cache, uint64_t line);

/* Counts and traces one lookup of a WQE that begins in that line. */
void wqe_cache_looked_up(struct wqe_cache *cache, enum wqe_outcome outcome, uint64_t line,
			 uint32_t tag);

/* Counts that the WQE of a miss was cached before. */
void wqe_cache_lost(struct wqe_cache *cache);

/* Counts the lines of a fetch: `spared` lines were cached, and `ahead` lines are read before any
 * WQE in them is used. */
void wqe_cache_fetched(struct wqe_cache *cache, uint32_t spared, uint32_t ahead);

/* Inserts lines that were read. Cached lines stay. */
void wqe_cache_fill(struct wqe_cache *cache, uint64_t line, uint32_t count);

/* Removes lines whose WQEs are complete or dropped. */
void wqe_cache_forget(struct wqe_cache *cache, uint64_t line, uint64_t count);

/* Returns the time from the lookup to the WQE on a hit. */
sim_time wqe_cache_latency(const struct wqe_cache *cache);
const struct wqe_cache_counters *wqe_cache_counters(const struct wqe_cache *cache);

#endif
