/* SPDX-License-Identifier: Apache-2.0 */
/*
 * receive_params: parameters of the pipeline from the port to the transports. receive_param_list
 * lists the parameters.
 */
#ifndef HCA_PORT_RECEIVE_PARAMS_H
#define HCA_PORT_RECEIVE_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define RECEIVE_PARAMS(X) \
	X(latency, TIME, "185ns", "1ps..1ms", \
	  "Time from the last bit of a packet to the checks of its transport.", \
	  "assumed: value of preset connectx4-edr, which is calibrated") \
	X(interval, TIME, "5ns", "0ps..1ms", \
	  "Minimum time between two packets.", \
	  "A2-17: 200 Mpps")
/* clang-format on */

struct receive_params {
	RECEIVE_PARAMS(PARAM_FIELD)
};

extern const struct param receive_param_list[];

#endif
