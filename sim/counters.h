/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters: prints the counters of all blocks of a run (and, in JSON, the gauges), in order of
 * creation:
 *
 *     text   host0.hca.port.packets_sent=12
 *     JSON   {"host0.hca.port": {"type": "port",
 *                                "counters": {"packets_sent": 12, ...},
 *                                "gauges": {"link": {"kind": "BUSY", ..., "area_ps": 960}, ...}},
 *             ...}
 */
#ifndef SIM_COUNTERS_H
#define SIM_COUNTERS_H

#include <stdio.h>

#include "sim/block.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Prints the counters of the blocks whose names match the glob pattern. `pattern` NULL prints
 * all blocks. */
void counters_print_text(const struct sim *sim, const char *pattern, FILE *out);
void counters_print_json(const struct sim *sim, const char *pattern, FILE *out);

/* Returns the location of one counter, given the name that the text form prints. Returns NULL
 * if no such counter exists. */
const uint64_t *counters_find(const struct sim *sim, const char *name);

#ifdef __cplusplus
}
#endif
#endif
