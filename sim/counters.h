/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters: the counters (and, in JSON, the gauges) of all blocks of a run, in order of creation, as a user reads them.
 *
 *     text   host0.hca.port.packets_sent=12
 *     JSON   {"host0.hca.port": {"type": "port", "counters": {"packets_sent": 12, ...},
 *                                "gauges": {"link": {"kind": "BUSY", ..., "area_ps": 960}, ...}}, ...}
 */
#ifndef SIM_COUNTERS_H
#define SIM_COUNTERS_H

#include <stdio.h>

#include "sim/block.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Blocks whose names match the glob pattern; NULL: all. */
void counters_print_text(const struct sim *sim, const char *pattern, FILE *out);
void counters_print_json(const struct sim *sim, const char *pattern, FILE *out);

/* Where one counter is, by the name that the text form prints. NULL: there is none. */
const uint64_t *counters_find(const struct sim *sim, const char *name);

#ifdef __cplusplus
}
#endif
#endif
