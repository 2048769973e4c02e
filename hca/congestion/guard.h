/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard: stands between callers and a congestion control from a shared object: each call is watched (sim/foreign.h), and what it leaves in
 * the flow is checked. Built-in algorithms have none.
 *
 *     endpoint, reaction --ops of the guard--> ops of the plug-in
 */
#ifndef HCA_CONGESTION_GUARD_H
#define HCA_CONGESTION_GUARD_H

#include "hca/congestion/congestion.h"

/* What a flow may say, besides RATE_UNLIMITED and CWND_UNLIMITED. */
#define GUARD_RATE_LEAST UINT64_C(1000)             /* bit/s: the least that parameters take */
#define GUARD_RATE_MOST  UINT64_C(1000000000000000) /* bit/s: 300 times the fastest port */
#define GUARD_CWND_MOST  (UINT64_C(1) << 40)        /* bytes */
/* step() may be called so often for each other call of a thread's flows, and that many times more: else next_step hardly moves. */
#define GUARD_STEPS_EACH 1000u
#define GUARD_STEPS_MORE 1000000u

/* A table that checks, with room for the plug-in's parameters, zeroed, in *params. */
const struct congestion_ops *guard_create(const struct congestion_ops *plugin, const char *path,
					  void **params);
void guard_destroy(void *params); /* NULL: nothing */

#endif
