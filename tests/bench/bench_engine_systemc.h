/* SPDX-License-Identifier: Apache-2.0 */
/* bench_engine_systemc: the same benchmark on bare SystemC, with one SC_METHOD and one sc_event for
 * each pending event. */
#ifndef TESTS_BENCH_BENCH_ENGINE_SYSTEMC_H
#define TESTS_BENCH_BENCH_ENGINE_SYSTEMC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bare_load {
	size_t pending;
	size_t timers; /* the last so many of the pending events are moved about, and never fire */
	uint64_t (*delay)(void);
	uint64_t (*timer_delay)(void);
	size_t (*timer_to_move)(void); /* 0..timers-1, or SIZE_MAX: none at this hold */
};

/* Returns the CPU seconds of `holds` holds, after `warm_up` holds, by the caller's clock. */
double bare_systemc_seconds(const struct bare_load *load, size_t warm_up, size_t holds,
			    double (*cpu_seconds)(void),
			    double (*seconds_since)(double begin, size_t holds));

#ifdef __cplusplus
}
#endif
#endif
