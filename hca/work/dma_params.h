/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dma_params: parameters of the engine that moves the bytes of packets and messages. dma_param_list
 * lists the parameters.
 */
#ifndef HCA_WORK_DMA_PARAMS_H
#define HCA_WORK_DMA_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define DMA_PARAMS(X) \
	X(inflight, COUNT, "64", "1..4096", \
	  "Transfers of one direction in flight. Further transfers wait in order.", \
	  "assumed: twice what 100 Gb/s x 1 us needs at 512 B") \
	X(pieces, COUNT, "128", "1..65536", \
	  "Scatter/gather pieces of one direction in flight.", \
	  "assumed: two a transfer") \
	X(write_interval, TIME, "0ns", "0ps..1ms", \
	  "Minimum time between two writes of data or CQEs to host memory.", \
	  "assumed: PCIe is the limit") \
	X(latency, TIME, "4ns", "0ps..1ms", \
	  "Time from the last byte of a transfer to its end.", \
	  "assumed: 2 cycles at 500 MHz") \
	X(module, TEXT, "", "", \
	  "Module that replaces the built-in DMA engine (docs/explanation/systemc.md). " \
	  "Empty: the built-in engine.", \
	  "choice")
/* clang-format on */

struct dma_params {
	DMA_PARAMS(PARAM_FIELD)
};

extern const struct param dma_param_list[];

#endif
