/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lp_link: one direction of a link whose ends are in two LPs of a parallel run (sim/parallel.h). What the sender's end
 * gives a time of arrival waits here until the window is over, and is then in flight as if it had been all the time.
 */
#ifndef FABRIC_LP_LINK_H
#define FABRIC_LP_LINK_H

#include "fabric/port_state.h"
#include "sim/parallel.h"

struct lp_link;

struct lp_link *lp_link_create(struct port *from);
void lp_link_destroy(struct lp_link *lp_link); /* frees what is left there */

/* The sender's end: the packet, whose head_at is known, is on its way. It is the receiver's once the window is over. */
void lp_link_leave(struct lp_link *lp_link, struct packet *packet);

/* The link goes down for its sender: what waits here is lost, as what is in flight. The receiver's end counts it. */
void lp_link_lose(struct lp_link *lp_link);

#endif
