/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partition: the P_Keys of a port, and the check whether two ports may communicate: IBTA vol. 1,
 * 10.9. A P_Key has a number of 15 bits and a bit for full membership. Limited members can
 * communicate only with full members.
 */
#ifndef FABRIC_PARTITION_H
#define FABRIC_PARTITION_H

#include <stdbool.h>
#include <stdint.h>

#define PKEY_FULL   0x8000
#define PKEY_NUMBER 0x7fff
/* default partition, of which each port is a member unless the scenario says otherwise */
#define PKEY_DEFAULT 0xffff
#define PKEYS_MAX    128 /* per port */

struct partitions { /* P_Keys of a port, by index; entries from `count` on are 0 (invalid) */
	uint16_t keys[PKEYS_MAX];
	uint16_t count;
};

extern const struct partitions partitions_default;

static inline bool pkey_matches(uint16_t one, uint16_t other)
{
	return ((one ^ other) & PKEY_NUMBER) == 0 && ((one | other) & PKEY_FULL) &&
	       (one & PKEY_NUMBER);
}

/* Returns true if one of the port's P_Keys matches `pkey`. */
bool partitions_match(const struct partitions *partitions, uint16_t pkey);

/* Returns true if the port has a P_Key with the number of `pkey`, full or limited. */
bool partitions_have(const struct partitions *partitions, uint16_t pkey);

/* Returns the first P_Key of one port that matches the other port, or its first P_Key if none
 * matches. */
uint16_t partitions_towards(const struct partitions *one, const struct partitions *other);

#endif
