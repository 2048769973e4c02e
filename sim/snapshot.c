/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot: see snapshot.h. */
#include "sim/snapshot.h"

#include <assert.h>
#include <stdlib.h>

size_t snapshot_counters(const struct block *block)
{
	size_t count = 0;

	while (block->counts && block->type->counters && block->type->counters[count].name)
		count++;
	return count;
}

size_t snapshot_gauges(const struct block *block)
{
	size_t count = 0;

	while (block->gauges && block->type->gauges[count].name)
		count++;
	return count;
}

/* Returns the area of a gauge without the service of a single server that is booked for later. */
static uint64_t area_now(const struct gauge_info *info, const struct gauge *gauge, sim_time now)
{
	uint64_t area = gauge_area(gauge, now), later = 0;

	if (info->kind == GAUGE_BUSY && gauge->capacity == 1 && gauge->until > now)
		later = gauge->until - now;
	return area > later ? area - later : 0;
}

void snapshot_take(struct snapshot *snapshot, const struct sim *sim)
{
	uint64_t *value;

	snapshot->at = sim_now(sim);
	snapshot->count = 0;
	for (struct block *block = sim_blocks(sim); block; block = block->next)
		snapshot->count += snapshot_counters(block) + snapshot_gauges(block);
	free(snapshot->values);
	value = snapshot->values = calloc(snapshot->count + 1, sizeof(*value));
	assert(value);
	for (struct block *block = sim_blocks(sim); block; block = block->next) {
		const struct gauge *gauges = gauges_read(block);
		size_t counters = snapshot_counters(block), gauge_count = snapshot_gauges(block);

		for (size_t i = 0; i < counters; i++)
			*value++ = block->counts[i];
		for (size_t i = 0; i < gauge_count; i++)
			*value++ =
				area_now(&block->type->gauges[i], &gauges[i], sim_now(block->sim));
	}
}

void snapshot_free(struct snapshot *snapshot)
{
	free(snapshot->values);
	*snapshot = (struct snapshot){0};
}
