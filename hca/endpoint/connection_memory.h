/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connection_memory: the memory that the queue pairs and TCP connections of an endpoint adapter
 * take, in the adapter and in the host. Sizes of states and rings are parameters. Held payload is
 * counted: send buffers, and received bytes that wait for earlier bytes.
 *
 *                  state                                rings     held payload
 *     RDMA         context of the queue pair            host      none: the adapter reads it again
 *     iWARP        control block, receive entries       host      in the adapter
 *     TCP          socket, in the host                  none      in the host
 *
 * Completion queues do not count, because many connections share one.
 */
#ifndef HCA_ENDPOINT_CONNECTION_MEMORY_H
#define HCA_ENDPOINT_CONNECTION_MEMORY_H

#include <stdint.h>

struct endpoint_hca;
struct tcp_end;

/* Of all connections of an adapter. */
struct connection_memory {
	uint64_t connections;
	uint64_t state_bytes, ring_bytes;
	uint64_t held_bytes; /* largest value of the run */
};

/* Returns the memory of an adapter's connections: zeros without endpoint_set_connections(). */
struct connection_memory connection_memory_of(const struct endpoint_hca *ep);

/* Counts the bytes that a connection holds now. */
void connection_memory_count(struct tcp_end *end);

/* Returns the adapter's memory for the state of one iWARP connection. */
uint64_t connection_memory_iwarp_state(const struct endpoint_hca *ep);

#endif
