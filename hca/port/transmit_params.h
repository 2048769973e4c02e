/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transmit_params: parameters of the pipeline from the packetiser to the port. transmit_param_list
 * lists the parameters.
 */
#ifndef HCA_PORT_TRANSMIT_PARAMS_H
#define HCA_PORT_TRANSMIT_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define TRANSMIT_PARAMS(X) \
	X(latency, TIME, "155ns", "1ps..1ms", \
	  "Time from a packet with all its bytes to the port.", \
	  "assumed: value of preset connectx4-edr, which is calibrated") \
	X(interval, TIME, "5ns", "0ps..1ms", \
	  "Minimum time between two packets.", \
	  "A2-17: 200 Mpps") \
	X(send_interval, TIME, "0ps", "0ps..1ms", \
	  "Minimum time between a packet of a SEND and the next packet. `0ps`: same as interval.", \
	  "choice") \
	X(loopback_rate, RATE, "0bps", "0bps..3.2Tbps", \
	  "Maximum rate of packets addressed to the port itself. `0bps`: limited by the " \
	  "pipelines and the host only.", \
	  "A7-13: loopback has no rate limit") \
	X(loopback_bytes, BYTES, "64KiB", "8KiB..16MiB", \
	  "Loopback packets, in bytes, that the receive pipeline has not accepted yet. Further " \
	  "packets wait and keep their share of scheduler.inflight_bytes.", \
	  "assumed: as inflight_bytes of 200 Gb/s")
/* clang-format on */

struct transmit_params {
	TRANSMIT_PARAMS(PARAM_FIELD)
};

extern const struct param transmit_param_list[];

#endif
