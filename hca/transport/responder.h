/* SPDX-License-Identifier: Apache-2.0 */
/*
 * responder: the receiving half of a queue pair of any transport. It executes requests in order: it
 * checks a request, assigns memory, scatters the data, and responds. A request that waits for a
 * receive WQE or a buffer keeps its place in the port's input buffer.
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

/* Initialises the responder of a new queue pair. */
void responder_init(struct qp *qp);

/* Records the arrival of a message's first bit, when its first packet is executed. */
void responder_note_begin(struct qp *qp, const struct packet *packet);

/* Return the responder to RESET; apply the attributes in `mask` that modify_qp changed. */
void responder_reset(struct qp *qp);
void responder_modified(struct qp *qp, uint32_t mask);

/* Processes a request. Takes ownership of the packet. */
void responder_receive(struct qp *qp, struct packet *packet);

/* Report the end of a wait: a receive WQE, the result that there is none, or a free buffer. */
void responder_wqe_came(struct qp *qp);
void responder_wqe_missing(struct qp *qp);
void responder_segment_came(struct qp *qp);

/* Executes waiting requests as far as possible. */
void responder_run(struct qp *qp);

/* Creates one send segment of the pending responses. Returns the number of its packets and writes
 * their bytes to *wire_bytes. Returns 0 if nothing can be sent. */
uint32_t responder_next(struct qp *qp, uint32_t *wire_bytes);

/* Reports that the data of a READ response could not be gathered. */
void responder_gather_failed(struct qp *qp, uint32_t psn);

/* Add responses: the ACK of a request whose data and predecessors are in memory, another response,
 * or the consequences of an error. */
void responder_acknowledge(struct qp *qp, uint32_t psn, uint32_t msn, sim_time request_at);
void responder_owe(struct qp *qp, const struct response *response);
void responder_forget_owed(struct qp *qp);
void responder_fatal(struct qp *qp, enum request_error error, uint32_t psn);

/* Schedules an error of any transport after all requests accepted before the packet. Later packets
 * are dropped. */
void responder_error_in_order(struct qp *qp, struct packet *packet, enum request_error error);

/*
 * Writes the CQE of a receive WQE to the segment's CQ. All CQEs of receive WQEs pass through this
 * function, in the order in which the queue pair took the WQEs: receive_queue_complete() asserts
 * it. After an error, the CQE reports the error or the flush instead of the segment's completion.
 */
void responder_complete(struct qp *qp, struct scatter_segment *segment);
void responder_atomic_done(struct qp *qp, uint32_t psn, bool failed, uint64_t original);

/* Performs all checks of a reliable transport, in order. Returns the first error, or ERROR_NONE. */
enum request_error responder_check(struct qp *qp, struct packet *packet);

/* Returns true for the opcode of a READ or atomic. */
bool responder_is_read_or_atomic(uint8_t opcode);

/* Checks and execution that all connected transports share. */
enum request_error responder_check_permission(struct qp *qp, struct packet *packet);
enum request_error responder_check_wqe(struct qp *qp, struct packet *packet);
enum request_error responder_check_length(struct qp *qp, struct packet *packet);
enum request_error responder_check_keys(struct qp *qp, struct packet *packet);
void responder_execute_data(struct qp *qp, struct packet *packet); /* SEND or WRITE */

/* ERR: ends requests in progress and flushes the current receive WQE. */
void responder_flush(struct qp *qp);

#endif
