/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uar: doorbell pages of one context. A page has two BlueFlame registers for QPs ("bfregs"). The
 * assignment of QPs follows the mlx5 kernel driver. A QP gets its own low-latency register from the
 * end if one is free. Otherwise it gets the least used register of the middle class. Its QPs share
 * such a register under a lock. Register 0 is not assigned.
 *
 * File offset of a mapping = (command << 8 | page) * 4096, as libmlx5 computes it. Pages above 255
 * have their upper bits from bit 16 on.
 */
#ifndef VERBS_SHIM_KERNEL_UAR_H
#define VERBS_SHIM_KERNEL_UAR_H

#include <stdbool.h>
#include <stdint.h>

#define UAR_BFREGS_PER_PAGE   2 /* for QPs; the page has room for 4 */
#define UAR_BFREG_SLOTS       4
#define UAR_STATIC_PAGES_MAX  512
#define UAR_DYNAMIC_PAGES_MAX 256

struct uars {
	uint32_t first_page; /* adapter page of the first static page */
	uint32_t static_pages;
	uint32_t low_latency;                    /* low-latency bfregs, at the end */
	uint32_t dynamic[UAR_DYNAMIC_PAGES_MAX]; /* adapter page; 0: not allocated */
	/* number of QPs on each bfreg */
	uint16_t users[UAR_STATIC_PAGES_MAX * UAR_BFREGS_PER_PAGE];
};

struct kernel;

/* Returns 0, or -errno if the counts are too large or inconsistent. */
int uars_init(struct uars *uars, struct kernel *kernel, uint32_t bfregs, uint32_t low_latency);

uint32_t uars_take_bfreg(struct uars *uars);
void uars_give_bfreg(struct uars *uars, uint32_t bfreg);
/* Returns the index of a bfreg in user space, which counts slots. */
uint32_t uars_bfreg_index(uint32_t bfreg);
/* Returns true if a QP may use that register of a page allocated at run time. */
bool uars_dynamic_bfreg(const struct uars *uars, uint32_t bfreg);

/* Split an offset of the command file into enum mlx5_ib_mmap_cmd and the page number. */
uint32_t uars_command(uint64_t offset);
uint64_t uars_page(uint64_t offset);
/* Maps a page of adapter registers: doorbells for stores, or the clock for loads. May allocate a
 * page. Returns 0 or -errno. */
int uars_map(struct uars *uars, struct kernel *kernel, uint64_t offset, uint64_t length, int prot);
/* Sets the offset in the adapter's BAR. Returns false if the offset is not a mapped doorbell
 * page. */
bool uars_translate(const struct uars *uars, uint64_t file_offset, uint64_t *bar_offset);

#endif
