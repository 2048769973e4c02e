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
	X(loopback_rate, RATE, "100Gbps", "1Mbps..3.2Tbps", "of packets that the port would send to itself", "assumed: that of the link")
/* clang-format on */

struct transmit_params {
	TRANSMIT_PARAMS(PARAM_FIELD)
};

extern const struct param transmit_param_list[];

#endif
