/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reaction_point: the reaction point of a detailed adapter. Requests and READ responses of a queue
 * pair follow the rate and the window of the algorithm (hca/congestion). A queue pair that may not
 * send leaves the scheduler's ring. A rate holds it until the event of its pace
 * (requester->paced_until), a window until an ACK.
 *
 *     requester, responder --reaction_point_sent()--> paced_until
 *     requester --reaction_point_cwnd_closed(), _room()--> window
 *     completer --reaction_point_acknowledged(), _lost()--> algorithm
 *     receive --reaction_point_notified()--> algorithm
 *
 * All functions are for queue pairs of an adapter with a cc_unit. They have no effect on datagrams.
 */
#ifndef HCA_TRANSPORT_REACTION_POINT_H
#define HCA_TRANSPORT_REACTION_POINT_H

#include "hca/transport/cc_unit.h"
#include "hca/transport/send_segment.h"

/* Returns true if the congestion window is full, so that the queue pair must wait for an ACK. */
bool reaction_point_cwnd_closed(struct qp *qp);
/* Return the payload bytes that may be sent now, and whether the window is full after
 * `payload_bytes` more. */
uint32_t reaction_point_room(struct qp *qp);
bool reaction_point_closes_cwnd(struct qp *qp, uint32_t payload_bytes);

/* Charges the entity's newest segment to its rate, and sets the ECN field of its packets. Returns
 * the bytes of telemetry that were added. */
uint32_t reaction_point_sent(struct sched_entity *entity);

/* Returns true if READ responses must wait for the pace, and schedules the event of the pace. */
bool reaction_point_holds_responses(struct qp *qp);

/* Reports that the PSNs from `from` up to but not including `to` were acknowledged. Call it before
 * their WQEs are retired. */
void reaction_point_progress(struct qp *qp, uint32_t from, uint32_t to);
/* Reports an ACK, NAK or response, after the requester has processed it. */
void reaction_point_acknowledged(struct qp *qp, const struct packet *packet);
void reaction_point_lost(struct qp *qp, enum congestion_loss loss);
void reaction_point_rewound(struct qp *qp);

/* Reports a CNP. `qp` is NULL if the CNP names no queue pair. */
void reaction_point_notified(struct transport_block *transport, struct qp *qp);

/* Counts a wait of `duration` for rate or window. */
void reaction_point_held(struct qp *qp, sim_time duration);

#endif
