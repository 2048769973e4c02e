/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core_clock: the free-running clock of the adapter. CQEs carry its time stamps and CPUs read it.
 * It is a 64-bit counter in two registers of the initialization segment, the upper half first. The
 * clocks of all adapters start at virtual time 0.
 *
 * Source: struct mlx5_init_seg of the Linux driver (recalled): internal_timer_h and
 * internal_timer_l at 0x1000.
 */
#ifndef HCA_HOST_CORE_CLOCK_H
#define HCA_HOST_CORE_CLOCK_H

#include "hca/host/pcie.h"
#include "sim/sim.h"

/* Offset of the 64-bit big-endian counter in the BAR. */
#define CORE_CLOCK_AT UINT64_C(0x1000)

struct core_clock {
	const struct sim *sim;
	uint64_t frequency; /* Hz */
};

/* Attaches the clock to a PCIe link, so that it answers CPU loads from now on. Offsets without a
 * register read as 0. The clock must outlive the link. */
void core_clock_init(struct core_clock *clock, const struct sim *sim, uint64_t frequency,
		     struct pcie *pcie);

/* Returns the clock cycles since virtual time 0. */
uint64_t core_clock_cycles(const struct core_clock *clock);

#endif
