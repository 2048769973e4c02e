/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_fault: what queue pairs do about pages of on-demand regions that are not there. Only reliable ones may use such
 * regions.
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

/* Is any page missing of what a request names, whose keys allow it? Then errors bring all of it in. */
bool page_fault_refuses(struct qp *qp, const struct data_segment *segments, uint32_t count,
			uint32_t offset, uint32_t length);

/* The same of a slot's data, or of the place for its response: the requester waits. */
bool page_fault_stalls(struct qp *qp, struct send_slot *slot);
bool page_fault_drops(struct qp *qp, struct send_slot *slot, uint32_t offset, uint32_t length);

#endif
