/* SPDX-License-Identifier: Apache-2.0 */
/*
 * receive_queue_params: parameters of the fetch of receive WQEs from host memory.
 * receive_queue_param_list lists the parameters.
 */
#ifndef HCA_WORK_RECEIVE_QUEUE_PARAMS_H
#define HCA_WORK_RECEIVE_QUEUE_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define RECEIVE_QUEUE_PARAMS(X) \
	X(prefetch, COUNT, "32", "1..32", \
	  "Maximum number of receive WQEs that one read fetches and the adapter keeps.", \
	  "assumed: A2-15 shows sequential prefetch") \
	X(low_water, COUNT, "16", "0..32", \
	  "Number of kept receive WQEs at or below which the adapter fetches more.", \
	  "assumed: half of prefetch") \
	X(ahead, FLAG, "true", "", \
	  "Fetch receive WQEs before messages need them. `false`: fetch them when a message " \
	  "waits.", \
	  "assumed: A2-15 shows sequential prefetch of ConnectX-5") \
	X(error_poll, TIME, "1us", "1ns..1s", \
	  "Interval between reads of the doorbell record of a queue pair in ERR, from the last " \
	  "run of a program of its host. It doubles while no program runs.", \
	  "assumed: of the order of a PCIe read") \
	X(error_polls, COUNT, "20", "0..30", \
	  "Unsuccessful reads in a row of the doorbell record in ERR while no program runs. `0`: " \
	  "receive WQEs posted in ERR are not flushed.", \
	  "assumed: 1 s in all")
/* clang-format on */

struct receive_queue_params {
	RECEIVE_QUEUE_PARAMS(PARAM_FIELD)
};

extern const struct param receive_queue_param_list[];

#endif
