/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paging_params: parameters of the driver's part in on-demand paging. paging_param_list lists the
 * parameters.
 */
#ifndef HCA_CONTEXT_PAGING_PARAMS_H
#define HCA_CONTEXT_PAGING_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define PAGING_PARAMS(X) \
	X(latency, TIME, "220us", "1ps..10s", \
	  "Time from a page fault until its queue pair resumes. It includes the event, the " \
	  "driver, the command and the first page.", \
	  "A5-13: Lesokhin et al. (ASPLOS'17), minor fault, recalled; 16.8 ms in CLIO (A5-06)") \
	X(page_latency, TIME, "60ns", "0ps..1s", \
	  "Driver time for each further page of the same fault.", \
	  "assumed: as kernel.register_page_latency") \
	X(handlers, COUNT, "32", "1..4096", \
	  "Page faults that the driver handles at the same time. Further faults wait.", \
	  "Linux mlx5_ib: a work queue of 32 (MLX5_NUM_CMD_EQE)") \
	X(prefetch, BYTES, "4MiB", "1B..1GiB", \
	  "Largest part of a message for which one fault brings in pages.", \
	  "Linux mlx5_ib: MAX_PREFETCH_LEN")
/* clang-format on */

struct paging_params {
	PAGING_PARAMS(PARAM_FIELD)
};

extern const struct param paging_param_list[];

#endif
