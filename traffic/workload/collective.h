/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collective: adds the flows of one collective operation among some hosts, step by step. A member
 * enters the collective at the end of a flow of the caller, and leaves it at the end of another
 * one:
 *
 *     enter[member] --> flows of the collective --> leave[member]
 *
 * A member enters alone: another member that is late delays only the steps that need its data.
 */
#ifndef TRAFFIC_WORKLOAD_COLLECTIVE_H
#define TRAFFIC_WORKLOAD_COLLECTIVE_H

#include "traffic/workload/workload.h"

/* `bytes` is the data that a member puts in. */
/* clang-format off */
#define COLLECTIVES(X) \
	X(ALL_REDUCE,     "all-reduce: ring, 2 (n - 1) steps of 1/n of the bytes") \
	X(REDUCE,         "reduce: binomial tree to the root, all bytes in each step") \
	X(ALL_GATHER,     "all-gather: ring, n - 1 steps of all bytes") \
	X(GATHER,         "gather: binomial tree to the root") \
	X(SCATTER,        "scatter: binomial tree from the root, whose bytes are for all members") \
	X(BROADCAST,      "broadcast: binomial tree from the root, all bytes in each step") \
	X(ALL_TO_ALL,     "all-to-all: n - 1 steps of 1/n of the bytes, in pairs") \
	X(REDUCE_SCATTER, "reduce-scatter: ring, n - 1 steps of 1/n of the bytes") \
	X(BARRIER,        "barrier: dissemination, steps of one byte")

/* clang-format on */
#define COLLECTIVE_ENUM(name, steps) COLLECTIVE_##name,
enum collective_kind { COLLECTIVES(COLLECTIVE_ENUM) COLLECTIVE_COUNT };

struct collective {
	enum collective_kind kind;
	uint64_t bytes;
	uint32_t root, count;  /* members: root is one of 0 .. count - 1 */
	const uint32_t *hosts; /* [count] */
	const uint32_t *enter; /* [count] barriers of one host */
	const uint32_t *leave;
};

/* Adds the flows. A collective of one member takes no time. */
void collective_add(struct workload *workload, const struct collective *collective);

#endif
