/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_params: parameters of the host behind the root complex: last-level cache, memory, IOMMU, the
 * NUMA node of the memory, and jitter. The defaults add no time, because the latencies of
 * pcie_params.h include a root complex and a cache hit. These parameters add to them.
 * Rows B1 and A5 are published measurements that docs/explanation/adapter-host.md names.
 */
#ifndef HCA_HOST_HOST_PARAMS_H
#define HCA_HOST_HOST_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define LLC_PARAMS(X) \
	X(enabled, FLAG, "false", "", \
	  "Model hits and misses of the last-level cache. `false`: all accesses to the local " \
	  "socket hit.", \
	  "choice") \
	X(size, BYTES, "25MiB", "64KiB..1GiB", \
	  "Size of the last-level cache of one socket.", \
	  "Intel: Xeon E5-2630 v4") \
	X(ways, COUNT, "20", "1..64", \
	  "Lines per set (associativity).", \
	  "Intel: Xeon E5") \
	X(ddio, FLAG, "true", "", \
	  "DMA writes allocate lines in the last-level cache (DDIO). `false`: DMA writes go to " \
	  "memory.", \
	  "Intel DDIO technology brief") \
	X(ddio_ways, COUNT, "2", "1..64", \
	  "Ways of each set in which DMA writes may allocate lines. A line that is already in " \
	  "the cache is updated in place.", \
	  "A5-11: DDIO takes 10 % of the cache")

#define DRAM_PARAMS(X) \
	X(latency, TIME, "50ns", "0ps..1ms", \
	  "Additional latency of a last-level-cache miss over a hit.", \
	  "B1-04: 64 B cold against warm") \
	X(rate, RATE, "546Gbps", "1Gbps..1000000Tbps", \
	  "Bandwidth of all memory channels of one socket.", \
	  "Intel: Xeon E5-2630 v4, 68.3 GB/s")

#define IOMMU_PARAMS(X) \
	X(enabled, FLAG, "false", "", \
	  "Translate DMA addresses by an IOMMU.", \
	  "choice") \
	X(page, BYTES, "4KiB", "4KiB..1GiB", \
	  "Page size of the IOMMU mappings, a power of two.", \
	  "B1-06: 4 KiB") \
	X(entries, COUNT, "64", "1..65536", \
	  "Number of pages in the IO-TLB.", \
	  "B1-06: no cost to 256 KiB, in pages of 4 KiB") \
	X(ways, COUNT, "64", "1..65536", \
	  "Entries per set of the IO-TLB (associativity), at most entries.", \
	  "assumed: fully associative") \
	X(walkers, COUNT, "6", "1..256", \
	  "Page walks that may be in progress at the same time.", \
	  "assumed") \
	X(walk_latency, TIME, "280ns", "0ps..1ms", \
	  "Median latency of one page walk.", \
	  "B1-06: median of a miss minus median of a hit") \
	X(walk_sigma, RATIO, "0", "0..10", \
	  "Standard deviation of the natural logarithm of the latency of a walk, which has a " \
	  "lognormal distribution. `0`: all walks take walk_latency.", \
	  "choice") \
	X(walk_interval, TIME, "0ps", "0ps..1ms", \
	  "Least interval from the start of a walk for a write to the start of the next walk. " \
	  "`0`: only walkers limit the rate of walks.", \
	  "choice") \
	X(read_walk_interval, TIME, "0ps", "0ps..1ms", \
	  "The same after a walk for a read.", \
	  "choice") \
	X(hit_latency, TIME, "0ps", "0ps..1ms", \
	  "Latency of an IO-TLB lookup.", \
	  "B1-06: no cost to 256 KiB")

#define NUMA_PARAMS(X) \
	X(memory_node, CHOICE, "local", "local|remote", \
	  "Socket whose memory DMA accesses: the local one of the adapter, or the remote one.", \
	  "choice") \
	X(remote_read_latency, TIME, "65ns", "0ps..1ms", \
	  "Additional latency of a read over the link between sockets.", \
	  "B1-05: 673 against 608 ns") \
	X(remote_write_latency, TIME, "0ps", "0ps..1ms", \
	  "Additional latency of a write over the link between sockets.", \
	  "B1-05: 113 ns more for write and read, which the read takes alone") \
	X(link_rate, RATE, "256Gbps", "1Gbps..1000000Tbps", \
	  "Rate of the link between sockets in each direction. A line of 64 B takes 72 B of it, " \
	  "a read request 8 B.", \
	  "Intel: Xeon E5-2630 v4, two QPI links of 8 GT/s, 16 GB/s each; An Introduction to the " \
	  "Intel QuickPath Interconnect: a line is nine flits of 8 B")

#define JITTER_PARAMS(X) \
	X(median, TIME, "0ps", "0ps..1s", \
	  "Median of the additional latency of the root complex, which has a lognormal " \
	  "distribution. `0`: no jitter.", \
	  "choice") \
	X(sigma, RATIO, "0", "0..10", \
	  "Standard deviation of the natural logarithm of the additional latency.", \
	  "choice") \
	X(tail_share, RATIO, "0", "0..1", \
	  "Share of accesses with a much longer additional latency, which has a log-uniform " \
	  "distribution.", \
	  "choice") \
	X(tail_min, TIME, "1us", "1ps..1s", \
	  "Minimum additional latency of the accesses of tail_share.", \
	  "choice") \
	X(tail_max, TIME, "1us", "1ps..1s", \
	  "Maximum additional latency of the accesses of tail_share.", \
	  "choice")

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

struct numa_params {
	NUMA_PARAMS(PARAM_FIELD)
};

struct jitter_params {
	JITTER_PARAMS(PARAM_FIELD)
};

struct host_params {
	struct numa_params numa;
	struct jitter_params jitter;
	struct llc_params llc;
	struct dram_params dram;
	struct iommu_params iommu;
};

extern const struct param host_numa_param_list[], host_jitter_param_list[], llc_param_list[],
	llc_dram_param_list[], iommu_param_list[];

/* Sets the defaults: a host that adds no time to pcie.read_latency and pcie.write_latency. */
void host_params_default(struct host_params *params);

/* Returns true if the host adds time behind the root complex. */
bool host_params_matter(const struct host_params *params);

#endif
