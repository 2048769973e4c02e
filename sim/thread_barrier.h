/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_barrier: a barrier at which all threads wait for each other. Windows take only
 * microseconds, so a waiting thread polls BARRIER_SPINS times before it yields its processor.
 */
#ifndef SIM_THREAD_BARRIER_H
#define SIM_THREAD_BARRIER_H

#include <sched.h>
#include <stdatomic.h>

#define BARRIER_SPINS 4000

struct thread_barrier {
	_Alignas(64) atomic_uint arrived;
	_Alignas(64) atomic_uint round;
	unsigned count;
};

static inline void thread_barrier_wait(struct thread_barrier *barrier)
{
	unsigned round = atomic_load_explicit(&barrier->round, memory_order_relaxed);

	if (atomic_fetch_add_explicit(&barrier->arrived, 1, memory_order_acq_rel) + 1 ==
	    barrier->count) {
		atomic_store_explicit(&barrier->arrived, 0, memory_order_relaxed);
		atomic_store_explicit(&barrier->round, round + 1, memory_order_release);
		return;
	}
	for (unsigned spins = 0;
	     atomic_load_explicit(&barrier->round, memory_order_acquire) == round; spins++) {
		if (spins >= BARRIER_SPINS)
			sched_yield();
		else
			__builtin_ia32_pause();
	}
}

#endif
