/* SPDX-License-Identifier: Apache-2.0 */
/*
 * psn: packet sequence numbers, 24 bits that wrap. IBTA vol. 1, 9.7.1.
 */
#ifndef HCA_TRANSPORT_PSN_H
#define HCA_TRANSPORT_PSN_H

#include <stdint.h>

#include "fabric/wire/bytes.h"

#define PSN_MASK MASK_24

static inline uint32_t psn_add(uint32_t psn, uint32_t packets)
{
	return (psn + packets) & PSN_MASK;
}

/* Returns the distance by which `to` is ahead of `from`, negative if it is behind. */
static inline int32_t psn_distance(uint32_t from, uint32_t to)
{
	return (int32_t)((to - from) << 8) >> 8;
}

#endif
