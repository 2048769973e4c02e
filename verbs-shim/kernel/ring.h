/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring: checks of what the mlx5 user ABI says about rings and doorbell records, which are the driver's own memory.
 */
#ifndef VERBS_SHIM_KERNEL_RING_H
#define VERBS_SHIM_KERNEL_RING_H

#include "verbs-shim/kernel/command.h"

enum {
	RING_SEGMENT_BYTES = 16
}; /* of a receive WQE: each element, and of an SRQ the link to the next */

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

/* The ring's first and last byte and the doorbell record must be there. 0, -EINVAL or -EFAULT. */
int ring_check(struct command *command, uint64_t buffer, uint64_t bytes, uint64_t doorbell_record);

/* Both will be touched often. */
void ring_share(struct command *command, struct object *object, uint64_t buffer, uint64_t bytes,
		uint64_t doorbell_record);

/* Neither will be once the object is gone; the record's page may still hold those of others. */
void ring_retire(struct command *command, const struct object *object);

#endif
