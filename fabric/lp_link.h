/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lp_link: one direction of a link whose ends are in two LPs of a parallel run (sim/parallel.h). A
 * packet with a known arrival time waits in the lp_link until the end of the window. The receiver
 * then treats it as if it had been in flight all the time.
 */
#ifndef FABRIC_LP_LINK_H
#define FABRIC_LP_LINK_H

#include "fabric/port_state.h"
#include "sim/parallel.h"

struct lp_link;

struct lp_link *lp_link_create(struct port *from);
void lp_link_destroy(struct lp_link *lp_link); /* frees the packets that are left */

/* The sender's end calls this function. Passes on a packet with a known head_at. The receiver owns
 * it when the window is over. */
void lp_link_leave(struct lp_link *lp_link, struct packet *packet);

/* The sender calls this function when the link goes down. Packets that wait in the lp_link are
 * lost, like packets in flight. The receiver's end counts them. */
void lp_link_lose(struct lp_link *lp_link);

#endif
