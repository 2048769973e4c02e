/*
 * receive_queue_params: how receive WQEs come from host memory. List: receive_queue_param_list.
 */
#ifndef HCA_WORK_RECEIVE_QUEUE_PARAMS_H
#define HCA_WORK_RECEIVE_QUEUE_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define RECEIVE_QUEUE_PARAMS(X) \
	X(prefetch,  COUNT, "32", "1..32",    "receive WQEs at most in one read, and kept", "assumed: A2-15 shows sequential prefetch") \
	X(low_water, COUNT, "16",  "0..32",    "kept ones at or below which more are fetched", "assumed: half of prefetch")
/* clang-format on */

struct receive_queue_params {
	RECEIVE_QUEUE_PARAMS(PARAM_FIELD)
};

extern const struct param receive_queue_param_list[];

#endif
