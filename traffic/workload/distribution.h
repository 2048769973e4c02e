/* SPDX-License-Identifier: Apache-2.0 */
/*
 * distribution: sizes of flows as piecewise linear distribution functions. The functions are
 * published, or read from a user's file.
 *
 * A file has one line `BYTES PERCENT` for each point: PERCENT of the flows have at most BYTES. Both
 * numbers are separated by blanks or a comma. Bytes do not decrease. Percentages increase up to
 * 100. Lines that begin with # are comments. This is the format of the HPCC study's traffic
 * generator.
 */
#ifndef TRAFFIC_WORKLOAD_DISTRIBUTION_H
#define TRAFFIC_WORKLOAD_DISTRIBUTION_H

#include "sim/random.h"

/* clang-format off */
/* X(name, source) */
#define DISTRIBUTIONS(X) \
	X(fixed, \
	  "every flow has `bytes`") \
	X(web_search, \
	  "Alizadeh et al., DCTCP, SIGCOMM'10, fig. 4, as the HPCC study (SIGCOMM'19) stores it") \
	X(web_search_1k, \
	  "as web_search, with the published table read as counts of packets of 1000 B, as " \
	  "simulators of such packets do") \
	X(hadoop, \
	  "Roy et al., Inside the social network's (datacenter) network, SIGCOMM'15, fig. 6, " \
	  "as the HPCC study stores it") \
	X(storage, \
	  "Alibaba block storage 2019, published with the HPCC study's traffic generator") \
	X(file, \
	  "the file that `cdf` names") \
	X(irn, \
	  "Mittal et al., IRN, SIGCOMM'18, 4.1, from memory: half of one packet, 15 % of 200 " \
	  "KB to 3 MB")

#define DISTRIBUTION_ENUM(name, source) DISTRIBUTION_##name,
enum distribution { DISTRIBUTIONS(DISTRIBUTION_ENUM) DISTRIBUTION_COUNT };
/* clang-format on */

struct size_distribution;

/* Returns a published distribution, or NULL for DISTRIBUTION_fixed and DISTRIBUTION_file. */
struct size_distribution *distribution_create(enum distribution which);

/* Returns the distribution of a file. Returns NULL on failure and writes file, line and reason to
 * `error`. */
struct size_distribution *distribution_read(const char *path, char *error, size_t error_bytes);
void distribution_destroy(struct size_distribution *distribution);

double distribution_mean(const struct size_distribution *distribution);
uint64_t distribution_draw(const struct size_distribution *distribution,
			   struct random *random); /* result: 1 or more */

/* Returns the size in bytes that this share of the flows does not exceed. */
double distribution_quantile(const struct size_distribution *distribution, double share);

#endif
