/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dma_probe: measures a PCIe link and the host behind it, as a programmable card does. It measures
 * the latency of single transfers or the bandwidth of many transfers. The transfers use a window of
 * memory that is cached or not.
 *
 *     job --> engine (its own latency and intervals) --pcie_read(), pcie_write()--> pcie --> host
 *
 * The operations are those of pciebench (Neugebauer et al., SIGCOMM 2018). Each run builds its own
 * simulation.
 */
#ifndef HCA_HOST_DMA_PROBE_H
#define HCA_HOST_DMA_PROBE_H

#include "hca/host/dma_probe_params.h"
#include "hca/host/host_params.h"
#include "hca/host/pcie_params.h"

/* clang-format off */
/*        NAME          bandwidth  operation */
#define DMA_PROBE_OPS(X) \
	X(lat_cmd_rd, false, "latency of a read by command, without the engine") \
	X(lat_rd, false, "latency of a read by the engine, one at a time") \
	X(lat_wrrd, false, "latency of a write followed by a read of the same bytes") \
	X(bw_rd, true, "bandwidth of reads") \
	X(bw_wr, true, "bandwidth of writes") \
	X(bw_rw, true, "bandwidth, in each direction, of alternating reads and writes")

#define DMA_PROBE_JOB_PARAMS(X) \
	X(window, BYTES, "8KiB", "64B..1GiB", \
	  "Size of the memory that the transfers use at random offsets.", \
	  "choice") \
	X(bytes, BYTES, "64B", "1B..64KiB", \
	  "Bytes per transfer.", \
	  "choice") \
	X(offset, BYTES, "0B", "0B..63B", \
	  "Offset of each transfer from the start of a cache line.", \
	  "choice") \
	X(warm, FLAG, "true", "", \
	  "The host has used the window just before the run, so that its lines are cached.", \
	  "choice") \
	X(transfers, COUNT, "4000", "100..10000000", \
	  "Number of measured transfers. One fifth of this number runs before the measurement.", \
	  "choice")
/* clang-format on */

#define DMA_PROBE_OP_ENUM(name, bandwidth, meaning) DMA_PROBE_##name,
enum dma_probe_op { DMA_PROBE_OPS(DMA_PROBE_OP_ENUM) DMA_PROBE_OP_COUNT };

struct dma_probe_job {
	DMA_PROBE_JOB_PARAMS(PARAM_FIELD)
	enum dma_probe_op op;
	enum sim_engine event_engine;
	uint64_t seed;
};

extern const struct param dma_probe_job_param_list[];
extern const char *const dma_probe_op_names[DMA_PROBE_OP_COUNT];

struct dma_probe_result {
	double min_ns, median_ns, mean_ns, p95_ns, p99_ns, p999_ns; /* latency; 0 for bandwidth */
	double gbps;                                                /* bandwidth; 0 for latency */
	uint64_t iommu_misses, llc_misses, order_stalls;
	uint64_t digest;     /* digest of the end times of all transfers */
	unsigned violations; /* of the blocks' rules and laws; each is a line on stderr */
};

/*
 * Runs one job of the card in the host from start to end. Writes to `result` the latencies (ns) or
 * the data bandwidth (Gb/s), according to job->op.
 */
void dma_probe_run(const struct pcie_params *pcie, const struct host_params *host,
		   const struct dma_probe_params *card, const struct dma_probe_job *job,
		   struct dma_probe_result *result);

#endif
