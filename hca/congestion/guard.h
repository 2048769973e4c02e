/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard: protects callers from errors of a congestion control in a shared object. It supervises
 * each call (sim/foreign.h), and checks the flow's state after the call. Built-in algorithms need
 * no guard.
 *
 *     endpoint, reaction --ops of the guard--> ops of the plug-in
 */
#ifndef HCA_CONGESTION_GUARD_H
#define HCA_CONGESTION_GUARD_H

#include "hca/congestion/congestion.h"

/* Allowed values of a flow, in addition to RATE_UNLIMITED and CWND_UNLIMITED. */
#define GUARD_RATE_LEAST UINT64_C(1000)             /* bit/s: the smallest rate of a parameter */
#define GUARD_RATE_MOST  UINT64_C(1000000000000000) /* bit/s: 300 times the fastest port */
#define GUARD_CWND_MOST  (UINT64_C(1) << 40)        /* bytes */
/* Limits of calls of step() in a thread. Each other call allows GUARD_STEPS_EACH calls, and
 * GUARD_STEPS_MORE calls are allowed in addition. More calls mean that next_step hardly
 * advances. */
#define GUARD_STEPS_EACH 1000u
#define GUARD_STEPS_MORE 1000000u

/* Returns a table of functions that check. Writes the zeroed storage of the plug-in's parameters to
 * *params. */
const struct congestion_ops *guard_create(const struct congestion_ops *plugin, const char *path,
					  void **params);
void guard_destroy(void *params); /* NULL is allowed */

#endif
