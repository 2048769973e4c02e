/* SPDX-License-Identifier: Apache-2.0 */
/*
 * receive_queue_params: how receive WQEs come from host memory. List: receive_queue_param_list.
 */
#ifndef HCA_WORK_RECEIVE_QUEUE_PARAMS_H
#define HCA_WORK_RECEIVE_QUEUE_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define RECEIVE_QUEUE_PARAMS(X) \
	X(prefetch,  COUNT, "32", "1..32",    "receive WQEs at most in one read, and kept", "assumed: A2-15 shows sequential prefetch") \
	X(low_water, COUNT, "16",  "0..32",    "kept ones at or below which more are fetched", "assumed: half of prefetch") \
	X(ahead,     FLAG,  "true", "",        "they are fetched before messages need them; else when one waits", "assumed: A2-15 shows sequential prefetch of ConnectX-5") \
	X(error_poll,  TIME,  "1us", "1ns..1s", "of a queue pair in ERR: from when a program of its host ran until its doorbell record is looked at again; doubles while no program runs", "assumed: of the order of a PCIe read") \
	X(error_polls, COUNT, "20", "0..30",     "looks in a row that may find nothing while no program runs. 0: receives that are posted in ERR stay", "assumed: 1 s in all")
/* clang-format on */

struct receive_queue_params {
	RECEIVE_QUEUE_PARAMS(PARAM_FIELD)
};

extern const struct param receive_queue_param_list[];

#endif
