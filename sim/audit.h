/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit: checks conservation laws that hold for every gauge at any time, for every kind of
 * block:
 *
 *     utilisation  busy or occupied time is at most capacity x time
 *                  busy time = completions x service time, if the service time is fixed
 *     population   at least 0 and at most the capacity
 *     Little       integral of the population = sum of the stays, finished and unfinished
 *     order        items leave a queue in the order that the block states (struct audit_order)
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

/* The violations of one order that a block observed. All zero means none. The figures belong to the
 * first violation. */
struct audit_order {
	uint64_t violations;
	sim_time at;
	uint64_t queue, expected, found;
};

/* Records an item that left `queue` as number `found` where `expected` was due. */
void audit_order_note(struct audit_order *order, sim_time now, uint64_t queue, uint64_t expected,
		      uint64_t found);

static inline void audit_order_expect(struct audit_order *order, sim_time now, uint64_t queue,
				      uint64_t expected, uint64_t found)
{
	if (__builtin_expect(expected != found, 0))
		audit_order_note(order, now, queue, expected, found);
}

/* Reports the violations of an order. `what` is the name of the items and the queue, as "CQEs of a
 * CQ". A type's audit() calls this function. */
void audit_order(struct block *block, FILE *out, const struct audit_order *order, const char *what);

/* Checks all gauges of the block, then the laws of its type. Adds violations to
 * block->violations and writes a line for each to `out`. */
void audit_block(struct block *block, FILE *out);

/* Checks that the block's server was busy for exactly completions x service. A type's audit() calls
 * this function. */
void audit_service(struct block *block, FILE *out, const struct gauge *server, uint64_t completions,
		   sim_time service);

#ifdef __cplusplus
}
#endif
#endif
