/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requester: the sending half of a queue pair of any transport: turns WQEs into packets, keeps the
 * window, and for reliable transports the timers, the retries and go-back-N.
 *
 *     wqe_fetch --requester_posted()--> slots --requester_next()--> send segments
 *     completer --requester_acknowledge(), _rewind(), ...--> slots --> completion
 *
 * IBTA vol. 1, 9.7.2 (PSNs), 9.7.5.1.2..4 (ACKs at the requester), 9.7.6.1 (timeouts), 9.9 (errors).
 */
#ifndef HCA_TRANSPORT_REQUESTER_H
#define HCA_TRANSPORT_REQUESTER_H

#include "hca/transport/qp.h"
#include "hca/work/dma.h"

/* Of a queue pair that begins; that goes back to RESET: nothing is under way any more. */
void requester_init(struct qp *qp);
void requester_reset(struct qp *qp);

/* modify_qp changed what it works with. */
void requester_modified(struct qp *qp, uint32_t mask);

/* New slots. */
void requester_posted(struct qp *qp);

/* One send segment. Returns its packets, and their bytes on the wire; 0: nothing may be sent now. */
uint32_t requester_next(struct qp *qp, uint32_t *wire_bytes);

/* The QP's context was asked for at that time, and is here now. */
void requester_waited(struct qp *qp, sim_time asked_at);

/* It has its grant now, with that slot. */
void requester_granted(struct qp *qp, struct send_slot *slot);

/* The engine of READs takes its last packet, which has waited for it since its grant: its grant ends so much later. */
void requester_taken(struct qp *qp);

/* The link takes the last packet of that slot from starts_at until its last bit is out. */
void requester_departs(struct qp *qp, struct send_slot *slot, const struct packet *packet,
		       sim_time starts_at, sim_time until);

/* A packet of a WQE is on the wire, or as good as there. */
void requester_packet_left(struct qp *qp, const struct send_slot *slot,
			   const struct packet *packet);

/* Unreliable transports: the last bit of it is out, its data is not needed any more. */
void requester_departed(struct qp *qp, struct send_slot *slot);

/* Whoever watched that packet looks at the slot no more. */
void requester_departure_over(struct qp *qp, struct send_slot *slot);

/* A segment of that slot was sent or dropped, with what its gathering said. */
void requester_segment_gone(struct qp *qp, struct send_slot *slot, enum dma_status status);

/* One transfer fewer follows the slot's list. */
void requester_release_slot(struct qp *qp, struct send_slot *slot);

/* A read or atomic: counts as outstanding until its data is back. */
bool requester_is_read_or_atomic(const struct send_slot *slot);

/* Something awaits a response from now on. */
void requester_watch(struct qp *qp);

/* Nothing is expected for the time being: the timer of responses rests. */
void requester_wait_for_nothing(struct qp *qp);

/* Every WQE that is complete in order gets its CQE. */
void requester_complete(struct qp *qp);

/* Progress was made up to before that PSN. */
void requester_progress(struct qp *qp, uint32_t unacked_psn);

/* Sends again from the oldest PSN that is not acknowledged. */
void requester_rewind(struct qp *qp);

/* The same, at the cost of one retry; without any left the oldest WQE fails. */
void requester_retry(struct qp *qp);
void requester_retry_rnr(struct qp *qp, uint8_t timer);

/* From now on that keeps it from sending, and not what did; NULL: nothing of that kind. */
void requester_held_up(struct qp *qp, struct gauge *by);

/* Nothing is sent for so long, whatever congestion control says meanwhile. */
void requester_hold(struct qp *qp, sim_time duration);

/* The oldest WQE fails: at once. */
void requester_fail_oldest(struct qp *qp, enum work_status status);

/* ERR: every slot ends as flushed. */
void requester_flush(struct qp *qp);

/* IBTA vol. 1, 9.7.5.2.8: the RNR timer's code as time. */
sim_time requester_rnr_time(uint8_t timer);

#endif
