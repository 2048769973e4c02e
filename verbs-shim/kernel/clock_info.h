/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_info: the page by which libmlx5 turns time stamps of CQEs into nanoseconds: mlx5dv_get_clock_info(), and
 * ibv_wc_read_completion_wallclock_ns(). It begins at virtual time 0 and is never written again.
 */
#ifndef VERBS_SHIM_KERNEL_CLOCK_INFO_H
#define VERBS_SHIM_KERNEL_CLOCK_INFO_H

#include "verbs-shim/kernel/kernel.h"

/* Its beginning into call->page. 0, or -errno: another page, or one to be written. */
int clock_info_map(const struct kernel *kernel, struct kernel_call *call, uint64_t page,
		   uint64_t length, int prot);

#endif
