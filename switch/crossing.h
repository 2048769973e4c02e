/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crossing: which queued packets of an output are still inside the switch's crossing_latency, and so do not wait
 * yet. A port queues a packet as soon as the switch knows its output; telemetry counts the packet from the time on
 * at which it may leave.
 *
 *     switch.c --crossing_enter()--> this record <--crossing_count()-- marking.c
 *
 * Outputs of switches with telemetry alone have one.
 */
#ifndef SWITCH_CROSSING_H
#define SWITCH_CROSSING_H

#include "fabric/port.h"

struct crossing;

struct crossing *crossing_create(void);
void crossing_destroy(struct crossing *crossing); /* NULL: nothing */

/* Records a packet that is about to be queued at the output, on packet->vl, and may leave at packet->head_at. */
void crossing_enter(struct crossing *crossing, const struct packet *packet, sim_time now);

/* Forgets a packet that was queued and is dropped. */
void crossing_discard(struct crossing *crossing, const struct packet *packet);

struct crossing_count {
	uint64_t bytes;
	uint32_t packets;
};

/* Returns what the VL's queue holds at `now` and may not leave yet. `now` is no earlier than at any call before. */
struct crossing_count crossing_count(struct crossing *crossing, unsigned vl, sim_time now);

#endif
