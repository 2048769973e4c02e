/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wqe_cache: which lines of 64 B of the queues' rings are on the adapter. All queues of a kind (send, or receive) share one; what
 * a line says, its queue knows, and here is only whether it has to be read over PCIe once more.
 *
 *     wqe_fetch, receive_queue --wqe_cache_has(), _fill()--> [ sets x ways ]
 *
 * One use of a WQE is one lookup: a hit, a miss that starts a read, or a merge, which waits for a read under way.
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

enum wqe_outcome { WQE_CACHE_HIT, WQE_CACHE_MISS, WQE_CACHE_MERGE }; /* as the trace points */

struct wqe_cache;

/* NULL: params->entries is 0. */
struct wqe_cache *wqe_cache_create(struct sim *sim, const char *name,
				   const struct wqe_cache_params *params);
void wqe_cache_destroy(struct wqe_cache *cache);

/* A ring of so many bytes: the number of its first line; others follow. */
uint64_t wqe_cache_add_ring(struct wqe_cache *cache, uint64_t bytes);

/* Are all of them here? That is no use: what was used is the first to go. */
bool wqe_cache_has(const struct wqe_cache *cache, uint64_t line, uint32_t count);

/* Is it here? It counts as just read. */
bool wqe_cache_want(struct wqe_cache *cache, uint64_t line);

/* One lookup, of a WQE that begins in that line. */
void wqe_cache_looked_up(struct wqe_cache *cache, enum wqe_outcome outcome, uint64_t line,
			 uint32_t tag);

/* That miss is of a WQE that had been here. */
void wqe_cache_lost(struct wqe_cache *cache);

/* A fetch found so many lines, and reads so many of which no WQE is used yet. */
void wqe_cache_fetched(struct wqe_cache *cache, uint32_t spared, uint32_t ahead);

/* They were read; those that are here already stay. */
void wqe_cache_fill(struct wqe_cache *cache, uint64_t line, uint32_t count);

/* Their WQEs are used up, or gone. */
void wqe_cache_forget(struct wqe_cache *cache, uint64_t line, uint64_t count);

/* Of a hit: from the lookup to the WQE. */
sim_time wqe_cache_latency(const struct wqe_cache *cache);
const struct wqe_cache_counters *wqe_cache_counters(const struct wqe_cache *cache);

#endif
