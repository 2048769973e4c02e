/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dma_probe_params: a card that measures PCIe by DMA: what is its own, and not the link's or the host's. The defaults are
 * a card that takes no time; scenarios/presets/nfp-6000.yaml is the one of the pciebench measurements.
 */
#ifndef HCA_HOST_DMA_PROBE_PARAMS_H
#define HCA_HOST_DMA_PROBE_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define DMA_PROBE_PARAMS(X) \
	X(engine_latency,     TIME,  "0ps",     "0ps..1ms",      "of its DMA engine, for each transfer; commands without engine have none", "choice: none") \
	X(staging_rate,       RATE,  "100Tbps", "1Gbps..100Tbps", "of the memory through which the engine stores and forwards", "choice: none") \
	X(in_flight,          COUNT, "64",      "1..1024",       "transfers that the engine keeps under way", "choice") \
	X(read_interval,      TIME,  "0ps",     "0ps..1ms",      "between two reads, besides that of their lines", "choice: none") \
	X(read_line_interval, TIME,  "0ps",     "0ps..1ms",      "more of it for each line of 64 B that is read", "choice: none") \
	X(write_interval,     TIME,  "0ps",     "0ps..1ms",      "between two write packets, besides that of their bytes", "choice: none") \
	X(write_rate,         RATE,  "100Tbps", "1Gbps..100Tbps", "at which it fills write packets", "choice: none")
/* clang-format on */

struct dma_probe_params {
	DMA_PROBE_PARAMS(PARAM_FIELD)
};

extern const struct param dma_probe_param_list[];

#endif
