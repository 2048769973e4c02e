/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_params: parameters and counters of the TCP connections of an endpoint adapter. The list
 * starts with the parameters of the engine (tcp/params.h), and ends with the parameters of the
 * adapter. endpoint_tcp_param_list lists the parameters.
 */
#ifndef HCA_ENDPOINT_TCP_PARAMS_H
#define HCA_ENDPOINT_TCP_PARAMS_H

#include "tcp/tcp.h"

/* clang-format off */
#define ENDPOINT_TCP_PARAMS(X)                                                                     \
	X(mtu, BYTES, "1500B", "576B..9216B",                                                      \
	  "Largest IP packet of a segment. The MSS is 40 bytes less, for IPv4 and TCP headers.",   \
	  "RFC 894: 1500; jumbo frames: 9000")                                                     \
	X(handshake, FLAG, "false", "",                                                            \
	  "The first message opens its connection, which takes a round trip. `false`: all "        \
	  "connections are open when the run starts, as queue pairs are.",                         \
	  "choice")                                                                                \
	X(markers, FLAG, "false", "",                                                              \
	  "iWARP: asks for MPA markers in received FPDUs: 4 bytes in 512 of the stream.",          \
	  "RFC 5044 4.3 and 7.1: choice of the receiver")                                          \
	X(priority, COUNT, "16", "0..16",                                                          \
	  "Priority (PCP) of segments. `16`: the service level of the flow.", "choice")

#define ENDPOINT_TCP_COUNTERS(X)                                                                   \
	TCP_COUNTERS(X)                                                                            \
	X(connections, "connections", "Ends of connections that the adapter holds.")               \
	X(held_bytes, "bytes",                                                                     \
	  "Largest number of bytes that all connections held at once: send buffers, whose bytes "  \
	  "wait for their ACK, and received bytes that waited for earlier ones.")
/* clang-format on */

/* The members of struct tcp_params come first, so that the engine reads them in place. */
struct endpoint_tcp_params {
	TCP_PARAMS(PARAM_FIELD)
	ENDPOINT_TCP_PARAMS(PARAM_FIELD)
};

struct endpoint_tcp_counters {
	ENDPOINT_TCP_COUNTERS(COUNTER_FIELD)
};

extern const struct param endpoint_tcp_param_list[];

#endif
