/* SPDX-License-Identifier: Apache-2.0 */
/*
 * responder: the receiving half of a queue pair of any transport. Requests are executed one after
 * the other: checked, given a place in memory, scattered, responded to. What waits for a receive WQE
 * or a buffer keeps its place in the port's input buffer.
 *
 *     receive --responder_receive()--> checks --> scatter segments --> dma --commit--> CQE, ACK
 *                                                                            \--> responses
 *     scheduler --responder_next()--> ACKs, NAKs, read and atomic responses
 *
 * IBTA vol. 1, 9.7.4 (responder), 9.7.5 (responses), 9.8 (UC, UD).
 */
#ifndef HCA_TRANSPORT_RESPONDER_H
#define HCA_TRANSPORT_RESPONDER_H

#include "hca/transport/qp.h"
#include "hca/transport/request_error.h"

struct scatter_segment;

/* Of a queue pair that begins. */
void responder_init(struct qp *qp);

/* The first packet of a message is executed: notes when its first bit was here. */
void responder_note_begin(struct qp *qp, const struct packet *packet);

/* It goes back to RESET; modify_qp changed what the mask's attributes say. */
void responder_reset(struct qp *qp);
void responder_modified(struct qp *qp, uint32_t mask);

/* The packet is the responder's from now on. */
void responder_receive(struct qp *qp, struct packet *packet);

/* What it waited for is there: a receive WQE, the certainty that there is none, a buffer. */
void responder_wqe_came(struct qp *qp);
void responder_wqe_missing(struct qp *qp);
void responder_segment_came(struct qp *qp);

/* Carries out what has come in, as far as it can. */
void responder_run(struct qp *qp);

/* One send segment of what is owed. Returns its packets, and their bytes; 0: nothing can be sent. */
uint32_t responder_next(struct qp *qp, uint32_t *wire_bytes);

/* The data of a read response could not be gathered. */
void responder_gather_failed(struct qp *qp, uint32_t psn);

/* A request whose data and predecessors are in memory, or whose error is due. */
void responder_acknowledge(struct qp *qp, uint32_t psn, uint32_t msn, sim_time request_at);
void responder_owe(struct qp *qp, const struct response *response);
void responder_forget_owed(struct qp *qp);
void responder_fatal(struct qp *qp, enum request_error error, uint32_t psn);

/* UC, UD too: the error takes effect after everything that was accepted before the packet. Later packets are dropped. */
void responder_error_in_order(struct qp *qp, struct packet *packet, enum request_error error);

/*
 * Writes the CQE of a receive WQE to the segment's CQ. All CQEs of receive WQEs pass through here, in the order in which the queue pair
 * took them: receive_queue_complete() asserts it. After an error the CQE says how the WQE ends in place of the segment's completion.
 */
void responder_complete(struct qp *qp, struct scatter_segment *segment);
void responder_atomic_done(struct qp *qp, uint32_t psn, bool failed, uint64_t original);

/* All checks of a reliable transport, in order. */
enum request_error responder_check(struct qp *qp, struct packet *packet);

/* A read or atomic. */
bool responder_is_read_or_atomic(uint8_t opcode);

/* The checks and the execution that all connected transports share. */
enum request_error responder_check_permission(struct qp *qp, struct packet *packet);
enum request_error responder_check_wqe(struct qp *qp, struct packet *packet);
enum request_error responder_check_length(struct qp *qp, struct packet *packet);
enum request_error responder_check_keys(struct qp *qp, struct packet *packet);
void responder_execute_data(struct qp *qp, struct packet *packet); /* SEND, WRITE */

/* ERR: what is under way ends, the current receive WQE is flushed. */
void responder_flush(struct qp *qp);

#endif
