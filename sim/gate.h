/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate: where threads wait for each other: all must have come before any goes on. Windows are some microseconds long,
 * so who waits looks again for a while before it gives its processor to others.
 */
#ifndef SIM_GATE_H
#define SIM_GATE_H

#include <sched.h>
#include <stdatomic.h>

#define GATE_SPINS 4000

struct gate {
	_Alignas(64) atomic_uint arrived;
	_Alignas(64) atomic_uint round;
	unsigned count;
};

static inline void gate_pass(struct gate *gate)
{
	unsigned round = atomic_load_explicit(&gate->round, memory_order_relaxed);

	if (atomic_fetch_add_explicit(&gate->arrived, 1, memory_order_acq_rel) + 1 == gate->count) {
		atomic_store_explicit(&gate->arrived, 0, memory_order_relaxed);
		atomic_store_explicit(&gate->round, round + 1, memory_order_release);
		return;
	}
	for (unsigned spins = 0; atomic_load_explicit(&gate->round, memory_order_acquire) == round;
	     spins++) {
		if (spins >= GATE_SPINS)
			sched_yield();
		else
			__builtin_ia32_pause();
	}
}

#endif
