/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boundary: one direction of a link whose ends are in two LPs of a parallel run (sim/parallel.h). What the sender's end
 * gives a time of arrival waits here until the window is over, and is then in flight as if it had been all the time.
 */
#ifndef FABRIC_BOUNDARY_H
#define FABRIC_BOUNDARY_H

#include "fabric/port_state.h"
#include "sim/parallel.h"

struct boundary;

struct boundary *boundary_create(struct port *from);
void boundary_destroy(struct boundary *boundary); /* frees what is left there */

/* The sender's end: the packet, whose head_at is known, is on its way. It is the receiver's once the window is over. */
void boundary_leave(struct boundary *boundary, struct packet *packet);

/* The link goes down for its sender: what waits here is lost, as what is in flight. The receiver's end counts it. */
void boundary_lose(struct boundary *boundary);

#endif
