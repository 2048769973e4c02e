/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uar: allocation of doorbell pages and of the BlueFlame registers in them.
 */
#include "verbs-shim/kernel/uar.h"

#include <errno.h>
#include <rdma/mlx5-abi.h>
#include <sys/mman.h>

#include "hca/host/memory.h"
#include "verbs-shim/kernel/internal.h"
#include "verbs-shim/kernel/limits.h"

#define MAX_BFREGS 1024

int uars_init(struct uars *uars, struct kernel *kernel, uint32_t bfregs, uint32_t low_latency)
{
	if (bfregs == 0)
		return -EINVAL;
	if (bfregs > MAX_BFREGS)
		return -ENOMEM;
	bfregs = (bfregs + UAR_BFREGS_PER_PAGE - 1) / UAR_BFREGS_PER_PAGE * UAR_BFREGS_PER_PAGE;
	if (low_latency > bfregs - 1)
		return -EINVAL;
	*uars = (struct uars){
		.first_page = kernel->last_uar_page + 1,
		.static_pages = bfregs / UAR_BFREGS_PER_PAGE,
		.low_latency = low_latency,
	};
	kernel->last_uar_page += uars->static_pages;
	return 0;
}

uint32_t uars_take_bfreg(struct uars *uars)
{
	uint32_t bfregs = uars->static_pages * UAR_BFREGS_PER_PAGE;
	uint32_t first_low_latency = bfregs - uars->low_latency;
	for (uint32_t bfreg = first_low_latency; bfreg < bfregs; bfreg++) {
		if (uars->users[bfreg] == 0) {
			uars->users[bfreg] = 1;
			return bfreg;
		}
	}
	uint32_t least = first_low_latency > 1 ? 1 : 0;
	for (uint32_t bfreg = least; bfreg < first_low_latency; bfreg++) {
		if (uars->users[bfreg] < uars->users[least])
			least = bfreg;
	}
	uars->users[least]++;
	return least;
}

void uars_give_bfreg(struct uars *uars, uint32_t bfreg)
{
	uars->users[bfreg]--;
}

uint32_t uars_bfreg_index(uint32_t bfreg)
{
	return bfreg / UAR_BFREGS_PER_PAGE * UAR_BFREG_SLOTS + bfreg % UAR_BFREGS_PER_PAGE;
}

bool uars_dynamic_bfreg(const struct uars *uars, uint32_t bfreg)
{
	uint32_t page = bfreg / UAR_BFREGS_PER_PAGE;
	return page < UAR_DYNAMIC_PAGES_MAX && uars->dynamic[page] != 0;
}

uint32_t uars_command(uint64_t offset)
{
	return (uint32_t)(offset / MEMORY_PAGE >> 8) & 0xff;
}

uint64_t uars_page(uint64_t offset)
{
	uint64_t number = offset / MEMORY_PAGE;
	return (number & 0xff) | (number >> 16) << 8;
}

int uars_map(struct uars *uars, struct kernel *kernel, uint64_t offset, uint64_t length, int prot)
{
	uint64_t page = uars_page(offset);
	bool clock = uars_command(offset) == MLX5_IB_MMAP_CORE_CLOCK;
	if (offset % MEMORY_PAGE || length != MEMORY_PAGE || (!clock && prot & PROT_READ))
		return -EINVAL;
	switch (uars_command(offset)) {
	case MLX5_IB_MMAP_REGULAR_PAGE:
	case MLX5_IB_MMAP_WC_PAGE:
	case MLX5_IB_MMAP_NC_PAGE:
		return page < uars->static_pages ? 0 : -EINVAL;
	case MLX5_IB_MMAP_ALLOC_WC:
		if (page < uars->static_pages || page - uars->static_pages >= UAR_DYNAMIC_PAGES_MAX)
			return -EINVAL;
		page -= uars->static_pages;
		if (uars->dynamic[page])
			return -EINVAL;
		uars->dynamic[page] = ++kernel->last_uar_page;
		return 0;
	case MLX5_IB_MMAP_GET_CONTIGUOUS_PAGES:
		return -EINVAL;
	case MLX5_IB_MMAP_CORE_CLOCK:
		return prot & PROT_WRITE ? -EPERM : 0;
	default:
		return kernel_refuse(kernel, "mmap of device memory", EOPNOTSUPP);
	}
}

bool uars_translate(const struct uars *uars, uint64_t file_offset, uint64_t *bar_offset)
{
	uint64_t page = uars_page(file_offset);
	uint32_t command = uars_command(file_offset);
	uint64_t on_adapter;
	if (command == MLX5_IB_MMAP_ALLOC_WC) {
		if (page < uars->static_pages || page - uars->static_pages >= UAR_DYNAMIC_PAGES_MAX)
			return false;
		on_adapter = uars->dynamic[page - uars->static_pages];
		if (!on_adapter)
			return false;
	} else if (command == MLX5_IB_MMAP_REGULAR_PAGE || command == MLX5_IB_MMAP_WC_PAGE ||
		   command == MLX5_IB_MMAP_NC_PAGE) {
		if (page >= uars->static_pages)
			return false;
		on_adapter = uars->first_page + page;
	} else {
		return false;
	}
	*bar_offset = on_adapter << 12 | file_offset % MEMORY_PAGE;
	return true;
}
