/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit: laws that hold for every gauge at any instant, whatever the block models:
 *
 *     utilisation  busy, or occupied, for no more than capacity x time; busy = completions x service where that is fixed
 *     population   never below zero, never above the capacity
 *     Little       the integral of the population = the time that those who left were there, and those who are there have been
 *
 * The sides of Little's law are kept apart: the gauge sums levels over time, and what leaves tells when it came
 * (gauge_left()). blocks_check() audits all blocks; a violation is a line "block: law: figures".
 */
#ifndef SIM_AUDIT_H
#define SIM_AUDIT_H

#include "sim/gauge.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All gauges of the block, then its type's own laws. Counts violations in the block. */
void block_audit(struct block *block, FILE *out);

/* For a type's audit(): the block's server was busy for exactly completions x service. */
void audit_service(struct block *block, FILE *out, const struct gauge *server, uint64_t completions,
		   sim_time service);

#ifdef __cplusplus
}
#endif
#endif
