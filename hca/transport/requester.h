/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requester: the sending half of a queue pair of any transport. It converts WQEs into packets and
 * manages the window. For reliable transports it has the timers, the retries and go-back-N.
 *
 *     wqe_fetch --requester_posted()--> slots --requester_next()--> send segments
 *     completer --requester_acknowledge(), _rewind(), ...--> slots --> completion
 *
 * IBTA vol. 1, 9.7.2 (PSNs), 9.7.5.1.2..4 (ACKs at the requester), 9.7.6.1 (timeouts), 9.9
 * (errors).
 */
#ifndef HCA_TRANSPORT_REQUESTER_H
#define HCA_TRANSPORT_REQUESTER_H

#include "hca/transport/qp.h"
#include "hca/work/dma.h"

/* Initialise the requester of a new queue pair; return it to RESET, which drops all requests. */
void requester_init(struct qp *qp);
void requester_reset(struct qp *qp);

/* Applies the attributes in `mask` that modify_qp changed. */
void requester_modified(struct qp *qp, uint32_t mask);

/* Reports new slots. */
void requester_posted(struct qp *qp);

/* Creates one send segment. Returns the number of its packets and writes their bytes on the wire to
 * *wire_bytes. Returns 0 if nothing may be sent now. */
uint32_t requester_next(struct qp *qp, uint32_t *wire_bytes);

/* Reports that the QP's context has arrived. `asked_at` is the time of the request. */
void requester_waited(struct qp *qp, sim_time asked_at);

/* Records the grant in the latency stages of the slot. */
void requester_granted(struct qp *qp, struct send_slot *slot);

/* Reports that the READ engine takes the last packet, which has waited since its grant. The grant
 * stage ends now. */
void requester_taken(struct qp *qp);

/* Reports that the link sends the last packet of the slot, from starts_at to `until`. */
void requester_departs(struct qp *qp, struct send_slot *slot, const struct packet *packet,
		       sim_time starts_at, sim_time until);

/* Reports that a packet of a WQE is on the wire, or that its departure is certain. */
void requester_packet_left(struct qp *qp, const struct send_slot *slot,
			   const struct packet *packet);

/* Unreliable transports: reports that the last bit of the message has left, so that its data is not
 * needed any more. */
void requester_departed(struct qp *qp, struct send_slot *slot);

/* Reports that the watch of the slot's last packet no longer refers to the slot. */
void requester_departure_over(struct qp *qp, struct send_slot *slot);

/* Reports that a segment of the slot was sent or dropped. `status` is the result of its gather. */
void requester_segment_gone(struct qp *qp, struct send_slot *slot, enum dma_status status);

/* Reports that one transfer no longer uses the slot's list. */
void requester_release_slot(struct qp *qp, struct send_slot *slot);

/* Returns true for a READ or atomic, which counts as outstanding until its response arrives. */
bool requester_is_read_or_atomic(const struct send_slot *slot);

/* Starts the timer for responses. */
void requester_watch(struct qp *qp);

/* Stops the timer for responses. */
void requester_wait_for_nothing(struct qp *qp);

/* Writes the CQEs of all WQEs that are complete, in order. */
void requester_complete(struct qp *qp);

/* Reports that all PSNs before unacked_psn are acknowledged. */
void requester_progress(struct qp *qp, uint32_t unacked_psn);

/* Goes back to the oldest PSN that is not acknowledged. */
void requester_rewind(struct qp *qp);

/* Go back and use one retry. Without a retry left, the oldest WQE fails. */
void requester_retry(struct qp *qp);
void requester_retry_rnr(struct qp *qp, uint8_t timer);

/* Changes the gauge of the current wait to `by`, or to none if it is NULL. */
void requester_held_up(struct qp *qp, struct gauge *by);

/* Sends nothing for `duration`, independent of congestion control. */
void requester_hold(struct qp *qp, sim_time duration);

/* Fails the oldest WQE now. */
void requester_fail_oldest(struct qp *qp, enum work_status status);

/* ERR: completes every slot as flushed. */
void requester_flush(struct qp *qp);

#endif
