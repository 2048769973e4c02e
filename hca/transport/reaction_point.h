/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reaction_point: the reaction point of a detailed adapter: what a queue pair sends goes by the rate and the window that the algorithm
 * (hca/congestion) says, requests and read responses alike. A queue pair that may not send leaves the scheduler's ring: for a rate
 * until the event of its pace (requester->paced_until), for a window until an ACK.
 *
 *     requester, responder --reaction_point_sent()--> paced_until          completer --reaction_point_acknowledged(), _lost()--> algorithm
 *     requester --reaction_point_cwnd_closed(), _room()--> window        receive   --reaction_point_notified()----------------> algorithm
 *
 * All of it is for queue pairs of an adapter with a cc_unit; datagrams pass through without effect.
 */
#ifndef HCA_TRANSPORT_REACTION_POINT_H
#define HCA_TRANSPORT_REACTION_POINT_H

#include "hca/transport/cc_unit.h"
#include "hca/transport/send_segment.h"

/* May no packet follow until something is acknowledged? */
bool reaction_point_cwnd_closed(struct qp *qp);
/* Payload that may follow now; and would nothing more after so many bytes? */
uint32_t reaction_point_room(struct qp *qp);
bool reaction_point_closes_cwnd(struct qp *qp, uint32_t payload_bytes);

/* The entity's newest segment was made: marks its packets as ECN-capable and pays for them. Returns what was added to its bytes. */
uint32_t reaction_point_sent(struct sched_entity *entity);

/* Must read responses wait for their pace? The event is set if so. */
bool reaction_point_holds_responses(struct qp *qp);

/* PSNs up to before `to` were acknowledged, from `from` on: their WQEs are still there. */
void reaction_point_progress(struct qp *qp, uint32_t from, uint32_t to);
/* An ACK, NAK or response has had its effect. */
void reaction_point_acknowledged(struct qp *qp, const struct packet *packet);
void reaction_point_lost(struct qp *qp, enum congestion_loss loss);
void reaction_point_rewound(struct qp *qp);

/* A CNP came. qp NULL: it is for nobody. */
void reaction_point_notified(struct transport_block *transport, struct qp *qp);

/* A queue pair was held back for so long. */
void reaction_point_held(struct qp *qp, sim_time duration);

#endif
