/*
 * core_clock: the adapter's free-running clock, which time stamps of CQEs show and CPUs read: a counter of 64 bits in two
 * registers of the initialization segment, the upper half first. All adapters' begin at virtual time 0.
 *
 * Source: struct mlx5_init_seg of the Linux driver (recalled): internal_timer_h and internal_timer_l at 0x1000.
 */
#ifndef HCA_DEVICE_CORE_CLOCK_H
#define HCA_DEVICE_CORE_CLOCK_H

#include "hca/device/hca.h"

/* Cycles so far. */
uint64_t core_clock_cycles(const struct hca *hca);

/* Answers CPUs' loads from now on. What is no register reads as 0. */
void core_clock_attach(struct hca *hca);

#endif
