/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_fault: handling of absent pages of on-demand regions by queue pairs. Only reliable queue
 * pairs may use such regions.
 *
 *     requester: a message whose data are not there stalls its queue pair until they are
 *     responder: a request is refused (RNR NAK) until its pages are there
 *     completer: a response is dropped, and asked for again when its pages are there
 *
 * Lesokhin et al., Page fault support for network controllers (ASPLOS'17), section 4.
 */
#ifndef HCA_TRANSPORT_PAGE_FAULT_H
#define HCA_TRANSPORT_PAGE_FAULT_H

#include "hca/transport/qp.h"

/* Returns true if a page of a request is absent, and raises page faults for all absent pages of it.
 * The request's keys must allow the access. */
bool page_fault_refuses(struct qp *qp, const struct data_segment *segments, uint32_t count,
			uint32_t offset, uint32_t length);

/* Do the same for the data of a slot, and for the destination of its response. The requester then
 * waits. */
bool page_fault_stalls(struct qp *qp, struct send_slot *slot);
bool page_fault_drops(struct qp *qp, struct send_slot *slot, uint32_t offset, uint32_t length);

#endif
