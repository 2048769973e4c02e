/* SPDX-License-Identifier: Apache-2.0 */
/*
 * response_list: scatter lists of responses, which are part of the request's WQE. If the WQE's
 * lines were evicted from the cache of send WQEs since its grant, they are read again when the
 * response arrives. The response waits in the port's input space. Later responses of the queue pair
 * wait behind it, in order.
 *
 *     completer --response_list_waits()--> [ a queue of each queue pair ] --pcie_read()--.
 *     completer <--------------------------completer_go_on()-----------------------------'
 *
 * Off unless such a cache exists and wqe_fetch.looked_up enables it. Evidence that adapters do so:
 * the public program rw-allsig (Kalia, rdma_bench) changes lists in the ring after their READ was
 * sent, and counts the responses that used the changed list.
 */
#ifndef HCA_TRANSPORT_RESPONSE_LIST_H
#define HCA_TRANSPORT_RESPONSE_LIST_H

#include "hca/transport/qp.h"

struct transport_block;

struct response_lists { /* state of one adapter */
	struct pool pool;
	uint64_t reads;   /* maximum number of reads; 0: all lists are available */
	uint64_t reading; /* reads in progress */
	struct awaited_response *first, *last; /* responses that wait to start their read */
};

void response_list_init(struct transport_block *transport);
void response_list_fini(struct transport_block *transport);

/* Returns true if the packet must wait for its list, or behind such a packet. completer_go_on()
 * receives it later. */
bool response_list_waits(struct qp *qp, struct packet *packet);

/* Drops the waiting packets of a queue pair that is destroyed. */
void response_list_forget(struct qp *qp);

#endif
