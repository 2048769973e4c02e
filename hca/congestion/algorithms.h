/* SPDX-License-Identifier: Apache-2.0 */
/*
 * algorithms: the list of built-in algorithms. Each NAME is defined in NAME.c.
 */
#ifndef HCA_CONGESTION_ALGORITHMS_H
#define HCA_CONGESTION_ALGORITHMS_H

#include "hca/congestion/congestion.h"

/* clang-format off */
#define CONGESTION_ALGORITHMS(X) \
	X(none) X(window) X(dcqcn) X(timely) X(hpcc) X(swift) X(dctcp) X(infiniband) \
	X(newreno) X(cubic)

#define ALGORITHM_DECLARE(name) extern const struct congestion_ops congestion_##name;
CONGESTION_ALGORITHMS(ALGORITHM_DECLARE)
#undef ALGORITHM_DECLARE
/* clang-format on */

/* Returns the payload bytes that fill the path at line rate. */
static inline uint64_t congestion_bdp_bytes(const struct congestion_path *path)
{
	return (uint64_t)((double)path->line_rate_bps * (double)path->base_rtt /
			  (8.0 * (double)SEC));
}

static inline uint64_t congestion_clamp(double value, double low, double high)
{
	return (uint64_t)(value < low ? low : value > high ? high : value);
}

/* Implements ack_bytes() for algorithms that need an ACK for each packet. */
static inline uint64_t congestion_each_packet(const void *params)
{
	(void)params;
	return 1;
}

#endif
