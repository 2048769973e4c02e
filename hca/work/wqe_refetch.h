/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wqe_refetch: send WQEs that the cache of send WQEs (wqe_cache.h) evicted before their last use.
 * It performs the lookups at a grant and at a response, and the reads that fetch such WQEs again.
 * An adapter without this cache calls none of these functions.
 *
 *     requester, response_list --wqe_refetch_is_here(), _look_up()--> cache
 *     cache --miss--> pcie_read() --> wqe_refetch_fill() --> scheduler
 */
#ifndef HCA_WORK_WQE_REFETCH_H
#define HCA_WORK_WQE_REFETCH_H

#include "hca/work/wqe_fetch.h"

/* Inserts blocks of the ring into the cache. */
void wqe_refetch_fill(struct send_queue *sq, uint32_t block, uint32_t blocks);

/* Removes the WQE of a complete slot from the cache. */
void wqe_refetch_forget(struct send_queue *sq, const struct send_slot *slot);

/* Returns true if the slot's WQE is available for its grant. Otherwise the function starts a read
 * and wakes the scheduler when it is done. */
bool wqe_refetch_is_here(struct send_queue *sq, struct send_slot *slot);

/* Performs one lookup of the slot's WQE. After a miss, the caller starts the read of
 * wqe_refetch_read(), and then calls wqe_refetch_fill(). */
enum wqe_outcome wqe_refetch_look_up(struct send_queue *sq, const struct send_slot *slot);

/* Returns the number of blocks of a read for the slot's response. */
uint32_t wqe_refetch_blocks(const struct send_queue *sq, const struct send_slot *slot);

/* Returns a read of `blocks` blocks of the slot's WQE. Only its time matters, because the contents
 * are known. */
struct pcie_read wqe_refetch_read(struct send_queue *sq, const struct send_slot *slot,
				  uint32_t blocks, void (*done)(struct pcie_read *));

#endif
