/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transmit_params: the pipeline from the packetiser to the port. List: transmit_param_list.
 */
#ifndef HCA_PORT_TRANSMIT_PARAMS_H
#define HCA_PORT_TRANSMIT_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define TRANSMIT_PARAMS(X) \
	X(latency,  TIME, "155ns", "1ps..1ms", "from a packet with all its bytes to the port", "assumed: that of preset connectx4-edr, which is calibrated") \
	X(interval, TIME, "5ns",   "0ps..1ms", "at least, between two packets",                "A2-17: 200 Mpps") \
	X(send_interval, TIME, "0ps",  "0ps..1ms", "the same behind a SEND; 0ps: as interval", "choice") \
	X(loopback_rate, RATE, "0bps", "0bps..3.2Tbps", "of packets that the port would send to itself; 0bps: no limit but the pipelines' and the host's", "A7-13: loopback has no rate limit") \
	X(loopback_bytes, BYTES, "64KiB", "8KiB..16MiB", "of such packets that have turned round and are not taken in yet; others wait, with their share of scheduler.inflight_bytes", "assumed: as inflight_bytes of 200 Gb/s")
/* clang-format on */

struct transmit_params {
	TRANSMIT_PARAMS(PARAM_FIELD)
};

extern const struct param transmit_param_list[];

#endif
