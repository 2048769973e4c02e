/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connection_cache: the contexts of queue pairs and iWARP connections that an endpoint adapter has
 * on its chip: the block NAME.contexts. Packets need the context of their connection.
 *
 *     head of a packet --take--> [ sets x ways ] --hit--> the packet takes effect
 *     queue pair to send --use-------'  `--miss--> fetch, one of `fetches`
 *
 * A received packet takes effect when its context is there. Later packets wait behind this packet.
 * A queue pair without its context does not send requests. Other queue pairs pass it. ACKs and
 * responses leave without a lookup, because the packet before them has brought the context.
 *
 * The cache of detailed adapters is context_cache.h, which this one resembles.
 */
#ifndef HCA_ENDPOINT_CONNECTION_CACHE_H
#define HCA_ENDPOINT_CONNECTION_CACHE_H

#include "hca/endpoint/connection_params.h"
#include "sim/sim.h"

/* clang-format off */
#define CONNECTION_CACHE_COUNTERS(X)                                                               \
	X(lookups, "lookups", "Contexts that packets needed: hits + merges + misses.")             \
	X(hits, "lookups", "Contexts that were on the chip.")                                      \
	X(merges, "lookups", "Contexts that were being fetched.")                                  \
	X(misses, "lookups", "Contexts that had to be fetched.")                                   \
	X(stalls, "fetches", "Fetches that began late, because `fetches` were in progress.")   \
	X(evictions, "contexts", "Contexts replaced to make room.")
/* clang-format on */

struct connection_cache_counters {
	CONNECTION_CACHE_COUNTERS(COUNTER_FIELD)
};

struct connection_cache;
struct endpoint_hca;
struct endpoint_qp;
struct packet;

void connection_cache_init(struct endpoint_hca *ep, const struct connection_cache_params *params);
void connection_cache_destroy(struct endpoint_hca *ep);

/* Returns the time at which the context of a received packet is on the chip, at least `at`. */
sim_time connection_cache_take(struct endpoint_hca *ep, const struct packet *packet, sim_time at);

/* Looks up the context before a packet is sent. Returns true if the packet may leave now. Otherwise
 * the queue pair waits until `allowed_at`. */
bool connection_cache_allows(struct endpoint_qp *qp);

/* Returns NULL without a cache. */
const struct connection_cache_counters *connection_cache_counters(const struct endpoint_hca *ep);

#endif
