/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline: which queued packets of an output are still inside the switch's forwarding_latency, and so do not wait
 * yet. A port queues a packet as soon as the switch knows its output; telemetry counts the packet from the time on
 * at which it may leave.
 *
 *     switch.c --pipeline_enter()--> this record <--pipeline_count()-- marking.c
 *
 * Outputs of switches with telemetry alone have one.
 */
#ifndef SWITCH_PIPELINE_H
#define SWITCH_PIPELINE_H

#include "fabric/port.h"

struct pipeline;

struct pipeline *pipeline_create(void);
void pipeline_destroy(struct pipeline *pipeline); /* NULL: nothing */

/* Records a packet that is about to be queued at the output, on packet->vl, and may leave at packet->head_at. */
void pipeline_enter(struct pipeline *pipeline, const struct packet *packet, sim_time now);

/* Forgets a packet that was queued and is dropped. */
void pipeline_discard(struct pipeline *pipeline, const struct packet *packet);

struct pipeline_count {
	uint64_t bytes;
	uint32_t packets;
};

/* Returns what the VL's queue holds at `now` and may not leave yet. `now` is no earlier than at any call before. */
struct pipeline_count pipeline_count(struct pipeline *pipeline, unsigned vl, sim_time now);

#endif
