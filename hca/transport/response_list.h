/* SPDX-License-Identifier: Apache-2.0 */
/*
 * response_list: where the data of a response go is in the WQE that asked for them. If its lines have left the cache of send WQEs since its turn, they are
 * read once more when the response comes; it waits in the port's input space, and what comes behind it on its queue pair waits in order.
 *
 *     completer --response_list_waits()--> [ a queue of each queue pair ] --pcie_read()--> completer_go_on()
 *
 * Off unless there is such a cache and wqe_fetch.looked_up says so. That real adapters do so: the public program rw-allsig (Kalia, rdma_bench)
 * provides for lists that are changed in the ring behind a READ that has been sent, and counts by how many responses that was seen.
 */
#ifndef HCA_TRANSPORT_RESPONSE_LIST_H
#define HCA_TRANSPORT_RESPONSE_LIST_H

#include "hca/transport/qp.h"

struct transport_block;

struct response_lists { /* of an adapter */
	struct pool pool;
	uint64_t reads;                        /* at a time; 0: all lists are at hand */
	uint64_t reading;                      /* under way */
	struct awaited_response *first, *last; /* whose read waits for one of these */
};

void response_list_init(struct transport_block *transport);
void response_list_fini(struct transport_block *transport);

/* true: the packet has to wait for its list, or behind one that does; completer_go_on() gets it. */
bool response_list_waits(struct qp *qp, struct packet *packet);

/* The queue pair goes: the packets that wait are dropped. */
void response_list_forget(struct qp *qp);

#endif
