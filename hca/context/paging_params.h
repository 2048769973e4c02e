/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paging_params: on-demand paging, as far as the driver has a part in it. List: paging_param_list.
 */
#ifndef HCA_CONTEXT_PAGING_PARAMS_H
#define HCA_CONTEXT_PAGING_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define PAGING_PARAMS(X) \
	X(latency,      TIME,  "220us", "1ps..10s",   "from a page fault to its queue pair's going on: event, driver, command; the first page included", "A5-13: Lesokhin et al. (ASPLOS'17), minor fault, recalled; 16.8 ms in CLIO (A5-06)") \
	X(page_latency, TIME,  "60ns",  "0ps..1s",    "of the driver, for each further page that a fault brings in", "assumed: as kernel.register_page_latency") \
	X(handlers,     COUNT, "32",    "1..4096",    "faults that the driver handles at a time; further ones wait", "Linux mlx5_ib: a work queue of 32 (MLX5_NUM_CMD_EQE)") \
	X(prefetch,     BYTES, "4MiB",  "1B..1GiB",   "of a message that one fault brings in at most",               "Linux mlx5_ib: MAX_PREFETCH_LEN")
/* clang-format on */

struct paging_params {
	PAGING_PARAMS(PARAM_FIELD)
};

extern const struct param paging_param_list[];

#endif
