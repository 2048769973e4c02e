/* SPDX-License-Identifier: Apache-2.0 */
/*
 * distribution: published sizes of flows, as piecewise linear distribution functions.
 */
#ifndef TRAFFIC_WORKLOAD_DISTRIBUTION_H
#define TRAFFIC_WORKLOAD_DISTRIBUTION_H

#include "sim/random.h"

/* clang-format off */
/* X(name, source) */
#define DISTRIBUTIONS(X)                                                                                   \
	X(fixed,      "every flow has `bytes`")                                                            \
	X(web_search, "Alizadeh et al., DCTCP, SIGCOMM'10, fig. 4, as the HPCC study (SIGCOMM'19) stores it") \
	X(web_search_1k, "the same, whose table in common use counts packets, with 1000 B each: what a simulator of such packets makes of it") \
	X(hadoop,     "Roy et al., Inside the social network's (datacenter) network, SIGCOMM'15, fig. 6, as the HPCC study stores it") \
	X(storage,    "Alibaba block storage 2019, published with the HPCC study's traffic generator") \
	X(irn,        "Mittal et al., IRN, SIGCOMM'18, 4.1, from memory: half of one packet, 15 % of 200 KB to 3 MB")

#define DISTRIBUTION_ENUM(name, source) DISTRIBUTION_##name,
enum distribution { DISTRIBUTIONS(DISTRIBUTION_ENUM) DISTRIBUTION_COUNT };
/* clang-format on */

struct size_distribution;

/* NULL for DISTRIBUTION_fixed. */
struct size_distribution *distribution_create(enum distribution which);
void distribution_destroy(struct size_distribution *distribution);

double distribution_mean(const struct size_distribution *distribution);
uint64_t distribution_draw(const struct size_distribution *distribution,
			   struct random *random); /* >= 1 */

/* Bytes that a share of the flows does not exceed. */
double distribution_quantile(const struct size_distribution *distribution, double share);

#endif
