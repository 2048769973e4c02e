/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cnp_limiter: how often a receiver of marked packets says so: no more than one CNP in an interval for each queue pair, each
 * source address, or the whole port, as adapters differ (ground truth C-21).
 *
 *     endpoint (hca/endpoint/notify.c), detailed adapter (hca/transport/notification.c) --cnp_limiter_pass()--> may it go?
 */
#ifndef HCA_CONGESTION_CNP_LIMITER_H
#define HCA_CONGESTION_CNP_LIMITER_H

#include "sim/block.h"

/* clang-format off */
/* Of whoever sends CNPs, among its own parameters. */
#define CNP_PARAMS(X)                                                                                      \
	X(cnp_limit,       CHOICE, "qp",   "qp|address|port", "cnp_interval holds for each queue pair, each peer, or the whole port", "ground truth C-21") \
	X(cnp_interval,    TIME,  "50us",  "0ps..100ms",  "between two CNPs at least",                                 "ground truth C-17; 4 us: C-19") \
	X(cnp_delay,       TIME,  "0ps",   "0ps..1ms",    "from a marked packet to its CNP, beyond what any packet takes", "choice") \
	X(cnp_priority,    COUNT, "16",    "0..16",       "service level of CNPs, 16: the queue pair's own",           "choice")
/* clang-format on */

enum cnp_limit { CNP_PER_QP, CNP_PER_ADDRESS, CNP_PER_PORT }; /* in the order of the list */

#define CNP_OWN_PRIORITY 16

struct cnp_peer {        /* one source address */
	uint32_t source; /* NO_ENDPOINT: free */
	sim_time cnp_at;
};

/* Zeroed: no CNP has gone yet. */
struct cnp_limiter {
	sim_time port_at;
	struct cnp_peer *peers; /* hash table, open addressing */
	uint32_t count, capacity;
};

void cnp_limiter_fini(struct cnp_limiter *limiter);

/* May a CNP go to that source now? If it may, it goes. qp_at: where its queue pair keeps the time of the next one, 0 at first. */
bool cnp_limiter_pass(struct cnp_limiter *limiter, enum cnp_limit limit, sim_time interval,
		      uint32_t source, sim_time *qp_at, sim_time now);

#endif
