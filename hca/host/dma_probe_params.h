/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dma_probe_params: parameters of a card that measures PCIe by DMA. Link and host have their own
 * parameters. The default card takes no time. The preset scenarios/presets/nfp-6000.yaml is the
 * card of the pciebench measurements. dma_probe_param_list lists the parameters.
 */
#ifndef HCA_HOST_DMA_PROBE_PARAMS_H
#define HCA_HOST_DMA_PROBE_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define DMA_PROBE_PARAMS(X) \
	X(engine_latency, TIME, "0ps", "0ps..1ms", \
	  "Latency of the DMA engine for each transfer. Commands that bypass the engine do not " \
	  "have it.", \
	  "choice: none") \
	X(staging_rate, RATE, "100Tbps", "1Gbps..100Tbps", \
	  "Rate of the memory through which the engine stores and forwards data.", \
	  "choice: none") \
	X(in_flight, COUNT, "64", "1..1024", \
	  "Transfers that the engine may have in flight.", \
	  "choice") \
	X(large_in_flight, COUNT, "0", "0..1024", \
	  "Transfers of at least large_bytes that the engine may have in flight, if they are " \
	  "reads, or reads and writes in turn. `0`: in_flight.", \
	  "choice") \
	X(large_bytes, BYTES, "192B", "1B..64KiB", \
	  "Smallest transfer to which large_in_flight applies.", \
	  "pciebench's data files, Xeon E3: 129 B 31.6 M/s, 192 B 16.3 M/s") \
	X(in_order, FLAG, "false", "", \
	  "A transfer that is done keeps its place among in_flight until all earlier transfers " \
	  "are done. Transfers under large_in_flight return their place at once.", \
	  "choice") \
	X(read_interval, TIME, "0ps", "0ps..1ms", \
	  "Minimum time between two reads, in addition to the time of their lines.", \
	  "choice: none") \
	X(read_line_interval, TIME, "0ps", "0ps..1ms", \
	  "Additional time between two reads for each line of 64 B that is read.", \
	  "choice: none") \
	X(write_transfer_interval, TIME, "0ps", "0ps..1ms", \
	  "Minimum time between two writes, in addition to the time of their chunks.", \
	  "choice: none") \
	X(write_interval, TIME, "0ps", "0ps..1ms", \
	  "Additional time between two writes for each chunk, besides the time of its bytes.", \
	  "choice: none") \
	X(write_chunk, BYTES, "0B", "0B..4096B", \
	  "Chunk in which the card moves the data of a write. `0`: a packet of the link.", \
	  "choice") \
	X(write_rate, RATE, "100Tbps", "1Gbps..100Tbps", \
	  "Rate at which the card fills write packets.", \
	  "choice: none")
/* clang-format on */

struct dma_probe_params {
	DMA_PROBE_PARAMS(PARAM_FIELD)
};

extern const struct param dma_probe_param_list[];

#endif
