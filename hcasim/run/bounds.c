/* SPDX-License-Identifier: Apache-2.0 */
/* bounds: see bounds.h. */
#include "hcasim/run/bounds.h"

#include <assert.h>
#include <string.h>

#include "sim/json.h"

#define FAR_BELOW 0.5 /* share of the lowest bound */

/* Definition of an operation: the first of these counters that is not 0. */
static const struct operation {
	const char *type, *counter; /* type of block */
	const char *name, *unit;
	double each, scale;
} operations[] = {
	{"transport", "wqes_completed", "work requests", "M/s", 1, 1e-6},
	{"endpoint", "data_bytes_received", "bits of payload", "Gb/s", 8, 1e-9},
};

/* Calls visit() for each block, with the index of its first value in a snapshot. */
static void walk(struct bounds *bounds, const struct sim *sim, const struct snapshot *window,
		 void (*visit)(struct bounds *bounds, struct block *block,
			       const struct snapshot *window, size_t first))
{
	size_t first = 0;
	for (struct block *block = sim_blocks(sim); block; block = block->next) {
		visit(bounds, block, window, first);
		first += snapshot_counters(block) + snapshot_gauges(block);
	}
}

/* Returns the increase of a value in the window, or its present value without a window. */
static double increase(const struct snapshot *window, size_t index, uint64_t value)
{
	return (double)(window ? window[1].values[index] - window[0].values[index] : value);
}

static void add_operations(struct bounds *bounds, struct block *block,
			   const struct snapshot *window, size_t first)
{
	const struct operation *operation = bounds->by;
	const struct counter *counters = block->type->counters;
	size_t count = snapshot_counters(block);
	if (strcmp(block->type->name, operation->type) != 0)
		return;
	for (size_t i = 0; i < count; i++)
		if (strcmp(counters[i].name, operation->counter) == 0)
			bounds->operations +=
				increase(window, first + i, block->counts[i]) * operation->each;
}

static void count_operations(struct bounds *bounds, const struct sim *sim,
			     const struct snapshot *window)
{
	for (size_t i = 0; i < ARRAY_SIZE(operations) && bounds->operations == 0; i++) {
		bounds->by = &operations[i];
		walk(bounds, sim, window, add_operations);
		bounds->operation = operations[i].name;
		bounds->unit = operations[i].unit;
		bounds->scale = operations[i].scale;
	}
	if (bounds->operations == 0)
		bounds->operation = NULL;
}

/* Inserts a bound in order. The highest one is dropped. */
static void enter(struct bounds *bounds, const struct bound *bound)
{
	unsigned at = bounds->count;
	while (at > 0 && bounds->list[at - 1].rate > bound->rate)
		at--;
	if (at == BOUNDS_SHOWN)
		return;
	if (bounds->count < BOUNDS_SHOWN)
		bounds->count++;
	memmove(&bounds->list[at + 1], &bounds->list[at],
		(bounds->count - 1 - at) * sizeof(*bound));
	bounds->list[at] = *bound;
}

static void bound_by(struct bounds *bounds, const struct block *block,
		     const struct gauge_info *info, const struct gauge *gauge, double area)
{
	if ((info->kind != GAUGE_BUSY && info->kind != GAUGE_POOL) || gauge->capacity == 0 ||
	    area == 0)
		return;
	double demand = area / bounds->operations;
	uint64_t most = gauge->capacity + gauge->beyond;
	enter(bounds, &(struct bound){.block = block,
				      .info = info,
				      .rate = (double)most / demand * (double)SEC,
				      .demand = demand,
				      .capacity = most});
}

static void bound_block(struct bounds *bounds, struct block *block, const struct snapshot *window,
			size_t first)
{
	const struct gauge *gauges = gauges_read(block);
	size_t count = snapshot_gauges(block);
	first += snapshot_counters(block);
	for (size_t i = 0; i < count; i++)
		bound_by(bounds, block, &block->type->gauges[i], &gauges[i],
			 increase(window, first + i, gauge_area(&gauges[i], sim_now(block->sim))));
}

/* Finds the place where work waits longest: the pool or limit with the most waiting, else the
 * fullest queue. */
static void find_wait(struct bounds *bounds, const struct sim *sim,
		      const struct bottleneck *bottleneck)
{
	double most = 0;
	for (unsigned i = 0; i < bottleneck->count; i++) {
		const struct use *use = &bottleneck->uses[i];
		if (use->info->kind == GAUGE_BUSY || use->use <= most)
			continue;
		most = use->use;
		bounds->waits_in = use->block;
		bounds->waits_for = use->info;
	}
	if (bounds->waits_in)
		return;
	for (struct block *block = sim_blocks(sim); block; block = block->next) {
		const struct gauge *gauges = block->aside ? NULL : gauges_read(block);
		for (size_t i = 0; gauges && block->type->gauges[i].name; i++) {
			const struct gauge_info *info = &block->type->gauges[i];
			double area = (double)gauge_area(&gauges[i], sim_now(block->sim));
			bool is_queue = info->kind == GAUGE_QUEUE || info->kind == GAUGE_POOL;
			if (!is_queue || strcmp(info->unit, "bytes") == 0 || area <= most)
				continue;
			most = area;
			bounds->waits_in = block;
			bounds->waits_for = info;
		}
	}
}

struct bounds bounds_find(const struct sim *sim, sim_time worked, const struct snapshot *window)
{
	struct bounds bounds = {0};
	struct bottleneck bottleneck = bottleneck_find(sim, worked);
	sim_time time = window ? window[1].at - window[0].at : bottleneck.time;
	assert(!window || window[0].count == window[1].count);
	count_operations(&bounds, sim, window);
	if (!bounds.operation || time == 0)
		return bounds;
	bounds.measured = bounds.operations / (double)time * (double)SEC;
	walk(&bounds, sim, window, bound_block);
	if (bounds.count > 0 && bounds.measured < FAR_BELOW * bounds.list[0].rate)
		find_wait(&bounds, sim, &bottleneck);
	return bounds;
}

unsigned bounds_check(const struct bounds *bounds, double rate, double edge, FILE *out)
{
	const struct bound *lowest = &bounds->list[0];
	if (bounds->count == 0 || rate * (1 - edge) <= lowest->rate)
		return 0;
	fprintf(out,
		"%s: bound of %s: %.6g %s of %s were measured, room for %.6g (%.6g ps each, "
		"capacity %.6g)\n",
		lowest->block->name, lowest->info->name, rate * bounds->scale, bounds->unit,
		bounds->operation, lowest->rate * bounds->scale, lowest->demand,
		(double)lowest->capacity);
	return 1;
}

void bounds_print_line(const struct bounds *bounds, FILE *out)
{
	if (!bounds->waits_in)
		return;
	fprintf(out,
		"far below  %.1f %% of the lowest bound (%s.%s, %.6g %s), and nothing is busy: "
		"waiting in %s.%s (%s)\n",
		100 * bounds->measured / bounds->list[0].rate, bounds->list[0].block->name,
		bounds->list[0].info->name, bounds->list[0].rate * bounds->scale, bounds->unit,
		bounds->waits_in->name, bounds->waits_for->name, bounds->waits_for->meaning);
}

void bounds_print_json(const struct bounds *bounds, FILE *out)
{
	fprintf(out, "\"bounds\": {");
	if (bounds->operation) {
		fprintf(out,
			"\"operation\": \"%s\", \"unit\": \"%s\", \"measured\": %.9g, "
			"\"waits_in\": "
			"\"%s%s%s\",\n    \"resources\": [",
			bounds->operation, bounds->unit, bounds->measured * bounds->scale,
			bounds->waits_in ? bounds->waits_in->name : "", bounds->waits_in ? "." : "",
			bounds->waits_in ? bounds->waits_for->name : "");
		for (unsigned i = 0; i < bounds->count; i++) {
			const struct bound *bound = &bounds->list[i];
			fprintf(out,
				"%s\n    {\"name\": \"%s.%s\", \"kind\": \"%s\", \"bound\": %.9g, "
				"\"demand_ps\": %.9g, \"capacity\": %.9g, \"unit\": ",
				i > 0 ? "," : "", bound->block->name, bound->info->name,
				gauge_kind_name(bound->info->kind), bound->rate * bounds->scale,
				bound->demand, (double)bound->capacity);
			json_text(out, bound->info->unit);
			fputc('}', out);
		}
		fputc(']', out);
	}
	fputc('}', out);
}
