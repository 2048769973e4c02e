/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule: the order in which the VLs of a port are served if several have a packet that may
 * leave. Private to the port: arbiter.c calls it. port.h has the functions for users.
 *
 *     weighted  VLs of `strict` first, the highest number first; the rest by deficit round robin
 *               on bytes (Shreedhar, Varghese, SIGCOMM 1995), the enhanced transmission selection
 *               of IEEE 802.1Qaz
 *     tables    InfiniBand VL arbitration: a high and a low table, weights in 64 bytes, and the
 *               limit of bytes after which the low table is served; IBTA vol. 1, 7.6.9
 */
#ifndef FABRIC_SCHEDULE_H
#define FABRIC_SCHEDULE_H

#include "fabric/port.h"

struct schedule;

/* Creates the schedule of the parameters. Returns NULL for `round_robin`. */
struct schedule *schedule_create(const struct port_params *params);
struct schedule *schedule_create_tables(const struct vl_arbitration *tables);
struct schedule *schedule_create_custom(const struct port_scheduler *scheduler,
					const struct port *port);
void schedule_destroy(struct schedule *schedule); /* NULL is allowed */

/* schedule_pick() returns one of the VLs whose bit is set, at least one and not VL15.
 * schedule_charge() charges its departing packet. `emptied` is true for the VL's last packet. */
unsigned schedule_pick(struct schedule *schedule, uint32_t vls);
void schedule_charge(struct schedule *schedule, unsigned vl, uint32_t wire_bytes, bool emptied);

/* Folds the state. Returns false for a custom schedule, whose state is not known. */
bool schedule_fold(const struct schedule *schedule, struct fold *fold);

#endif
