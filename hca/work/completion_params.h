/*
 * completion_params: the writer of completion queue entries. List: completion_param_list.
 */
#ifndef HCA_WORK_COMPLETION_PARAMS_H
#define HCA_WORK_COMPLETION_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define COMPLETION_PARAMS(X) \
	X(latency,  TIME, "30ns", "1ps..1ms", "from the end of the work to the write of its CQE", "assumed: a few cycles") \
	X(interval, TIME, "5ns",  "0ps..1ms", "at least, between two CQEs",                       "assumed: A2-17, 200 M/s")
/* clang-format on */

struct completion_params {
	COMPLETION_PARAMS(PARAM_FIELD)
};

extern const struct param completion_param_list[];

#endif
