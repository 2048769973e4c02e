/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notification_params: how a detailed adapter says that packets came marked, and what its congestion control is told of the way.
 * The algorithm and its own parameters stand beside it (hca/congestion). List: notification_param_list.
 */
#ifndef HCA_TRANSPORT_NOTIFICATION_PARAMS_H
#define HCA_TRANSPORT_NOTIFICATION_PARAMS_H

#include "hca/congestion/cnp_limiter.h"

/* clang-format off */
#define NOTIFICATION_PARAMS(X)                                                                             \
	X(notify,          CHOICE, "auto", "auto|cnp|ack|none", "how a congestion mark comes back: a CNP, or BECN in the next ACK; none: data packets are not ECN-capable either; auto: cnp if the adapter has congestion control, else none", "IBTA annex A17.9; annex A10") \
	CNP_PARAMS(X)                                                                                      \
	X(telemetry_bytes, BYTES, "42B",   "0B..1KB",     "added to packets and ACKs that carry in-band telemetry",    "ground truth C-23: INT of five switches") \
	X(base_rtt,        TIME,  "auto",  "auto|1ns..100ms", "of an empty path, for algorithms that ask; auto: of each queue pair's own path, by the way with the fewest links: a full packet there, its ACK back, and what this adapter would add at either end", "auto: published simulators take each path's own; a value: choice")
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
