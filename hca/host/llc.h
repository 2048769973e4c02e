/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llc: the last-level cache of a socket and the memory behind it, for accesses of DMA and CPUs. A
 * DMA read leaves the cache unchanged. A DMA write updates lines that are in the cache, and
 * allocates other lines in the ways of DDIO. Without DDIO, a DMA write goes to memory and removes
 * its lines from the cache. CPUs use all ways. Misses and written-back lines share the latency and
 * rate of memory.
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

/* Creates a cache. If `llc->enabled` is false, all DMA accesses to the local socket hit. */
struct llc *llc_create(struct sim *sim, const char *name, const struct llc_params *llc,
		       const struct dram_params *dram);
void llc_destroy(struct llc *llc);

/*
 * Return the time at which all lines of a DMA read or write are done. `arrival` must be now,
 * because memory serves requests in the order of the calls (sim/shared_unit.h). `bypass` is true
 * for the memory of another socket, which this cache does not hold.
 */
sim_time llc_read(struct llc *llc, uint64_t address, uint32_t length, bool bypass,
		  sim_time arrival);
sim_time llc_write(struct llc *llc, uint64_t address, uint32_t length, bool bypass,
		   sim_time arrival);

/*
 * Brings lines into the cache for a CPU, without using memory time. Returns the number of lines
 * that were not in the cache.
 */
uint64_t llc_cpu_touch(struct llc *llc, uint64_t address, uint64_t length, bool change);

/* Returns true if the cache models hits and misses. */
bool llc_enabled(const struct llc *llc);

/*
 * Brings lines into the cache for a CPU, with misses served by memory in order. The cache must be
 * enabled and `length` greater than 0. Returns the time at which memory starts to serve the misses.
 * Writes the number of misses to `missed`.
 */
sim_time llc_cpu_use(struct llc *llc, uint64_t address, uint64_t length, bool change, sim_time now,
		     uint64_t *missed);

/*
 * Returns the additional latency of a CPU's first read of data that DMA wrote: the latency of
 * memory if DMA writes bypass the cache, otherwise 0.
 */
sim_time llc_dma_wait(const struct llc *llc);

/* Writes back and removes all lines. Takes no time. */
void llc_flush(struct llc *llc);

const struct llc_counters *llc_counters(const struct llc *llc);

#endif
