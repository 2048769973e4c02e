/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule: see schedule.h.
 */
#include "fabric/schedule.h"

#include <assert.h>
#include <stdlib.h>

#include "fabric/port_params.h"
#include "fabric/port_state.h"
#include "sim/fold.h"

#define WEIGHTS         8u
#define LIMIT_UNIT      4096 /* bytes */
#define LIMIT_UNBOUNDED 255u

struct table_position { /* state of one table */
	const struct vl_weight *entries;
	unsigned count;
	unsigned index;
	int32_t left; /* blocks that the entry may still send */
};

struct schedule {
	bool has_tables;
	const struct port_scheduler *custom; /* NULL: weighted, or tables */
	const struct port *port;             /* of a custom schedule */
	/* weighted */
	uint32_t strict, weighted;
	unsigned current;
	int64_t deficit[PORT_VLS], quantum[PORT_VLS]; /* bytes */
	/* tables */
	struct vl_arbitration tables;
	struct table_position high, low;
	int64_t high_left; /* bytes before the low table is served */
	bool from_high;
};

static unsigned next_vl(uint32_t vls, unsigned last)
{
	uint32_t after = vls & ~((2u << last) - 1);

	return (unsigned)__builtin_ctz(after ? after : vls);
}

static unsigned pick_weighted(struct schedule *schedule, uint32_t vls)
{
	uint32_t strict = vls & schedule->strict;

	if (strict)
		return 31u - (unsigned)__builtin_clz(strict);
	if (vls & schedule->weighted)
		vls &= schedule->weighted;
	else
		return schedule->current = next_vl(vls, schedule->current);
	if (vls & 1u << schedule->current && schedule->deficit[schedule->current] > 0)
		return schedule->current;
	for (;;) {
		unsigned vl = next_vl(vls, schedule->current);

		schedule->current = vl;
		if (schedule->deficit[vl] <= 0)
			schedule->deficit[vl] += schedule->quantum[vl];
		if (schedule->deficit[vl] > 0)
			return vl;
	}
}

/* Finds the current entry, or the next entry with a packet. Returns false if no entry of the table
 * has a packet. */
static bool find_entry(struct table_position *position, uint32_t vls)
{
	for (unsigned i = 0; i <= position->count && position->count; i++) {
		unsigned index = (position->index + i) % position->count;
		const struct vl_weight *entry = &position->entries[index];
		int32_t left = i ? entry->weight : position->left;

		if (left <= 0 || !(vls & 1u << entry->vl))
			continue;
		position->index = index;
		position->left = left;
		return true;
	}
	return false;
}

static int64_t limit_bytes(const struct schedule *schedule)
{
	unsigned limit = schedule->tables.high_limit;

	return limit == LIMIT_UNBOUNDED ? INT64_MAX : limit ? (int64_t)limit * LIMIT_UNIT : 1;
}

static unsigned pick_from_tables(struct schedule *schedule, uint32_t vls)
{
	bool high = find_entry(&schedule->high, vls);
	bool low = find_entry(&schedule->low, vls);

	/* The standard does not serve VLs in no table. hcasim serves them last, in round robin. */
	if (!high && !low)
		return schedule->current = next_vl(vls, schedule->current);
	schedule->from_high = high && (!low || schedule->high_left > 0);
	if (!schedule->from_high || schedule->high_left <= 0)
		schedule->high_left = limit_bytes(schedule); /* the low table was served */
	return schedule->from_high ? schedule->high.entries[schedule->high.index].vl
				   : schedule->low.entries[schedule->low.index].vl;
}

unsigned schedule_pick(struct schedule *schedule, uint32_t vls)
{
	assert(vls);
	if (schedule->custom)
		return schedule->custom->choose(schedule->custom->context, schedule->port, vls);
	return schedule->has_tables ? pick_from_tables(schedule, vls)
				    : pick_weighted(schedule, vls);
}

void schedule_charge(struct schedule *schedule, unsigned vl, uint32_t wire_bytes, bool emptied)
{
	if (schedule->custom) {
		schedule->custom->departed(schedule->custom->context, schedule->port, vl,
					   wire_bytes, emptied);
		return;
	}
	if (schedule->has_tables) {
		struct table_position *position =
			schedule->from_high ? &schedule->high : &schedule->low;

		position->left -= (int32_t)credit_blocks(wire_bytes);
		if (schedule->from_high)
			schedule->high_left -= wire_bytes;
		return;
	}
	schedule->deficit[vl] -= wire_bytes;
	if (emptied && schedule->deficit[vl] > 0)
		schedule->deficit[vl] = 0;
}

static struct schedule *create(void)
{
	struct schedule *schedule = calloc(1, sizeof(*schedule));

	assert(schedule);
	return schedule;
}

/* Creates a schedule in which the lowest weight sends one packet per round. */
struct schedule *schedule_create(const struct port_params *params)
{
	const uint64_t weights[WEIGHTS] = {
		params->weight0, params->weight1, params->weight2, params->weight3,
		params->weight4, params->weight5, params->weight6, params->weight7,
	};
	uint64_t least = UINT64_MAX;
	struct schedule *schedule;

	if (params->schedule == SCHEDULE_ROUND_ROBIN)
		return NULL;
	schedule = create();
	schedule->strict = (uint32_t)params->strict;
	for (unsigned i = 0; i < WEIGHTS; i++)
		if (weights[i] && weights[i] < least)
			least = weights[i];
	for (unsigned i = 0; i < PORT_VLS; i++) {
		uint64_t weight = i < WEIGHTS ? weights[i] : 0;

		if (!weight)
			continue;
		schedule->weighted |= 1u << i;
		schedule->quantum[i] = (int64_t)((params->mtu + HEADERS_MAX) * weight / least);
	}
	return schedule;
}

struct schedule *schedule_create_tables(const struct vl_arbitration *tables)
{
	struct schedule *schedule = create();

	assert(tables->high_count <= VL_ARBITRATION_ENTRIES &&
	       tables->low_count <= VL_ARBITRATION_ENTRIES);
	schedule->has_tables = true;
	schedule->tables = *tables;
	schedule->high = (struct table_position){schedule->tables.high, tables->high_count, 0, 0};
	schedule->low = (struct table_position){schedule->tables.low, tables->low_count, 0, 0};
	schedule->high_left = limit_bytes(schedule);
	return schedule;
}

struct schedule *schedule_create_custom(const struct port_scheduler *scheduler,
					const struct port *port)
{
	struct schedule *schedule = create();

	schedule->custom = scheduler;
	schedule->port = port;
	return schedule;
}

bool schedule_fold(const struct schedule *schedule, struct fold *fold)
{
	fold_raw(fold, schedule, sizeof(*schedule));
	return !schedule->custom;
}

void schedule_destroy(struct schedule *schedule)
{
	free(schedule);
}
