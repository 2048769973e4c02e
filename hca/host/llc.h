/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llc: the last level cache of a socket and the memory behind it, as DMA and CPUs use them. DMA reads take lines from where
 * they are and leave the cache as it is; DMA writes change lines in place or take one of the ways that DDIO has, or, without
 * DDIO, go to memory, and the cache has these lines no more; CPUs use all ways. Memory has a latency and a rate, which misses and written-back lines share.
 *
 *     host --llc_read(), llc_write()--> lines --miss, write-back--> memory
 */
#ifndef HCA_HOST_LLC_H
#define HCA_HOST_LLC_H

#include "hca/host/host_params.h"

struct llc;

enum { LLC_LINE_BYTES = 64 };

/* clang-format off */
#define LLC_COUNTERS(X) \
	X(lookups, "lines", "looked up by DMA") \
	X(hits, "lines", "found in the cache by DMA") \
	X(misses, "lines", "not found in the cache by DMA") \
	X(allocations, "lines", "allocated by DMA writes, in the ways of DDIO") \
	X(write_backs, "lines", "modified lines replaced and written back") \
	X(invalidations, "lines", "removed from the cache because DMA wrote them to memory") \
	X(memory_reads, "lines", "read from memory by DMA") \
	X(memory_writes, "lines", \
	  "written to memory: write-backs, and DMA writes that bypass the cache") \
	X(cpu_touches, "lines", "accessed by CPUs") \
	X(cpu_misses, "lines", "accessed by CPUs and not in the cache")
/* clang-format on */

struct llc_counters {
	LLC_COUNTERS(COUNTER_FIELD)
};

/* Without `llc->enabled` no line is followed: DMA finds all lines of its own socket in the cache. */
struct llc *llc_create(struct sim *sim, const char *name, const struct llc_params *llc,
		       const struct dram_params *dram);
void llc_destroy(struct llc *llc);

/* Returns the time at which all lines of a DMA read or write are there. `arrival` is now, never the future: memory serves
 * requests in the order of the calls (sim/shared_unit.h). bypass: the memory of another socket, which this cache does not hold. */
sim_time llc_read(struct llc *llc, uint64_t address, uint32_t length, bool bypass,
		  sim_time arrival);
sim_time llc_write(struct llc *llc, uint64_t address, uint32_t length, bool bypass,
		   sim_time arrival);

/* How many of the lines were not in the cache, which they are now. Takes no time of memory. */
uint64_t llc_cpu_touch(struct llc *llc, uint64_t address, uint64_t length, bool change);

/* The same, but memory has to serve those in its turn: when it begins, if it is asked now. Only of
 * a cache that is enabled; length > 0. */
bool llc_enabled(const struct llc *llc);
sim_time llc_cpu_use(struct llc *llc, uint64_t address, uint64_t length, bool change, sim_time now,
		     uint64_t *missed);

/* What a CPU that looks for what DMA has just written waits longer than for a hit: memory's latency, if DMA writes go past the cache. */
sim_time llc_dma_wait(const struct llc *llc);

void llc_flush(struct llc *llc); /* write all back, keep none; takes no time */

const struct llc_counters *llc_counters(const struct llc *llc);

#endif
