/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cnp_limiter: limits the CNPs that a receiver of marked packets sends to one per interval. The
 * interval applies to each queue pair, each source address, or the whole port, because adapters
 * differ (Lumina, SIGCOMM 2023, row C-21).
 *
 *     endpoint (hca/endpoint/notify.c),
 *     detailed adapter (hca/transport/notification.c) --cnp_limiter_pass()--> true: send the CNP
 */
#ifndef HCA_CONGESTION_CNP_LIMITER_H
#define HCA_CONGESTION_CNP_LIMITER_H

#include "sim/block.h"

/* clang-format off */
/* Parameters for blocks that send CNPs, part of the block's own list. */
#define CNP_PARAMS(X)                                                                      \
	X(cnp_limit, CHOICE, "qp", "qp|address|port",                                      \
	  "Scope of cnp_interval: each queue pair, each peer address, or the whole port.", \
	  "Lumina, SIGCOMM 2023 (row C-21)")                                               \
	X(cnp_interval, TIME, "50us", "0ps..100ms",                                        \
	  "Minimum time between two CNPs.",                                                \
	  "Zhu et al., CoNEXT 2016 (row C-17); 4 us: C-19")                                \
	X(cnp_delay, TIME, "0ps", "0ps..1ms",                                              \
	  "Time from a marked packet to its CNP, in addition to the time of any packet.",  \
	  "choice")                                                                        \
	X(cnp_priority, COUNT, "16", "0..16",                                              \
	  "Service level of CNPs. `16`: the service level of the queue pair.",             \
	  "choice")
/* clang-format on */

enum cnp_limit { CNP_PER_QP, CNP_PER_ADDRESS, CNP_PER_PORT }; /* in the order of the list */

#define CNP_OWN_PRIORITY 16

struct cnp_peer {        /* one source address */
	uint32_t source; /* NO_ENDPOINT if the entry is free */
	sim_time cnp_at;
};

/* A zeroed limiter has sent no CNP. */
struct cnp_limiter {
	sim_time port_at;
	struct cnp_peer *peers; /* hash table, open addressing */
	uint32_t count, capacity;
};

void cnp_limiter_fini(struct cnp_limiter *limiter);

/*
 * Returns true if a CNP to `source` may be sent at `now`, and records it as sent. `qp_at` is the
 * queue pair's storage for the time of its next CNP, initially 0.
 */
bool cnp_limiter_pass(struct cnp_limiter *limiter, enum cnp_limit limit, sim_time interval,
		      uint32_t source, sim_time *qp_at, sim_time now);

#endif
