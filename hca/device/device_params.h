/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_params: the adapter as a whole: what its driver may create, and its clock. List: device_param_list.
 */
#ifndef HCA_DEVICE_DEVICE_PARAMS_H
#define HCA_DEVICE_DEVICE_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define DEVICE_PARAMS(X) \
	X(command_latency, TIME,  "10us",      "0ps..1s",        "of one command of the driver, for the driver to add",   "assumed: A1-09 gives 30 us for a QP's three to four") \
	X(core_clock,      FREQ,  "156.25MHz", "1MHz..10GHz",    "of the time stamps in CQEs",                             "ConnectX-4: hca_core_clock") \
	X(qps,             COUNT, "65536",     "64..16777215",   "queue pairs at most",                                    "assumed: below ConnectX-4's 262144") \
	X(cqs,             COUNT, "65536",     "64..16777215",   "completion queues at most",                              "assumed") \
	X(srqs,            COUNT, "65536",     "64..16777215",   "shared receive queues at most",                          "assumed") \
	X(data_to_cqe,     FLAG,  "false",     "",               "short messages and responses go into CQEs, if the driver asks for it (libmlx5 does, MLX5_SCATTER_TO_CQE)", "choice") \
	X(compressed_cqes, FLAG,  "false",     "",               "completion queues may ask for mini-CQEs (mlx5dv_create_cq)", "choice") \
	X(regions,         COUNT, "1048576",   "64..16777215",   "memory regions and windows at most",                     "assumed")
/* clang-format on */

struct device_params {
	DEVICE_PARAMS(PARAM_FIELD)
};

extern const struct param device_param_list[];

#endif
