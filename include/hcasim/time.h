/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time: simulated time as a number of picoseconds, and its units.
 */
#ifndef INCLUDE_HCASIM_TIME_H
#define INCLUDE_HCASIM_TIME_H

#include <stdint.h>

typedef uint64_t sim_time; /* picoseconds since the start of the run */

#define PS        UINT64_C(1)
#define NS        (1000 * PS)
#define US        (1000 * NS)
#define MS        (1000 * US)
#define SEC       (1000 * MS)
#define SIM_NEVER (UINT64_MAX >> 3) /* later than any event: 26.7 days */

#endif
