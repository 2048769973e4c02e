/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work_user: implements the functions that the blocks of hca/work call in the transport: packets
 * for a grant, state of a WQE fetch, flushes. Each block of hca/work declares its table of
 * functions in its header.
 *
 *     doorbell, wqe_fetch, scheduler, receive_queue --tables--> requester, responder, qp
 */
#ifndef HCA_TRANSPORT_WORK_USER_H
#define HCA_TRANSPORT_WORK_USER_H

#include "hca/work/completion.h"
#include "hca/work/doorbell.h"
#include "hca/work/receive_queue.h"
#include "hca/work/scheduler.h"
#include "hca/work/wqe_fetch.h"

struct transport_block;

/* Created before the blocks of hca/work, which receive its tables. `transport` is set later, when
 * the transport exists. */
struct work_user {
	struct transport_block *transport;
	struct doorbell_user doorbell;
	struct wqe_fetch_user fetch;
	struct completion_user completion;
};

void work_user_init(struct work_user *user);

extern const struct scheduler_user work_user_scheduler;
extern const struct receive_queue_user work_user_receives;

#endif
