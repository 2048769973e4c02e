/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scatter_segment: data of one or more request packets of one message in transfer to memory. When
 * it and all earlier segments of the QP are in memory, it has its effects: a CQE, an ACK, a READ,
 * an atomic, or an error.
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
	struct data_segment element; /* destination of a WRITE */
	struct receive_wqe *wqe;     /* receive WQE of a SEND, with a reference */
	uint32_t offset, length;
	/* transfers that did not fail and whose writes were not all passed to PCIe */
	uint32_t pending;
	uint32_t moving; /* transfers that still need the bytes of the segment */
	bool data_posted, grh_posted, committed;
	bool closed, ends /* last segment of its message */, has_completion, acknowledge, is_read,
		is_atomic, counts;
	bool lengths_only, over_loopback;
	enum request_error error;
	uint32_t psn, msn, tag, generation;
	sim_time since;      /* that it has its buffer */
	sim_time request_at; /* last bit of its last packet */
	sim_time asked_at;   /* with congestion control: see notification_asked() */
	struct telemetry *telemetry;
	struct completion completion;
	struct completion_queue *cq; /* CQ of the completion */
	uint32_t sequence;           /* number of its WQE */
	bool ends_wqe;               /* the last CQE of the WQE */
	struct receive_stages stages;
	struct response read; /* the READ or atomic */
	uint64_t swap_or_add, compare;
	uint8_t opcode;
	uint8_t grh[GRH_AREA_BYTES];
	struct dma dma, grh_dma;
};

/* Returns false if all segments are in use. The QP is then called when one is free. */
bool scatter_segment_available(struct qp *qp);

/* Returns a new segment, after the other segments of that QP. */
struct scatter_segment *scatter_segment_new(struct qp *qp, const struct packet *packet);

/* Appends the packet's payload. */
void scatter_segment_add(struct scatter_segment *segment, struct packet *packet);

/* Ends the segment and starts the transfer of its data. */
void scatter_segment_close(struct scatter_segment *segment);

/* Marks the segment as the end of a message with a CQE, and records the receive stages so far. */
void scatter_segment_note(struct scatter_segment *segment, const struct packet *packet);

/* UD: writes the 40 bytes before the data, if the packet has a GRH. */
void scatter_segment_grh(struct scatter_segment *segment, const struct packet *packet);

/* Drops the open segment. Segments in transfer end by themselves. */
void scatter_segment_abandon(struct qp *qp);

#endif
