/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core_clock: the adapter's free-running clock, which time stamps of CQEs show and CPUs read: a
 * counter of 64 bits in two registers of the initialization segment, the upper half first. The
 * clocks of all adapters begin at virtual time 0.
 *
 * Source: struct mlx5_init_seg of the Linux driver (recalled): internal_timer_h and
 * internal_timer_l at 0x1000.
 */
#ifndef HCA_HOST_CORE_CLOCK_H
#define HCA_HOST_CORE_CLOCK_H

#include "hca/host/pcie.h"
#include "sim/sim.h"

/* Offset in the BAR: 64 bits, big endian. */
#define CORE_CLOCK_AT UINT64_C(0x1000)

struct core_clock {
	const struct sim *sim;
	uint64_t frequency; /* Hz */
};

/* Answers the CPUs' loads over that PCIe link from now on. What is no register reads as 0. The
 * clock outlives the link. */
void core_clock_init(struct core_clock *clock, const struct sim *sim, uint64_t frequency,
		     struct pcie *pcie);

/* Returns the cycles since virtual time 0. */
uint64_t core_clock_cycles(const struct core_clock *clock);

#endif
