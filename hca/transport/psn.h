/* SPDX-License-Identifier: Apache-2.0 */
/*
 * psn: packet sequence numbers, 24 bits that wrap. IBTA vol. 1, 9.7.1.
 */
#ifndef HCA_TRANSPORT_PSN_H
#define HCA_TRANSPORT_PSN_H

#include <stdint.h>

#define PSN_MASK UINT32_C(0xffffff)

static inline uint32_t psn_add(uint32_t psn, uint32_t packets)
{
	return (psn + packets) & PSN_MASK;
}

/* How far `to` is ahead of `from`; negative: behind. */
static inline int32_t psn_distance(uint32_t from, uint32_t to)
{
	return (int32_t)((to - from) << 8) >> 8;
}

#endif
