/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule: in which order the VLs of a port are served when several have a packet that may leave. Private to the
 * port: arbiter.c asks, port.h has what users set.
 *
 *     weighted  VLs of `strict` first, the highest number first; the rest by deficit round robin on bytes
 *               (Shreedhar, Varghese, SIGCOMM 1995), the enhanced transmission selection of IEEE 802.1Qaz
 *     tables    InfiniBand VL arbitration: a high and a low table, weights in 64 bytes, and the limit of bytes after
 *               which the low table gets its turn; IBTA vol. 1, 7.6.9
 */
#ifndef FABRIC_SCHEDULE_H
#define FABRIC_SCHEDULE_H

#include "fabric/port.h"

struct schedule;

/* NULL: the parameters say `turns`. */
struct schedule *schedule_create(const struct port_params *params);
struct schedule *schedule_create_tables(const struct vl_arbitration *tables);
void schedule_destroy(struct schedule *schedule); /* NULL: nothing happens */

/* One of the VLs whose bit is set, at least one, not VL15; its packet leaves. `emptied`: it was the VL's last. */
unsigned schedule_pick(struct schedule *schedule, uint32_t vls);
void schedule_charge(struct schedule *schedule, unsigned vl, uint32_t wire_bytes, bool emptied);

#endif
