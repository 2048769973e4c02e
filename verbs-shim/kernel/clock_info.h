/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_info: page with which libmlx5 converts CQE time stamps to nanoseconds:
 * mlx5dv_get_clock_info() and ibv_wc_read_completion_wallclock_ns(). It is valid from virtual time
 * 0 and never changes.
 */
#ifndef VERBS_SHIM_KERNEL_CLOCK_INFO_H
#define VERBS_SHIM_KERNEL_CLOCK_INFO_H

#include "verbs-shim/kernel/kernel.h"

/* Copies the start of the page to call->page. Returns 0, or -errno for another page or a writable
 * mapping. */
int clock_info_map(const struct kernel *kernel, struct kernel_call *call, uint64_t page,
		   uint64_t length, int prot);

#endif
