/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cq: completion queues, and the channels that report their completion events.
 */
#ifndef VERBS_SHIM_KERNEL_CQ_H
#define VERBS_SHIM_KERNEL_CQ_H

#include "verbs-shim/kernel/channel.h"
#include "verbs-shim/kernel/object.h"

struct cq {
	struct object object;    /* number: CQN */
	struct channel *channel; /* NULL: none */
	uint32_t entries;
	uint32_t cqe_bytes;
};

void cq_completion_event(struct cq *cq);

#endif
