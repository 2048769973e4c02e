/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partition: which P_Keys a port has, and whether two of them may talk: IBTA vol. 1, 10.9. A P_Key is a number of 15 bits and
 * whether its holder is a full member; limited members may talk to full ones alone.
 */
#ifndef FABRIC_PARTITION_H
#define FABRIC_PARTITION_H

#include <stdbool.h>
#include <stdint.h>

#define PKEY_FULL    0x8000
#define PKEY_NUMBER  0x7fff
#define PKEY_DEFAULT 0xffff /* of the default partition, which all ports are in unless told */
#define PKEYS_MAX    128    /* of a port */

struct partitions { /* of a port, by index; those behind `count` are 0: invalid */
	uint16_t keys[PKEYS_MAX];
	uint16_t count;
};

extern const struct partitions partitions_default;

static inline bool pkey_matches(uint16_t one, uint16_t other)
{
	return ((one ^ other) & PKEY_NUMBER) == 0 && ((one | other) & PKEY_FULL) &&
	       (one & PKEY_NUMBER);
}

/* Has the port one that matches? */
bool partitions_match(const struct partitions *partitions, uint16_t pkey);

/* Has the port one of that number, full or limited? */
bool partitions_have(const struct partitions *partitions, uint16_t pkey);

/* The first P_Key of the one with which it may talk to the other; its first one if there is none. */
uint16_t partitions_towards(const struct partitions *one, const struct partitions *other);

#endif
