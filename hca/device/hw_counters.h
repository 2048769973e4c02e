/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hw_counters: what an adapter's port counts under the names that Linux and mlx5 give it, from the counters of the blocks:
 * sysfs (ports/1/counters, hw_counters) and `rdma statistic` read it.
 *
 * IBTA vol. 1, 16.1.3.5 (PortCounters: data in units of four bytes, without VCRC); Documentation/ABI/stable/sysfs-class-infiniband.
 */
#ifndef HCA_DEVICE_HW_COUNTERS_H
#define HCA_DEVICE_HW_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

struct hca;

struct hw_counter {
	const char *name;
	bool of_port; /* counters/; else hw_counters/ */
	bool of_roce; /* there on RoCE alone */
	uint64_t (*read)(const struct hca *hca);
};

/* The last has no name. */
extern const struct hw_counter hw_counters[];

#endif
