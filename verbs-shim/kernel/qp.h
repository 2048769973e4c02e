/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qp: queue pairs of the kernel: their dependencies, and the attributes that the program has set.
 */
#ifndef VERBS_SHIM_KERNEL_QP_H
#define VERBS_SHIM_KERNEL_QP_H

#include "hca/device/hca.h"
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>

#include "verbs-shim/kernel/object.h"
#include "verbs-shim/kernel/qp_transition.h"

struct qp_group; /* multicast group to which the queue pair is attached */

struct qp {
	struct object object; /* number: QPN */
	enum qp_type type;
	struct object *pd, *send_cq, *recv_cq, *srq, *xrcd; /* NULL: none */
	struct ib_uverbs_qp_cap capacity;
	bool signal_all;
	bool has_bfreg; /* uses a static bfreg */
	uint32_t bfreg;
	struct ib_uverbs_qp_attr attributes; /* as set so far */
	struct qp_group *groups;
};

bool qp_wants_drained_event(const struct object *object);

#endif
