/* SPDX-License-Identifier: Apache-2.0 */
/*
 * icm_cache: caches entries of one kind of context (QPC, CQC, SRQC, MPT, MTT) on the HCA, so that
 * most uses need no PCIe read. Every context cache of the adapter is an icm_cache.
 *
 *     user --lookup--> [ sets x ways ] --miss--> MSHR --pcie_read()--> ICM in host memory
 *       ^-----done-----------'  ^--------- fill --------------------------'
 *
 * A second miss on an entry in flight waits for the same read (a merge). When all MSHRs are in use,
 * further misses wait in order (a stall), and hits pass these misses. With write_back, a replaced
 * entry is written to ICM. The MSHR of the replacing miss stays in use until the write is done.
 *
 * A second level is one more icm_cache, NAME.second. It stands where PCIe stands for the first
 * level: misses of the first level are its lookups. A line that the first level replaces stays in
 * the second level. If it is gone from there, it is written to ICM.
 *
 *     user --lookup--> first level --miss--> second level --miss--> PCIe
 *
 * Caches may share a fetcher. It limits the misses in flight of all of its caches. When a miss
 * ends, waiting caches take turns.
 */
#ifndef HCA_CONTEXT_ICM_CACHE_H
#define HCA_CONTEXT_ICM_CACHE_H

#include "hca/context/icm_cache_params.h"
#include "hca/host/pcie.h"
#include "sim/gauge.h"

/* clang-format off */
#define ICM_CACHE_COUNTERS(X) \
	X(lookups, "lookups", \
	  "requested: hits + misses + merges, and lookups that still wait for an MSHR") \
	X(hits, "lookups", "served from the cache") \
	X(misses, "lookups", "that started a PCIe read") \
	X(merges, "lookups", "that joined a read in flight") \
	X(stalls, "lookups", "that waited because all MSHRs were in use") \
	X(fills, "lines", "read and kept") \
	X(stale, "lines", "invalidated during their read: served and not kept") \
	X(evictions, "lines", "replaced to make room") \
	X(write_backs, "lines", "replaced lines written to host memory") \
	X(invalidations, "lines", "invalidated by commands") \
	X(waiting_max, "lookups", "maximum number of lookups that waited for an MSHR at once")

#define ICM_CACHE_GAUGES(X) \
	X(port, BUSY, "lookups", "cache port, which responds to one lookup per interval") \
	X(mshrs, POOL, "MSHRs", "in use: reads and write-backs in flight")

#define ICM_CACHE_TRACE(X) \
	X(ICM_HIT, "number", "", "a lookup is served from the cache") \
	X(ICM_MISS, "number", "bytes", "a PCIe read starts") \
	X(ICM_MERGE, "number", "", "a lookup waits for a read in flight") \
	X(ICM_STALL, "number", "", "a lookup waits for an MSHR") \
	X(ICM_FILL, "number", "", "a read completes")
/* clang-format on */

struct icm_cache_counters {
	ICM_CACHE_COUNTERS(COUNTER_FIELD)
};

struct icm_cache_gauges {
	ICM_CACHE_GAUGES(GAUGE_FIELD)
};

/* One lookup. The caller owns it and must not change it until done(). */
struct icm_lookup {
	uint64_t number;                   /* in: number of the entry */
	uint32_t tag;                      /* in: the WQE it is for */
	bool hit;                          /* out: no PCIe read was necessary */
	void (*done)(struct icm_lookup *); /* in: called once, never from icm_cache_lookup() */
	/* the rest is private to icm_cache.c */
	struct event event;
	struct icm_lookup *next;
};

struct icm_cache;

/* A fetch unit shared by several caches. The creator of the caches owns it and sets its limit. */
struct icm_fetcher {
	uint64_t limit; /* misses in flight of all of its caches together */
	/* the rest is private to icm_cache.c */
	uint64_t under_way;
	struct icm_cache *caches; /* a ring, from the first cache to serve when a miss ends */
};

/*
 * Creates a cache. Copies `params`. `pcie` and `fetcher` must outlive the cache. If `fetcher` is
 * NULL, params->mshrs is the only limit. `module` names the module with the tags
 * (context_module.h); NULL or "": the built-in tags.
 */
struct icm_cache *icm_cache_create(struct sim *sim, const char *name, enum context_kind kind,
				   const struct icm_cache_params *params, struct pcie *pcie,
				   struct icm_fetcher *fetcher, const struct param_text *module);
void icm_cache_destroy(struct icm_cache *cache);

/*
 * Starts a lookup. done() is called hit_latency after now on a hit, or hit_latency after the end of
 * the read on a miss. A miss waits first while all MSHRs are in use.
 */
void icm_cache_lookup(struct icm_cache *cache, struct icm_lookup *lookup);

/*
 * Looks up an entry without an event, as a lookup that starts at `start` (now or later). Returns
 * true on a hit and writes the time of the response to `ready`. Returns false on a miss and counts
 * nothing. The caller then calls icm_cache_lookup().
 */
bool icm_cache_hit(struct icm_cache *cache, uint64_t number, uint32_t tag, sim_time start,
		   sim_time *ready);

/* Returns true if the entry is cached. Counts as a use, but not as a lookup. */
bool icm_cache_has(struct icm_cache *cache, uint64_t number);

/*
 * Invalidates the entries [first, first + count). A read in flight still serves its lookups, but
 * its entry is not kept.
 */
void icm_cache_invalidate(struct icm_cache *cache, uint64_t first, uint64_t count);

/* Returns the address of a line of entries in ICM. Each kind has its own range. */
uint64_t icm_cache_line_address(enum context_kind kind, const struct icm_cache_params *params,
				uint64_t line);

/*
 * Initialises a block as the block of a cache of `kind`, for users that count lookups and misses
 * themselves.
 */
void icm_cache_block_init(struct block *block, struct sim *sim, const char *name,
			  enum context_kind kind, const struct icm_cache_params *params,
			  const struct icm_cache_counters *count, struct icm_cache_gauges *gauge);

const struct icm_cache_counters *icm_cache_counters(const struct icm_cache *cache);

#endif
