/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_info: see clock_info.h. nanoseconds = nsec + ((cycles of the time stamp - cycles) * mult >>
 * shift). At 156.25 MHz the 64-bit product suffices for 36 minutes.
 *
 * Source: struct mlx5_ib_clock_info of rdma/mlx5-abi.h. Shift, mask, and the use of CLOCK_REALTIME
 * are recalled from the Linux driver (mlx5, lib/clock.c).
 */
#include "verbs-shim/kernel/clock_info.h"

#include <errno.h>
#include <rdma/mlx5-abi.h>
#include <string.h>
#include <sys/mman.h>

#include "hca/device/hca.h"
#include "hca/device/hca_params.h"
#include "hca/host/memory.h"
#include "verbs-shim/kernel/internal.h"
#include "verbs-shim/kernel/limits.h"
#include "verbs-shim/kernel/uar.h"

enum { SHIFT = 23, COUNTER_BITS = 41 };

#define NS_PER_S UINT64_C(1000000000)

_Static_assert(sizeof(struct mlx5_ib_clock_info) <= sizeof(((struct kernel_call *)0)->page),
	       "the page fits into the response of a call");

int clock_info_map(const struct kernel *kernel, struct kernel_call *call, uint64_t page,
		   uint64_t length, int prot)
{
	uint64_t frequency = hca_params(kernel->hca)->device.core_clock;
	struct mlx5_ib_clock_info info = {
		.nsec = kernel->host->realtime_ns,
		.shift = SHIFT,
		.mask = (UINT64_C(1) << COUNTER_BITS) - 1,
	};

	if (page != MLX5_IB_CLOCK_INFO_V1 || length != MEMORY_PAGE)
		return -EINVAL;
	if (prot & PROT_WRITE)
		return -EPERM;
	while ((NS_PER_S << info.shift) / frequency >= UINT32_MAX) /* for a slow clock */
		info.shift--;
	info.mult = (uint32_t)(((NS_PER_S << info.shift) + frequency / 2) / frequency);
	memcpy(call->page, &info, sizeof(info));
	call->page_bytes = sizeof(info);
	return 0;
}
