/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window_bind: what a UMR work request does: binds a memory window to part of a region, or
 * invalidates a key. IBTA vol. 1, 10.6.7.2 (memory windows), 10.6.5 (invalidation).
 */
#ifndef HCA_TRANSPORT_WINDOW_BIND_H
#define HCA_TRANSPORT_WINDOW_BIND_H

#include "hca/transport/qp.h"

/* The WQE's window is bound, or the status of its CQE says why not. IBTA vol. 1, 10.6. */
enum work_status window_bind(struct qp *qp, const struct wqe_region *region);

/* SEND with invalidate arrived. false: the key is none that may be invalidated from there. */
bool window_invalidate(struct qp *qp, uint32_t key);

#endif
