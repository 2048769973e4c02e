/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window_bind: executes a UMR work request: binds a memory window to a part of a region, or
 * invalidates a key. IBTA vol. 1, 10.6.7.2 (memory windows), 10.6.5 (invalidation).
 */
#ifndef HCA_TRANSPORT_WINDOW_BIND_H
#define HCA_TRANSPORT_WINDOW_BIND_H

#include "hca/transport/qp.h"

/* Binds or invalidates. Returns WORK_OK, or the status of the CQE. IBTA vol. 1, 10.6. */
enum work_status window_bind(struct qp *qp, const struct wqe_region *region);

/* Executes a SEND with invalidate. Returns false if a SEND may not invalidate the key. */
bool window_bind_invalidate(struct qp *qp, uint32_t key);

#endif
