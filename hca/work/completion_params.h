/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion_params: parameters of the writer of completion queue entries. completion_param_list
 * lists the parameters.
 */
#ifndef HCA_WORK_COMPLETION_PARAMS_H
#define HCA_WORK_COMPLETION_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define COMPLETION_PARAMS(X) \
	X(latency, TIME, "30ns", "1ps..1ms", \
	  "Time from the end of a work request to the write of its CQE.", \
	  "assumed: a few cycles") \
	X(interval, TIME, "5ns", "0ps..1ms", \
	  "Minimum time between two CQEs.", \
	  "assumed: A2-17, 200 M/s") \
	X(compression_max, COUNT, "64", "2..64", \
	  "Maximum number of CQEs in one compressed group, for completion queues that request " \
	  "compression.", \
	  "assumed: mlx5_ifc cqe_compression_max_num") \
	X(compression_timeout, TIME, "1us", "1ns..1ms", \
	  "Maximum time that the first CQE of a compressed group waits for more CQEs.", \
	  "assumed: mlx5_ifc cqe_compression_timeout counts in us") \
	X(module, TEXT, "", "", \
	  "Module that replaces the built-in pipeline of CQEs (docs/explanation/systemc.md). " \
	  "Empty: the built-in pipeline.", \
	  "choice")
/* clang-format on */

struct completion_params {
	COMPLETION_PARAMS(PARAM_FIELD)
};

extern const struct param completion_param_list[];

#endif
