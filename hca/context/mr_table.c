/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mr_table: see mr_table.h. The table reuses an index only after all other indices. A stale key of
 * a removed region is therefore invalid for as long as possible.
 */
#include "hca/context/mr_table.h"

#include <assert.h>
#include <stdlib.h>

#include "sim/sim.h"
#include "sim/sparse.h"

/* The first indices are reserved because drivers use key 0x100 as the null key. */
enum { INDEX_FIRST = 16, KEY_OWN_BITS = 8, KEY_OWN_MASK = (1 << KEY_OWN_BITS) - 1 };

struct slot {
	struct mr mr;
	bool used;
};

struct mr_table {
	uint32_t entries_max;
	uint32_t next, count, on_demand_count;
	uint64_t mtt_next;   /* MTT entries are never reused */
	struct slot slots[]; /* [entries_max]; index = INDEX_FIRST + place */
};

uint64_t mr_table_page_count(const struct mr *mr)
{
	uint64_t first = mr->host_address >> mr->page_shift;

	if (mr->physical || !mr->length)
		return 0;
	return ((mr->host_address + mr->length - 1) >> mr->page_shift) - first + 1;
}

/* Returns the size of the bit map of present pages. The map is sparse, because a region may be a
 * whole address space. It uses memory only for parts with present pages. */
static size_t present_bytes(const struct mr *mr)
{
	return (mr_table_page_count(mr) / 64 + 1) * sizeof(uint64_t);
}

struct mr *mr_table_add(struct mr_table *table, const struct mr *mr)
{
	struct slot *slot;

	assert(mr->page_shift < 64);
	if (table->count == table->entries_max)
		return NULL;
	while (table->slots[table->next].used)
		table->next = (table->next + 1) % table->entries_max;
	slot = &table->slots[table->next];
	slot->mr = *mr;
	slot->mr.key = (INDEX_FIRST + table->next) << KEY_OWN_BITS | (mr->key & KEY_OWN_MASK);
	slot->mr.mtt_index = table->mtt_next;
	slot->mr.present = NULL;
	if (mr->on_demand) {
		slot->mr.present = sparse_create(present_bytes(mr));
		table->on_demand_count++;
	}
	slot->used = true;
	table->mtt_next += mr_table_page_count(mr);
	table->count++;
	table->next = (table->next + 1) % table->entries_max;
	return &slot->mr;
}

struct mr *mr_table_find_index(struct mr_table *table, uint32_t key)
{
	uint32_t place = (key >> KEY_OWN_BITS) -
			 INDEX_FIRST; /* wraps below the first index and is then too large */
	struct slot *slot;

	if (place >= table->entries_max)
		return NULL;
	slot = &table->slots[place];
	return slot->used ? &slot->mr : NULL;
}

struct mr *mr_table_find(struct mr_table *table, uint32_t key)
{
	struct mr *mr = mr_table_find_index(table, key);

	return mr && mr->key == key ? mr : NULL;
}

void mr_table_remove(struct mr_table *table, struct mr *mr)
{
	struct slot *slot = container_of(mr, struct slot, mr);

	assert(slot->used && table->count);
	if (mr->on_demand) {
		table->on_demand_count--;
		sparse_destroy(mr->present, present_bytes(mr));
	}
	slot->used = false;
	table->count--;
}

static size_t bytes_of(uint32_t entries_max)
{
	return sizeof(struct mr_table) + entries_max * sizeof(struct slot);
}

struct mr_table *mr_table_create(uint32_t entries_max)
{
	struct mr_table *table = sparse_create(bytes_of(entries_max));

	assert(entries_max && entries_max <= (UINT32_MAX >> KEY_OWN_BITS) - INDEX_FIRST);
	table->entries_max = entries_max;
	return table;
}

uint32_t mr_table_on_demand(const struct mr_table *table)
{
	return table->on_demand_count;
}

void mr_table_destroy(struct mr_table *table)
{
	for (uint32_t i = 0; i < table->entries_max && table->on_demand_count; i++)
		if (table->slots[i].used && table->slots[i].mr.on_demand)
			mr_table_remove(table, &table->slots[i].mr);
	sparse_destroy(table, bytes_of(table->entries_max));
}
