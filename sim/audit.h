/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit: checks conservation laws that hold for every gauge at any time, for every kind of
 * block:
 *
 *     utilisation  busy or occupied time is at most capacity x time
 *                  busy time = completions x service time, if the service time is fixed
 *     population   at least 0 and at most the capacity
 *     Little       integral of the population = sum of the stays, finished and unfinished
 *
 * The two sides of Little's law are computed separately. The gauge sums levels over time, and
 * gauge_left() records the time at which each item entered. blocks_check() audits all blocks. A
 * violation prints one line: "block: law: figures".
 */
#ifndef SIM_AUDIT_H
#define SIM_AUDIT_H

#include "sim/gauge.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Checks all gauges of the block, then the laws of its type. Adds violations to
 * block->violations and writes a line for each to `out`. */
void block_audit(struct block *block, FILE *out);

/* Checks that the block's server was busy for exactly completions x service. Called from a
 * type's audit(). */
void audit_service(struct block *block, FILE *out, const struct gauge *server, uint64_t completions,
		   sim_time service);

#ifdef __cplusplus
}
#endif
#endif
