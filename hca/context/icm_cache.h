/* SPDX-License-Identifier: Apache-2.0 */
/*
 * icm_cache: entries of one kind of context (QPC, CQC, SRQC, MPT, MTT) kept on the HCA, so that
 * most uses cost no PCIe read. All context caches of the adapter are this one.
 *
 *     user --lookup--> [ sets x ways ] --miss--> miss slot --pcie_read()--> ICM in host memory
 *       ^-----done-----------'  ^--------- fill --------------------------------'
 *
 * A second miss on an entry that is under way waits for the same read (a merge). When all miss
 * slots are busy, further misses wait in order (a stall); hits pass them. What
 * write_back says is changed by use is written to ICM when it is replaced; the slot of the miss that
 * replaced it is busy until that write is done. Caches may share the unit that fetches: then their misses in flight are
 * limited together, and when one ends, caches that wait take turns.
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

/* The caller owns it and leaves it alone until done(). */
struct icm_lookup {
	uint64_t number;                   /* in: of the entry */
	uint32_t tag;                      /* in: the WQE it is for */
	bool hit;                          /* out: no PCIe read was waited for */
	void (*done)(struct icm_lookup *); /* in: called once, never from icm_cache_lookup() */
	/* the rest is private to icm_cache.c */
	struct event event;
	struct icm_lookup *next;
};

struct icm_cache;

/* What fetches for several caches; who creates them owns it and sets limit. */
struct icm_fetcher {
	uint64_t limit; /* misses in flight of all of its caches together */
	/* the rest is private to icm_cache.c */
	uint64_t under_way;
	struct icm_cache *caches; /* a ring: who is asked first when one ends */
};

/* params are copied; PCIe and fetcher outlive it. fetcher NULL: params->mshrs is its only limit. */
struct icm_cache *icm_cache_create(struct sim *sim, const char *name, enum context_kind kind,
				   const struct icm_cache_params *params, struct pcie *pcie,
				   struct icm_fetcher *fetcher);
void icm_cache_destroy(struct icm_cache *cache);

/* done() comes hit_latency from now on, or that long after a miss was read; later if all misses are taken. */
void icm_cache_lookup(struct icm_cache *cache, struct icm_lookup *lookup);

/*
 * A hit without an event, for who goes on at *ready anyway: the same as a lookup that
 * starts at `start` (now or later). false: a miss, and nothing has happened or been counted; call
 * icm_cache_lookup().
 */
bool icm_cache_hit(struct icm_cache *cache, uint64_t number, uint32_t tag, sim_time start,
		   sim_time *ready);

/* Is it at hand? Counts as its use, and as no lookup. */
bool icm_cache_has(struct icm_cache *cache, uint64_t number);

/* Forgets entries [first, first + count). A read in flight for one still serves its lookups, but is not kept. */
void icm_cache_invalidate(struct icm_cache *cache, uint64_t first, uint64_t count);

/* Where a line of entries is in ICM; each kind has a range of its own. */
uint64_t icm_line_address(enum context_kind kind, const struct icm_cache_params *params,
			  uint64_t line);

/* A block as a cache of that kind has it, for who counts its lookups and misses otherwise. */
void icm_block_init(struct block *block, struct sim *sim, const char *name, enum context_kind kind,
		    const struct icm_cache_params *params, const struct icm_cache_counters *count,
		    struct icm_cache_gauges *gauge);

const struct icm_cache_counters *icm_cache_counters(const struct icm_cache *cache);

#endif
