/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_params: parameters of the adapter as a whole: the numbers of objects that the driver may
 * create, and the clock. device_param_list lists the parameters.
 */
#ifndef HCA_DEVICE_DEVICE_PARAMS_H
#define HCA_DEVICE_DEVICE_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define DEVICE_PARAMS(X) \
	X(command_latency, TIME, "10us", "0ps..1s", \
	  "Time of one command of the driver. The driver's emulation adds it.", \
	  "assumed: A1-09 gives 30 us for the three to four commands of a QP") \
	X(driver, CHOICE, "mlx5", "mlx5|siw", \
	  "Driver of programs. `mlx5`: libmlx5, and InfiniBand or RoCE. `siw`: libsiw, and iWARP " \
	  "with the parameters of `rnic`. Ethernet only.", \
	  "choice") \
	X(core_clock, FREQ, "156.25MHz", "1MHz..10GHz", \
	  "Frequency of the clock that sets the time stamps in CQEs.", \
	  "ConnectX-4: hca_core_clock") \
	X(qps, COUNT, "65536", "64..16777215", \
	  "Maximum number of queue pairs.", \
	  "assumed: below ConnectX-4's 262144") \
	X(cqs, COUNT, "65536", "64..16777215", \
	  "Maximum number of completion queues.", \
	  "assumed") \
	X(srqs, COUNT, "65536", "64..16777215", \
	  "Maximum number of shared receive queues.", \
	  "assumed") \
	X(data_to_cqe, FLAG, "false", "", \
	  "Write the data of short messages and responses into the CQE if the driver requests it " \
	  "(libmlx5: MLX5_SCATTER_TO_CQE).", \
	  "choice") \
	X(compressed_cqes, FLAG, "false", "", \
	  "Allow completion queues to request compressed CQEs (mini-CQEs, mlx5dv_create_cq).", \
	  "choice") \
	X(regions, COUNT, "1048576", "64..16777215", \
	  "Maximum number of memory regions and memory windows together.", \
	  "assumed")
/* clang-format on */

enum device_driver { DRIVER_MLX5, DRIVER_SIW };

struct device_params {
	DEVICE_PARAMS(PARAM_FIELD)
};

extern const struct param device_param_list[];

#endif
