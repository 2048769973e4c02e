/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doorbell_params: what happens between a store to the doorbell pages and the queue it is for. List: doorbell_param_list.
 */
#ifndef HCA_WORK_DOORBELL_PARAMS_H
#define HCA_WORK_DOORBELL_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define DOORBELL_PARAMS(X) \
	X(latency,  TIME,  "20ns", "1ps..1ms",   "from the store's arrival until the queue knows", "assumed: a few cycles") \
	X(interval, TIME,  "5ns",  "0ps..1ms",   "at least, between two doorbells",                "assumed: one in two cycles at 400 MHz") \
	X(line_interval, TIME, "0ns", "0ps..1ms", "the same for each 64 B of a BlueFlame store, if that is longer", "assumed: PCIe is the limit, as on the Connect-IB (A2-01)") \
	X(queue,    COUNT, "256",  "1..65536",   "doorbells that wait; with a further one the stores behind it wait, too, and then cores (pcie.store_credits)", "assumed")
/* clang-format on */

struct doorbell_params {
	DOORBELL_PARAMS(PARAM_FIELD)
};

extern const struct param doorbell_param_list[];

#endif
