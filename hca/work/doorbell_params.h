/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doorbell_params: parameters of the path from a store to a doorbell page to its queue.
 * doorbell_param_list lists the parameters.
 */
#ifndef HCA_WORK_DOORBELL_PARAMS_H
#define HCA_WORK_DOORBELL_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define DOORBELL_PARAMS(X) \
	X(latency, TIME, "20ns", "1ps..1ms", \
	  "Time from the arrival of a doorbell's store until its queue is notified.", \
	  "assumed: a few cycles") \
	X(interval, TIME, "5ns", "0ps..1ms", \
	  "Minimum time between two doorbells.", \
	  "assumed: one in two cycles at 400 MHz") \
	X(line_interval, TIME, "0ns", "0ps..1ms", \
	  "Minimum time between two doorbells for each 64 B of a BlueFlame store. The longer " \
	  "time of line_interval and interval applies.", \
	  "assumed: PCIe is the limit, as on the Connect-IB (A2-01)") \
	X(queue, COUNT, "256", "1..65536", \
	  "Doorbells that may wait. With a further doorbell, the stores behind it wait too, and " \
	  "then the cores (pcie.store_credits).", \
	  "assumed") \
	X(module, TEXT, "", "", \
	  "Module that replaces the built-in doorbell decoder (docs/explanation/systemc.md). " \
	  "Empty: the built-in decoder.", \
	  "choice")
/* clang-format on */

struct doorbell_params {
	DOORBELL_PARAMS(PARAM_FIELD)
};

extern const struct param doorbell_param_list[];

#endif
