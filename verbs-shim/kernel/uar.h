/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uar: the doorbell pages of one context. A page has two BlueFlame registers for QPs ("bfregs"); which QP gets which
 * follows the mlx5 kernel driver: a register of its own from the low-latency ones at the end, else the least used one
 * of the middle, which its QPs share under a lock; register 0 is nobody's.
 *
 * File offset of a mapping = (command << 8 | page) * 4096, as libmlx5 computes it; pages above 255 have their upper
 * bits from bit 16 on.
 */
#ifndef VERBS_SHIM_KERNEL_UAR_H
#define VERBS_SHIM_KERNEL_UAR_H

#include <stdbool.h>
#include <stdint.h>

#define UAR_BFREGS_PER_PAGE   2 /* that QPs may use; the page has room for 4 */
#define UAR_BFREG_SLOTS       4
#define UAR_STATIC_PAGES_MAX  512
#define UAR_DYNAMIC_PAGES_MAX 256

struct uars {
	uint32_t first_page; /* on the adapter, of the static ones */
	uint32_t static_pages;
	uint32_t low_latency;                    /* bfregs, at the end */
	uint32_t dynamic[UAR_DYNAMIC_PAGES_MAX]; /* page on the adapter; 0: not allocated */
	uint16_t users[UAR_STATIC_PAGES_MAX * UAR_BFREGS_PER_PAGE]; /* QPs on each bfreg */
};

struct kernel;

/* 0, or -errno: more than there may be, or nonsense. */
int uars_init(struct uars *uars, struct kernel *kernel, uint32_t bfregs, uint32_t low_latency);

uint32_t uars_take_bfreg(struct uars *uars);
void uars_give_bfreg(struct uars *uars, uint32_t bfreg);
/* How user space counts: by slots. */
uint32_t uars_bfreg_index(uint32_t bfreg);
/* May a QP be put on that register of a page allocated at run time? */
bool uars_dynamic_bfreg(const struct uars *uars, uint32_t bfreg);

/* What an offset in the command file asks for: enum mlx5_ib_mmap_cmd, and which of those pages. */
uint32_t uars_command(uint64_t offset);
uint64_t uars_page(uint64_t offset);
/* A page of the adapter's registers: doorbells, to be stored to, or its clock, to be loaded. 0, or -errno. May allocate a page. */
int uars_map(struct uars *uars, struct kernel *kernel, uint64_t offset, uint64_t length, int prot);
/* Offset in the adapter's BAR; false: not a mapped doorbell page. */
bool uars_translate(const struct uars *uars, uint64_t file_offset, uint64_t *bar_offset);

#endif
