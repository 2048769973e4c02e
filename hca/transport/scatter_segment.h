/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scatter_segment: data of one or more request packets of one message on its way to memory, and what
 * is due once it, and all before it on that QP, is there: a CQE, an ACK, a read, an atomic, a
 * error.
 *
 *     responder --scatter_segment_add()--> buffer --_close()--> dma --> commit, in order
 */
#ifndef HCA_TRANSPORT_SCATTER_SEGMENT_H
#define HCA_TRANSPORT_SCATTER_SEGMENT_H

#include "hca/transport/qp.h"
#include "hca/transport/request_error.h"
#include "hca/work/dma.h"

#define GRH_AREA_BYTES 40

struct scatter_segment {
	struct scatter_segment *next;
	struct qp *qp;
	struct payload *payload;
	struct data_segment element; /* of a write */
	struct receive_wqe *wqe;     /* of a send: its list; held */
	uint32_t offset, length;
	/* Transfers whose writes are not all with PCIe, and that have not failed. */
	uint32_t pending;
	uint32_t moving; /* transfers that still need its bytes */
	bool data_posted, grh_posted, committed;
	bool closed, ends /* its message */, has_completion, acknowledge, is_read, is_atomic,
		counts;
	bool lengths_only, over_loopback;
	enum request_error error;
	uint32_t psn, msn, tag, generation;
	sim_time request_at; /* last bit of its last packet */
	sim_time asked_at;   /* with congestion control: see notification_asked() */
	struct telemetry *telemetry;
	struct completion completion;
	struct completion_queue *cq; /* it goes to */
	uint32_t sequence;           /* of the WQE that it is of */
	bool ends_wqe;               /* no other CQE is of that WQE */
	struct receive_stages stages;
	struct response read; /* or atomic */
	uint64_t swap_or_add, compare;
	uint8_t opcode;
	uint8_t grh[GRH_AREA_BYTES];
	struct dma dma, grh_dma;
};

/* false: all are in use; the QP is called when one is free. */
bool scatter_segment_available(struct qp *qp);

/* A new one, behind the others of that QP. */
struct scatter_segment *scatter_segment_new(struct qp *qp, const struct packet *packet);

/* The packet's payload goes behind what the segment has. */
void scatter_segment_add(struct scatter_segment *segment, struct packet *packet);

/* No more comes: the data moves. */
void scatter_segment_close(struct scatter_segment *segment);

/* Ends its message with a CQE: what is known of its time so far. */
void scatter_segment_note(struct scatter_segment *segment, const struct packet *packet);

/* UD: the 40 bytes before the data, if a GRH came. */
void scatter_segment_grh(struct scatter_segment *segment, const struct packet *packet);

/* Drops an open one; those that move end by themselves. */
void scatter_segment_abandon(struct qp *qp);

#endif
