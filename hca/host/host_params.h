/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_params: what is behind the root complex: last level cache, memory, IOMMU, interrupts. With its defaults nothing is: the
 * latencies of pcie_params.h already hold a root complex and a hit in the cache, and what is here comes on top of these.
 * Rows are those of the published measurements that docs/explanation/adapter-host.md names.
 */
#ifndef HCA_HOST_HOST_PARAMS_H
#define HCA_HOST_HOST_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define LLC_PARAMS(X) \
	X(enabled,      FLAG,   "false",  "",              "whether hits and misses of the cache are followed; without, all of the own socket hit", "choice") \
	X(size,         BYTES,  "25MiB",  "64KiB..1GiB",   "of the last level cache of one socket", \
	  "Intel: Xeon E5-2630 v4") \
	X(ways,         COUNT,  "20",     "1..64",         "of each set", "Intel: Xeon E5") \
	X(ddio,         FLAG,   "true",   "",              "whether DMA writes go to the cache", "Intel DDIO technology brief") \
	X(ddio_ways,    COUNT,  "2",      "1..64",         "that DMA writes may take; what is there already is changed in place", \
	  "A5-11: DDIO takes 10 % of the cache")

#define DRAM_PARAMS(X) \
	X(latency,      TIME,   "50ns",   "0ps..1ms",      "that a miss of the cache takes longer than a hit", \
	  "B1-04: 64 B cold against warm") \
	X(rate,         RATE,   "546Gbps", "1Gbps..1000000Tbps", "of all channels of a socket", \
	  "Intel: Xeon E5-2630 v4, 68.3 GB/s")

#define IOMMU_PARAMS(X) \
	X(enabled,      FLAG,   "false",  "",              "whether addresses of DMA are translated", "choice") \
	X(page,         BYTES,  "4KiB",   "4KiB..1GiB",    "of the mappings, a power of two", "B1-06: 4 KiB") \
	X(entries,      COUNT,  "64",     "1..65536",      "pages in the IO-TLB", "B1-06: no cost to 256 KiB, in pages of 4 KiB") \
	X(ways,         COUNT,  "64",     "1..65536",      "of each of its sets; no more than entries", "assumed: fully associative") \
	X(walkers,      COUNT,  "6",      "1..256",        "page walks at once", "assumed") \
	X(walk_latency, TIME,   "280ns",  "0ps..1ms",      "of one page walk", "B1-06: median of a miss less that of a hit") \
	X(hit_latency,  TIME,   "0ps",    "0ps..1ms",      "of the IO-TLB", "B1-06: no cost to 256 KiB")

#define PLACE_PARAMS(X) \
	X(memory_node,         CHOICE, "local", "local|remote", "the socket that has the memory of DMA", "choice") \
	X(remote_read_latency, TIME,   "65ns",  "0ps..1ms",     "of a read over the link between sockets, on top of memory's", "B1-05: 673 against 608 ns") \
	X(remote_write_latency, TIME,  "0ps",   "0ps..1ms",     "of a write over it", "B1-05: 113 ns more for write and read, which the read takes alone") \
	X(link_rate,           RATE,   "256Gbps", "1Gbps..1000000Tbps", "of that link, each direction: 72 B for each line of 64 B, 8 B for a read request", "Intel: Xeon E5-2630 v4, two QPI links of 8 GT/s, 16 GB/s each; An Introduction to the Intel QuickPath Interconnect: a line is nine flits of 8 B") \
	X(jitter_median,       TIME,   "0ps",   "0ps..1s",      "of what a root complex takes longer: lognormal; 0: none", "choice") \
	X(jitter_sigma,        RATIO,  "0",     "0..10",        "of its logarithm", "choice") \
	X(tail_share,          RATIO,  "0",     "0..1",         "of accesses that take much longer: log-uniform", "choice") \
	X(tail_min,            TIME,   "1us",   "1ps..1s",      "the least of these", "choice") \
	X(tail_max,            TIME,   "1us",   "1ps..1s",      "the most of these", "choice")

/* clang-format on */

struct llc_params {
	LLC_PARAMS(PARAM_FIELD)
};

struct dram_params {
	DRAM_PARAMS(PARAM_FIELD)
};

struct iommu_params {
	IOMMU_PARAMS(PARAM_FIELD)
};

struct place_params {
	PLACE_PARAMS(PARAM_FIELD)
};

struct host_params {
	struct place_params place;
	struct llc_params llc;
	struct dram_params dram;
	struct iommu_params iommu;
};

extern const struct param place_param_list[], llc_param_list[], dram_param_list[],
	iommu_param_list[];

/* A host of which nothing takes time beyond pcie.read_latency and write_latency. */
void host_params_default(struct host_params *params);

/* Is there anything behind the root complex that takes time? */
bool host_params_matter(const struct host_params *params);

#endif
