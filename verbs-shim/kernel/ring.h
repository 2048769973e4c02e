/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring: checks the requirements of the mlx5 user ABI for rings and doorbell records in the driver's
 * memory.
 */
#ifndef VERBS_SHIM_KERNEL_RING_H
#define VERBS_SHIM_KERNEL_RING_H

#include "verbs-shim/kernel/command.h"

enum {
	RING_SEGMENT_BYTES = 16
}; /* size of an element of a receive WQE, and of an SRQ's link to the next WQE */

static inline bool ring_is_power_of_two(uint64_t value)
{
	return value != 0 && (value & (value - 1)) == 0;
}

static inline uint64_t ring_round_up(uint64_t value)
{
	uint64_t power = 1;
	while (power < value)
		power *= 2;
	return power;
}

/* Checks that the ring's first and last byte and the doorbell record are accessible. Returns 0,
 * -EINVAL or -EFAULT. */
int ring_check(struct command *command, uint64_t buffer, uint64_t bytes, uint64_t doorbell_record);

/* Shares the ring and the doorbell record, because the HCA accesses them often. */
void ring_share(struct command *command, struct object *object, uint64_t buffer, uint64_t bytes,
		uint64_t doorbell_record);

/* Reverts ring_share() after the object is destroyed. The page of the record may still hold records
 * of other objects. */
void ring_retire(struct command *command, const struct object *object);

#endif
