/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hw_counters: port counters under the names of Linux and mlx5, computed from the counters of the
 * blocks. sysfs (ports/1/counters, hw_counters) and `rdma statistic` read them.
 *
 * IBTA vol. 1, 16.1.3.5 (PortCounters: data in units of four bytes, without VCRC);
 * Documentation/ABI/stable/sysfs-class-infiniband.
 */
#ifndef HCA_DEVICE_HW_COUNTERS_H
#define HCA_DEVICE_HW_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

struct hca;

struct hw_counter {
	const char *name;
	bool of_port; /* in counters/, otherwise in hw_counters/ */
	bool of_roce; /* exists on RoCE only */
	uint64_t (*value)(const struct hca *hca);
};

/* The last entry has no name. */
extern const struct hw_counter hw_counters[];

#endif
