/* SPDX-License-Identifier: Apache-2.0 */
/* llc: see llc.h. */
#include "hca/host/llc.h"

#include <assert.h>
#include <stdlib.h>

#include "hca/host/tag_array.h"
#include "sim/gauge.h"
#include "sim/shared_unit.h"

#define LLC_GAUGES(X) X(memory, BUSY, "lines", "behind the cache")

struct llc_gauges {
	LLC_GAUGES(GAUGE_FIELD)
};

struct llc {
	struct block block;
	struct llc_params param;
	struct dram_params dram;
	struct llc_counters count;
	struct llc_gauges gauge;
	struct tag_array lines;
	struct shared_unit memory;
	sim_time line_time; /* time of one line at the full rate of memory */
};

/* Reserves memory for `lines` lines; memory serves requests one after another. The latency of
 * memory is added to the time of the data. */
static sim_time memory_use(struct llc *llc, uint64_t lines, sim_time arrival)
{
	sim_time start = shared_unit_take(&llc->memory, arrival, lines * llc->line_time);

	gauge_serve(&llc->gauge.memory, start, lines * llc->line_time);
	return start;
}

static uint64_t first_line(uint64_t address)
{
	return address / LLC_LINE_BYTES;
}

static uint64_t last_line(uint64_t address, uint64_t length)
{
	return (address + length - 1) / LLC_LINE_BYTES;
}

sim_time llc_read(struct llc *llc, uint64_t address, uint32_t length, bool bypass, sim_time arrival)
{
	uint64_t missed = 0;

	if (!llc->param.enabled && !bypass)
		return arrival;
	for (uint64_t line = first_line(address); line <= last_line(address, length); line++) {
		bool hit = !bypass && tag_array_touch(&llc->lines, line);

		llc->count.lookups++;
		llc->count.hits += hit;
		missed += !hit;
	}
	if (!missed)
		return arrival;
	llc->count.misses += missed;
	llc->count.memory_reads += missed;
	return memory_use(llc, missed, arrival) + llc->dram.latency;
}

/* Writes into the cache at once, unless a modified line must be written back first. A write that
 * bypasses the cache is visible when memory starts to serve it. */
sim_time llc_write(struct llc *llc, uint64_t address, uint32_t length, bool bypass,
		   sim_time arrival)
{
	bool cached = llc->param.enabled && llc->param.ddio && !bypass;
	uint64_t to_memory = 0, write_backs = 0;
	sim_time start;

	if (!llc->param.enabled && !bypass)
		return arrival;
	for (uint64_t line = first_line(address); line <= last_line(address, length); line++) {
		llc->count.lookups++;
		if (cached && tag_array_change(&llc->lines, line)) {
			llc->count.hits++;
			continue;
		}
		llc->count.misses++;
		if (!cached) {
			to_memory++;
			if (llc->param.enabled && !bypass)
				llc->count.invalidations += tag_array_remove(&llc->lines, line, 1);
			continue;
		}
		llc->count.allocations++;
		write_backs += tag_array_insert(&llc->lines, line, llc->param.ddio_ways, true,
						NULL) == TAG_CHANGED;
	}
	llc->count.write_backs += write_backs;
	llc->count.memory_writes += write_backs + to_memory;
	if (!write_backs && !to_memory)
		return arrival;
	start = memory_use(llc, write_backs + to_memory, arrival);
	return write_backs ? start + llc->dram.latency : start;
}

sim_time llc_cpu_use(struct llc *llc, uint64_t address, uint64_t length, bool change, sim_time now,
		     uint64_t *missed)
{
	assert(llc->param.enabled && length);
	*missed = llc_cpu_touch(llc, address, length, change);
	return *missed ? memory_use(llc, *missed, now) : now;
}

uint64_t llc_cpu_touch(struct llc *llc, uint64_t address, uint64_t length, bool change)
{
	uint64_t missed = 0;

	if (!llc->param.enabled || !length)
		return 0;
	for (uint64_t line = first_line(address); line <= last_line(address, length); line++) {
		llc->count.cpu_touches++;
		if ((change ? tag_array_change(&llc->lines, line)
			    : tag_array_touch(&llc->lines, line)))
			continue;
		missed++;
		if (tag_array_insert(&llc->lines, line, llc->lines.ways, change, NULL) ==
		    TAG_CHANGED) {
			llc->count.write_backs++;
			llc->count.memory_writes++;
		}
	}
	llc->count.cpu_misses += missed;
	return missed;
}

bool llc_enabled(const struct llc *llc)
{
	return llc->param.enabled;
}

sim_time llc_dma_wait(const struct llc *llc)
{
	return llc->param.enabled && !llc->param.ddio ? llc->dram.latency : 0;
}

void llc_flush(struct llc *llc)
{
	if (llc->param.enabled)
		tag_array_clear(&llc->lines);
}

#define LLC_ROW(...)  PARAM_ROW(struct llc_params, __VA_ARGS__)
#define DRAM_ROW(...) PARAM_ROW(struct dram_params, __VA_ARGS__)
/* clang-format off */
const struct param llc_param_list[] = { LLC_PARAMS(LLC_ROW) { 0 } };
const struct param llc_dram_param_list[] = { DRAM_PARAMS(DRAM_ROW) { 0 } };

static const struct block_type llc_type = {
	.name = "llc",
	.params = llc_param_list,
	.counters = (const struct counter[]){ LLC_COUNTERS(COUNTER_ENTRY) { 0 } },
	.trace_points = (const struct trace_point[]){ { 0 } },
	.gauges = (const struct gauge_info[]){ LLC_GAUGES(GAUGE_ENTRY) { 0 } },
};
/* clang-format on */

struct llc *llc_create(struct sim *sim, const char *name, const struct llc_params *params,
		       const struct dram_params *dram)
{
	struct llc *llc = calloc(1, sizeof(*llc));

	assert(llc && dram->rate);
	llc->param = *params;
	llc->dram = *dram;
	if (llc->param.ddio_ways > llc->param.ways)
		llc->param.ddio_ways = llc->param.ways;
	block_init(&llc->block, sim, &llc_type, name, &llc->param, (const uint64_t *)&llc->count);
	block_gauges(&llc->block, (struct gauge *)&llc->gauge);
	llc->gauge.memory.capacity = 1;
	llc->line_time = LLC_LINE_BYTES * 8 * SEC / dram->rate;
	if (params->enabled)
		tag_array_init(&llc->lines, params->size / LLC_LINE_BYTES, params->ways, NULL);
	return llc;
}

void llc_destroy(struct llc *llc)
{
	if (!llc)
		return;
	block_fini(&llc->block);
	if (llc->param.enabled)
		tag_array_fini(&llc->lines);
	free(llc);
}

const struct llc_counters *llc_counters(const struct llc *llc)
{
	return &llc->count;
}
