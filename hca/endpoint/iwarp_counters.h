/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iwarp_counters: counters of the iWARP connections of an endpoint adapter: the block NAME.iwarp.
 */
#ifndef HCA_ENDPOINT_IWARP_COUNTERS_H
#define HCA_ENDPOINT_IWARP_COUNTERS_H

#include "sim/block.h"

/* clang-format off */
#define ENDPOINT_IWARP_COUNTERS(X)                                                                 \
	X(connections, "connections", "Ends of connections that the adapter holds.")               \
	X(writes, "messages", "RDMA Writes written to their stream.")                              \
	X(sends, "messages", "Sends written to their stream.")                                     \
	X(reads, "messages", "Read Requests written to their stream.")                             \
	X(read_responses, "messages", "Read Responses written to their stream.")                   \
	X(fpdus, "FPDUs", "FPDUs written to their stream.")                                        \
	X(payload_bytes, "bytes", "Payload written to streams.")                                   \
	X(overhead_bytes, "bytes",                                                                 \
	  "Lengths, headers, pad and CRCs of FPDUs, and startup frames, written to streams.")      \
	X(split_segments, "segments",                                                              \
	  "Segments sent that are not exactly one FPDU, because a receive window cut them.")       \
	X(state_bytes, "bytes",                                                                    \
	  "Memory of the adapter for the states of all connections: TCP control blocks, and "      \
	  "entries of receive queues (memory.iwarp_context, .iwarp_receive_entry).")          \
	X(connection_held_bytes, "bytes",                                                          \
	  "Largest number of bytes that one connection held in the adapter.")
/* clang-format on */

struct endpoint_iwarp_counters {
	ENDPOINT_IWARP_COUNTERS(COUNTER_FIELD)
};

#endif
