/*
 * event_queue_params: how events reach the driver. List: event_queue_param_list.
 */
#ifndef HCA_WORK_EVENT_QUEUE_PARAMS_H
#define HCA_WORK_EVENT_QUEUE_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define EVENT_QUEUE_PARAMS(X) \
	X(latency,  TIME, "300ns", "1ps..1ms", "from the cause to the interrupt at the CPU: write of the EQE, MSI-X", "assumed: two posted writes") \
	X(interval, TIME, "20ns",  "0ps..1ms", "at least, between two events",                                       "assumed")
/* clang-format on */

struct event_queue_params {
	EVENT_QUEUE_PARAMS(PARAM_FIELD)
};

extern const struct param event_queue_param_list[];

#endif
