/* SPDX-License-Identifier: Apache-2.0 */
/* dma_params: the engine that moves the bytes of packets and messages. List: dma_param_list. */
#ifndef HCA_WORK_DMA_PARAMS_H
#define HCA_WORK_DMA_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define DMA_PARAMS(X)                                                                                                     \
	X(inflight, COUNT, "64",  "1..4096",  "transfers of one direction under way; further ones wait, in order",        \
	  "assumed: twice what 100 Gb/s x 1 us needs at 512 B")                                                           \
	X(pieces,   COUNT, "128", "1..65536", "scatter/gather pieces of one direction under way", "assumed: two a transfer") \
	X(write_interval, TIME, "0ns", "0ps..1ms", "at least, between two writes to host memory, of data or CQEs", "assumed: PCIe is the limit") \
	X(latency,  TIME,  "4ns", "0ps..1ms", "from a transfer's last byte to its end", "assumed: 2 cycles at 500 MHz") \
	X(module,   TEXT,  "",    "",         "a SystemC module in the engine's place, docs/explanation/systemc.md; nothing: the built-in one", "choice")
/* clang-format on */

struct dma_params {
	DMA_PARAMS(PARAM_FIELD)
};

extern const struct param dma_param_list[];

#endif
