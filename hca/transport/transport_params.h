/*
 * transport_params: what requesters and responders of all transports share. List: transport_param_list.
 */
#ifndef HCA_TRANSPORT_TRANSPORT_PARAMS_H
#define HCA_TRANSPORT_TRANSPORT_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define TRANSPORT_PARAMS(X) \
	X(unit_bytes,      BYTES,  "4096B", "256B..4096B",   "of a message that are gathered, or scattered, as one", "calibrated: A1-03, latency flat over the MTU") \
	X(window_packets,  COUNT,  "32768", "1..8388608",    "sent and not acknowledged, at most",                    "IBTA vol. 1, 9.7.2: below half of the PSN space") \
	X(ack_interval,    COUNT,  "64",    "1..65536",      "packets of one message between two requests for an ACK", "assumed") \
	X(ack_when,        CHOICE, "early", "early|late",    "a request is acknowledged once it is accepted, or once its data is visible", "assumed: early as A1-09 suggests") \
	X(ack_delay,       TIME,   "20ns",  "1ps..1ms",      "from acceptance to the ACK; what is accepted meanwhile shares it", "assumed") \
	X(atomic_latency,  TIME,   "20ns",  "1ps..1ms",      "of the arithmetic unit, between read and write",        "assumed") \
	X(timeout_least,   COUNT,  "0",     "0..31",         "smallest local ACK timeout exponent that is honoured",  "choice: ConnectX honours 16 or more") \
	X(scatter_units,   COUNT,  "128",   "4..4096",       "receive buffers of unit_bytes each",                    "assumed: 512 KiB")
/* clang-format on */

enum ack_when { ACK_EARLY, ACK_LATE }; /* in the order of the list */

struct transport_params {
	TRANSPORT_PARAMS(PARAM_FIELD)
};

extern const struct param transport_param_list[];

#endif
