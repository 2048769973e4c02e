/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline: records the queued packets of an output that are still within the switch's
 * forwarding_latency. A port queues a packet as soon as the switch knows its output. Telemetry
 * counts the packet from the time at which it may leave.
 *
 *     switch.c --pipeline_enter()--> this record <--pipeline_count()-- marking.c
 *
 * Only outputs of switches with telemetry have such a record.
 */
#ifndef SWITCH_PIPELINE_H
#define SWITCH_PIPELINE_H

#include "fabric/port.h"

struct pipeline;

struct pipeline *pipeline_create(void);
void pipeline_destroy(struct pipeline *pipeline); /* NULL is allowed */

/* Records a packet that is about to be queued at the output, on packet->vl, and may leave at
 * packet->head_at. */
void pipeline_enter(struct pipeline *pipeline, const struct packet *packet, sim_time now);

/* Forgets a packet that was queued and is dropped. */
void pipeline_discard(struct pipeline *pipeline, const struct packet *packet);

struct pipeline_count {
	uint64_t bytes;
	uint32_t packets;
};

/* Returns the bytes and packets of the VL's queue that may not leave yet at `now`, which never
 * decreases from call to call. */
struct pipeline_count pipeline_count(struct pipeline *pipeline, unsigned vl, sim_time now);

#endif
