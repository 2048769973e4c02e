/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wqe_refetch: send WQEs that the cache of send WQEs (wqe_cache.h) has replaced before their time: lookups at a grant and
 * at a response, and the reads that bring such WQEs again. An adapter without that cache calls none of it.
 *
 *     requester, response_list --wqe_refetch_is_here(), _look_up()--> cache --miss--> pcie_read() --> _fill() --> scheduler
 */
#ifndef HCA_WORK_WQE_REFETCH_H
#define HCA_WORK_WQE_REFETCH_H

#include "hca/work/wqe_fetch.h"

/* These blocks of the ring are in the cache from now on. */
void wqe_refetch_fill(struct send_queue *sq, uint32_t block, uint32_t blocks);

/* The slot's WQE is complete: the cache may forget it. */
void wqe_refetch_forget(struct send_queue *sq, const struct send_slot *slot);

/* Is the slot's WQE at hand for its grant? If not it is read, and the scheduler is woken when it is. */
bool wqe_refetch_is_here(struct send_queue *sq, struct send_slot *slot);

/* One lookup of the slot's WQE. A miss: it was replaced, which asks for ... */
enum wqe_outcome wqe_refetch_look_up(struct send_queue *sq, const struct send_slot *slot);

/* ... a read of so many blocks from its first on, which is the caller's to start, and then wqe_refetch_fill(). Their bytes
 * are known; that they come over PCIe again takes the time. */
struct pcie_read wqe_refetch_read(struct send_queue *sq, const struct send_slot *slot,
				  uint32_t blocks, void (*done)(struct pcie_read *));

#endif
