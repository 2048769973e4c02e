/*
 * clock: a clock domain. No event toggles: edges are computed, edge(n) = floor(n * period), with the period kept as
 * a fraction of picoseconds and 128-bit products, so there is no drift. The same arithmetic serves a link whose byte
 * time is not a whole number of picoseconds (56 Gb/s FDR, PCIe): its "edges" are the ends of its bytes.
 */
#ifndef SIM_CLOCK_H
#define SIM_CLOCK_H

#include "sim/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* period = numerator / denominator picoseconds, in lowest terms */
struct clock {
	uint64_t numerator;
	uint64_t denominator;
};

void clock_init_hertz(struct clock *clock, uint64_t hertz);
void clock_init_period(struct clock *clock, uint64_t numerator, uint64_t denominator);

/* Time of edge n; edge 0 is at time 0. */
sim_time clock_edge(const struct clock *clock, uint64_t n);

/* Number of the first edge at or after `time`. */
uint64_t clock_edge_number(const struct clock *clock, sim_time time);

/* First edge at or after `time`, and the one `cycles` after it. */
sim_time clock_align(const struct clock *clock, sim_time time);
sim_time clock_after(const struct clock *clock, sim_time time, uint64_t cycles);

#ifdef __cplusplus
}
#endif
#endif
