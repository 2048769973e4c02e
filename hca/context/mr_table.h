/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mr_table: the memory regions and memory windows of one HCA, as software sees the MPT. A key is
 * index << 8 | 8 bits that the owner chooses, as on mlx5. translation.h simulates the time of a
 * lookup.
 */
#ifndef HCA_CONTEXT_MR_TABLE_H
#define HCA_CONTEXT_MR_TABLE_H

#include "hca/formats/contexts.h"
#include "hca/host/memory.h"

struct mr {
	uint32_t key;
	uint32_t pd;
	uint32_t access;     /* enum mr_access bits */
	uint32_t page_shift; /* log2 of the page size that the MTT entries map */
	struct memory *memory;
	uint64_t address;      /* address in work requests (IOVA) */
	uint64_t host_address; /* the same address in `memory` */
	uint64_t length;
	uint64_t mtt_index; /* first MTT entry; set by mr_table_add() */
	uint32_t qpn;   /* windows of type 2: the QP to which the window is bound; otherwise 0 */
	bool physical;  /* contiguous, so that no MTT lookup is needed */
	bool valid;     /* false for a window that is not bound or invalidated */
	bool on_demand; /* on-demand paging (paging.h); not with `physical` */
	/* on_demand: one bit per page, set if it is present; owned by the table */
	uint64_t *present;
};

struct mr_table;

/* Creates a table for at most `entries_max` regions and windows. Memory is used only for entries
 * that were added. */
struct mr_table *mr_table_create(uint32_t entries_max);
void mr_table_destroy(struct mr_table *table);

/* Returns the number of MTT entries: the pages of host memory that the region touches, or 0 for a
 * physical region. */
uint64_t mr_table_page_count(const struct mr *mr);

/* Copies *mr into the table, and chooses the index of its key and mtt_index. The low 8 bits of the
 * key come from mr->key. Returns NULL if the table is full. */
struct mr *mr_table_add(struct mr_table *table, const struct mr *mr);

/* Return the region or window with this exact key, or with the same index. Binding a window changes
 * the low 8 bits of its key. Both return NULL if there is none. */
struct mr *mr_table_find(struct mr_table *table, uint32_t key);
struct mr *mr_table_find_index(struct mr_table *table, uint32_t key);

/* Removes *mr, which the table owns. */
void mr_table_remove(struct mr_table *table, struct mr *mr);

/* Returns the number of on-demand regions. */
uint32_t mr_table_on_demand(const struct mr_table *table);

#endif
