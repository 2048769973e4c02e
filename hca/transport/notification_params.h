/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notification_params: parameters of a detailed adapter's response to congestion marks, and of the
 * path data that it gives to congestion control. The algorithm and its own parameters are in
 * hca/congestion. notification_param_list lists the parameters.
 */
#ifndef HCA_TRANSPORT_NOTIFICATION_PARAMS_H
#define HCA_TRANSPORT_NOTIFICATION_PARAMS_H

#include "hca/congestion/cnp_limiter.h"

/* clang-format off */
#define NOTIFICATION_PARAMS(X)                                                                     \
	X(notify, CHOICE, "auto", "auto|cnp|ack|none",                                             \
	  "Response to a congestion mark. `cnp`: a CNP. `ack`: BECN in the next ACK. `none`: no "  \
	  "response, and data packets are not ECN-capable. `auto`: `cnp` if the adapter has "      \
	  "congestion control, otherwise `none`.",                                                 \
	  "IBTA annex A17.9; annex A10")                                                           \
	CNP_PARAMS(X)                                                                              \
	X(telemetry_bytes, BYTES, "42B", "0B..1KB",                                                \
	  "Bytes that in-band telemetry adds to each packet and ACK that carries it.",             \
	  "HPCC, SIGCOMM 2019 (row C-23): INT of five switches")                                   \
	X(base_rtt, TIME, "auto", "auto|1ns..100ms",                                               \
	  "Round-trip time of an empty path, for algorithms that use it. `auto`: computed per "    \
	  "queue pair over the route with the fewest links. It covers a full packet, its ACK and " \
	  "the latency of this adapter at both ends.",                                             \
	  "auto: published simulators take each path's own; a value: choice")
/* clang-format on */

enum notification_mode { /* in the order of the list */
			 NOTIFICATION_AUTO,
			 NOTIFICATION_CNP,
			 NOTIFICATION_ACK,
			 NOTIFICATION_NONE
};

struct notification_params {
	NOTIFICATION_PARAMS(PARAM_FIELD)
};

extern const struct param notification_param_list[];

#endif
