/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syndrome: the AETH's syndrome. IBTA vol. 1, 9.7.5.2, tables 43..47.
 */
#ifndef HCA_TRANSPORT_SYNDROME_H
#define HCA_TRANSPORT_SYNDROME_H

#include <stdint.h>

enum syndrome_kind { SYNDROME_ACK = 0, SYNDROME_RNR = 1, SYNDROME_NAK = 3 };

enum nak_code {
	NAK_PSN_SEQUENCE = 0,
	NAK_INVALID_REQUEST = 1,
	NAK_REMOTE_ACCESS = 2,
	NAK_REMOTE_OPERATION = 3,
};

#define SYNDROME_NO_CREDITS 0x1f /* an ACK that limits nothing */

static inline uint8_t syndrome_make(enum syndrome_kind kind, unsigned value)
{
	return (uint8_t)((unsigned)kind << 5 | value);
}

static inline unsigned syndrome_kind(uint8_t syndrome)
{
	return syndrome >> 5 & 3;
}

static inline uint8_t syndrome_value(uint8_t syndrome)
{
	return syndrome & 0x1f;
}

#endif
