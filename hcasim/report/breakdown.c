/* SPDX-License-Identifier: Apache-2.0 */
/* breakdown: see breakdown.h. */
#include "hcasim/report/breakdown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/trace.h"

/* clang-format off */
#define STAGE_NAME(name, field, end)    #field,
#define STAGE_MEANING(name, field, end) end,
static const char *const send_names[]       = {LATENCY_STAGES(STAGE_NAME)};
static const char *const send_meanings[]    = {LATENCY_STAGES(STAGE_MEANING)};
static const char *const receive_names[]    = {RECEIVE_STAGES(STAGE_NAME)};
static const char *const receive_meanings[] = {RECEIVE_STAGES(STAGE_MEANING)};
/* clang-format on */

const struct breakdown_side breakdown_sides[] = {
	{0, STAGE_COUNT, send_names, send_meanings},
	{STAGE_POINT_RECEIVE, RECEIVE_STAGE_COUNT, receive_names, receive_meanings},
};

_Static_assert((int)RECEIVE_STAGE_COUNT <= (int)STAGE_COUNT, "a breakdown has room for either");

static struct breakdown *grown(struct breakdowns *all)
{
	if (all->count == all->size) {
		all->size = all->size ? 2 * all->size : 256;
		all->list = realloc(all->list, all->size * sizeof(*all->list));
		if (!all->list)
			abort();
	}
	return &all->list[all->count];
}

static uint32_t source_number(struct breakdown_sources *sources, const char *name)
{
	uint32_t number = 0;

	while (number < sources->count && strcmp(sources->names[number], name) != 0)
		number++;
	if (number < sources->count)
		return number;
	sources->names = realloc(sources->names, (number + 1) * sizeof(*sources->names));
	if (!sources->names || !(sources->names[number] = strdup(name)))
		abort();
	sources->count++;
	return number;
}

/* The stages of one work request are written together, its latency last. */
static void read_all(struct trace_reader *reader, struct breakdowns *all)
{
	struct breakdown now = {0};
	struct trace_entry entry;

	while (trace_reader_next(reader, &entry)) {
		if (strcmp(entry.source->type, "latency") != 0 || entry.point < all->side->first ||
		    entry.point > all->side->first + all->side->count)
			continue;
		if (entry.point < all->side->first + all->side->count) {
			now.stages[entry.point - all->side->first] = entry.first;
			continue;
		}
		now.tag = entry.tag;
		now.latency = entry.first;
		now.qpn = entry.second;
		now.closed_at = entry.time;
		now.source = source_number(&all->sources, entry.source->name);
		*grown(all) = now;
		all->count++;
		now = (struct breakdown){0};
	}
}

static int by_latency(const void *one, const void *other)
{
	const struct breakdown *a = one, *b = other;

	if (a->latency != b->latency)
		return a->latency < b->latency ? -1 : 1;
	return a->closed_at < b->closed_at ? -1 : a->closed_at > b->closed_at;
}

void breakdowns_sort(struct breakdowns *all)
{
	qsort(all->list, all->count, sizeof(*all->list), by_latency);
}

struct breakdown breakdowns_sum(const struct breakdowns *all)
{
	struct breakdown sum = {0};

	for (size_t i = 0; i < all->count; i++) {
		sum.latency += all->list[i].latency;
		for (unsigned stage = 0; stage < STAGE_COUNT; stage++)
			sum.stages[stage] += all->list[i].stages[stage];
	}
	return sum;
}

bool breakdowns_read(struct breakdowns *all, const char *file, bool received, char *error,
		     size_t error_bytes)
{
	const char *reason;
	struct trace_reader *reader = trace_reader_open(file, &reason);

	*all = (struct breakdowns){.side = &breakdown_sides[received]};
	*error = '\0';
	if (!reader) {
		snprintf(error, error_bytes, "%s: %s", file, reason);
		return false;
	}
	read_all(reader, all);
	if (trace_reader_error(reader))
		snprintf(error, error_bytes, "%s: %s", file, trace_reader_error(reader));
	trace_reader_close(reader);
	return true;
}

void breakdowns_free(struct breakdowns *all)
{
	for (uint32_t i = 0; i < all->sources.count; i++)
		free(all->sources.names[i]);
	free(all->sources.names);
	free(all->list);
}
