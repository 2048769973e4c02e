/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encoding: the signalling rates of InfiniBand lanes, and the data rates after the line code.
 *
 * Source: IBTA vol. 2, chapters 5 and 6. The data rates are those that UCX and rdma-core state for
 * 4 lanes. From HDR on, the table holds the data rate itself, because the signalling rate includes
 * the overhead of 256b/257b and RS-FEC.
 */
#ifndef FABRIC_ENCODING_H
#define FABRIC_ENCODING_H

#include <stdint.h>

/* clang-format off */
/*        name    data Mb/s per lane = signalled kbd * bits / of / 1000 */
#define INFINIBAND_SPEEDS(X)           \
	X(SDR,       2500000,  8,  10) \
	X(DDR,       5000000,  8,  10) \
	X(QDR,      10000000,  8,  10) \
	X(FDR10,    10312500, 64,  66) \
	X(FDR,      14062500, 64,  66) \
	X(EDR,      25781250, 64,  66) \
	X(HDR,      50000000,  1,   1) \
	X(NDR,     100000000,  1,   1) \
	X(XDR,     200000000,  1,   1)

#define INFINIBAND_SPEED_ENUM(name, kilobaud, bits, of) SPEED_##name,
enum infiniband_speed { SPEED_EXPLICIT, INFINIBAND_SPEEDS(INFINIBAND_SPEED_ENUM) SPEED_COUNT };
/* clang-format on */

/* Returns the data rate of a number of lanes, rounded down to a whole bit per second. */
uint64_t encoding_rate_bps(enum infiniband_speed speed, uint64_t width);

#endif
