/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mr_table: the memory regions and windows of one HCA (the MPT as software sees it). Key = index << 8 | 8 bits
 * that the owner chooses, as on mlx5. What a lookup costs is translation.h's affair.
 */
#ifndef HCA_CONTEXT_MR_TABLE_H
#define HCA_CONTEXT_MR_TABLE_H

#include "hca/formats/contexts.h"
#include "hca/host/memory.h"

struct mr {
	uint32_t key;
	uint32_t pd;
	uint32_t access;     /* enum mr_access bits */
	uint32_t page_shift; /* log2 of the page size that its MTT entries map */
	struct memory *memory;
	uint64_t address;      /* as the work requests name it (IOVA) */
	uint64_t host_address; /* where that is in memory */
	uint64_t length;
	uint64_t mtt_index; /* its first MTT entry; given by mr_table_add() */
	uint32_t qpn;       /* windows of type 2: the QP they are bound to; else 0 */
	bool physical;      /* contiguous: no MTT lookup */
	bool valid;         /* false: a window not bound, or invalidated */
	bool on_demand;     /* its pages come when they are needed (paging.h); not physical */
	uint64_t *present;  /* on_demand: a bit for each page; the table's */
};

struct mr_table;

/* For so many regions and windows at a time; costs memory only for those that there were. */
struct mr_table *mr_table_create(uint32_t entries_max);
void mr_table_destroy(struct mr_table *table);

/* How many MTT entries it has: the pages of the host memory that it touches; 0: physical. */
uint64_t mr_page_count(const struct mr *mr);

/* Copies *mr, chooses the key's index (low 8 bits from mr->key) and mtt_index. NULL: the table is full. */
struct mr *mr_table_add(struct mr_table *table, const struct mr *mr);

/* By the exact key, or whatever the owner's 8 bits are now, which binding a window changes. NULL: none. */
struct mr *mr_table_find(struct mr_table *table, uint32_t key);
struct mr *mr_table_find_index(struct mr_table *table, uint32_t key);

/* *mr, which is the table's, is gone. */
void mr_table_remove(struct mr_table *table, struct mr *mr);

/* How many of them are on_demand. */
uint32_t mr_table_on_demand(const struct mr_table *table);

#endif
