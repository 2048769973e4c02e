/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion_params: the writer of completion queue entries. List: completion_param_list.
 */
#ifndef HCA_WORK_COMPLETION_PARAMS_H
#define HCA_WORK_COMPLETION_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define COMPLETION_PARAMS(X) \
	X(latency,  TIME, "30ns", "1ps..1ms", "from the end of the work to the write of its CQE", "assumed: a few cycles") \
	X(interval, TIME, "5ns",  "0ps..1ms", "at least, between two CQEs",                       "assumed: A2-17, 200 M/s") \
	X(compression_max, COUNT, "64", "2..64", "CQEs that are written as one with mini-CQEs, at most; of queues that ask for it", "assumed: mlx5_ifc cqe_compression_max_num") \
	X(compression_timeout, TIME, "1us", "1ns..1ms", "from the first of them until no more are waited for", "assumed: mlx5_ifc cqe_compression_timeout counts in us")
/* clang-format on */

struct completion_params {
	COMPLETION_PARAMS(PARAM_FIELD)
};

extern const struct param completion_param_list[];

#endif
