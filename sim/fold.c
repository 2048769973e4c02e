/* SPDX-License-Identifier: Apache-2.0 */
/* fold: see fold.h. */
#include "sim/fold.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine.h"

#define PASSED UINT64_MAX /* of a deadline */

/* Makes room for one more item of a list. Returns its memory. */
static void *grow(void *list, size_t *room, size_t count, size_t item_bytes)
{
	if (count < *room)
		return list;
	*room = *room ? 2 * *room : 1024;
	list = realloc(list, *room * item_bytes);
	assert(list);
	return list;
}

void fold_raw(struct fold *fold, const void *object, size_t bytes)
{
	if (!bytes)
		return;
	if (fold->count + bytes > fold->room) {
		fold->room = 2 * (fold->count + bytes);
		fold->bytes = realloc(fold->bytes, fold->room);
		assert(fold->bytes);
	}
	memcpy(fold->bytes + fold->count, object, bytes);
	fold->count += bytes;
}

void fold_number(struct fold *fold, uint64_t number)
{
	fold_raw(fold, &number, sizeof(number));
}

void fold_deadline(struct fold *fold, sim_time at)
{
	fold_number(fold, at == SIM_NEVER ? SIM_NEVER : at < fold->at ? PASSED : at - fold->at);
}

void fold_since(struct fold *fold, sim_time at)
{
	fold_number(fold, at == SIM_NEVER ? SIM_NEVER : at - fold->at);
}

void fold_sum(struct fold *fold, uint64_t *total, uint64_t value)
{
	fold->sums = grow(fold->sums, &fold->sum_room, fold->sum_count, sizeof(fold->sums[0]));
	fold->sums[fold->sum_count++] = (struct fold_sum){total, value};
}

void fold_refuse(struct fold *fold, const char *format, ...)
{
	va_list arguments;

	if (fold->reason[0])
		return;
	va_start(arguments, format);
	vsnprintf(fold->reason, sizeof(fold->reason), format, arguments);
	va_end(arguments);
}

void fold_nothing(struct block *block, struct fold *fold)
{
	(void)block, (void)fold;
}

static void fold_times(struct fold *fold, const char *object, const struct fold_field *field)
{
	for (size_t i = 0; i < field->bytes; i += sizeof(sim_time)) {
		sim_time at;

		memcpy(&at, object + field->offset + i, sizeof(at));
		if (field->kind == FOLD_DEADLINE)
			fold_deadline(fold, at);
		else
			fold_since(fold, at);
	}
}

void fold_struct(struct fold *fold, const void *object, size_t bytes,
		 const struct fold_field *fields, size_t count)
{
	size_t done = 0;

	for (size_t i = 0; i < count; i++) {
		assert(fields[i].offset >= done && fields[i].offset + fields[i].bytes <= bytes);
		fold_raw(fold, (const char *)object + done, fields[i].offset - done);
		if (fields[i].kind != FOLD_SKIP)
			fold_times(fold, object, &fields[i]);
		done = fields[i].offset + fields[i].bytes;
	}
	fold_raw(fold, (const char *)object + done, bytes - done);
}

/* ---- the whole run ---- */

static void mark(struct fold *fold, const char *name)
{
	fold->marks = grow(fold->marks, &fold->mark_room, fold->mark_count, sizeof(fold->marks[0]));
	fold->marks[fold->mark_count++] = (struct fold_mark){name, fold->count};
}

static size_t count_counters(const struct block *block)
{
	size_t count = 0;

	while (block->counts && block->type->counters && block->type->counters[count].name)
		count++;
	return count;
}

static size_t count_gauges(const struct block *block)
{
	size_t count = 0;

	while (block->gauges && block->type->gauges[count].name)
		count++;
	return count;
}

static void fold_statistics(struct fold *fold, struct block *block)
{
	size_t counters = count_counters(block), gauges = count_gauges(block);

	for (size_t i = 0; i < counters; i++)
		fold_sum(fold, (uint64_t *)&block->counts[i], block->counts[i]);
	gauges_read(block);
	for (size_t i = 0; i < gauges; i++) {
		struct gauge *gauge = &block->gauges[i];

		fold_sum(fold, &gauge->area, gauge_area(gauge, fold->at));
		fold_sum(fold, &gauge->stalled, gauge_stalled(gauge, fold->at));
		fold_sum(fold, &gauge->stays, gauge->stays);
	}
}

/* Folds the pending events. Behaviour depends on their order and on their origins. The origin of an
 * event determines its order among later events of the same time. */
struct pending {
	const struct event **events;
	size_t count, room;
};

static void add_pending(void *context, const struct event *event)
{
	struct pending *pending = context;

	pending->events =
		grow(pending->events, &pending->room, pending->count, sizeof(struct event *));
	pending->events[pending->count++] = event;
}

static int compare_events(const void *one, const void *other)
{
	const struct event *a = *(const struct event *const *)one;
	const struct event *b = *(const struct event *const *)other;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

#define SEQUENCES (UINT64_C(1) << EVENT_ORIGIN_SHIFT)

/* Sequence numbers grow; only their order matters. Fixed places within an instant are above all
 * sequence numbers. */
static uint64_t place_of(const struct event *event)
{
	uint64_t sequence = event->order % SEQUENCES;

	return sequence < SEQUENCES / 2 ? event->order - sequence : event->order;
}

static void fold_events(struct fold *fold, struct sim *sim)
{
	struct pending pending = {0};

	wheel_visit(&sim->wheel, add_pending, &pending);
	if (pending.count)
		qsort(pending.events, pending.count, sizeof(struct event *), compare_events);
	fold_number(fold, pending.count);
	for (size_t i = 0; i < pending.count; i++) {
		const struct event *event = pending.events[i];

		fold_number(fold, (uint64_t)(uintptr_t)event);
		fold_number(fold, event->key - (fold->at << 3));
		fold_number(fold, place_of(event));
	}
	free(pending.events);
}

/* Returns true if the blocks until now differ from the same blocks of the other fold. */
static bool differs(const struct fold *fold, const struct fold *like)
{
	size_t begin = fold->marks[fold->mark_count - 1].begin;

	if (fold->count == begin)
		return false;
	return fold->count > like->count ||
	       memcmp(fold->bytes + begin, like->bytes + begin, fold->count - begin) != 0;
}

static void fold_block(struct fold *fold, struct block *block)
{
	mark(fold, block->name);
	if (block->trace)
		fold_refuse(fold, "%s is traced", block->name);
	else if (block->type->fold)
		block->type->fold(block, fold);
	else
		fold_refuse(fold, "%s: the state of a %s is not compared", block->name,
			    block->type->name);
	fold_statistics(fold, block);
}

bool fold_take(struct fold *fold, struct sim *sim, const struct fold *like)
{
	assert(!sim->lp && !sim->ops && !sim->current);
	fold->at = sim_now(sim);
	fold->count = fold->sum_count = fold->mark_count = 0;
	fold->reason[0] = '\0';
	fold->differs = NULL;
	for (struct block *block = sim_blocks(sim); block && !fold->reason[0];
	     block = block->next) {
		fold_block(fold, block);
		if (!like || !differs(fold, like))
			continue;
		fold->differs = block->name;
		return !fold->reason[0];
	}
	mark(fold, "pending events");
	fold_events(fold, sim);
	return !fold->reason[0];
}

void fold_fini(struct fold *fold)
{
	free(fold->bytes);
	free(fold->sums);
	free(fold->marks);
	*fold = (struct fold){0};
}

/* Returns the first byte that differs. */
static size_t first_difference(const struct fold *one, const struct fold *other)
{
	size_t count = one->count < other->count ? one->count : other->count, i = 0;

	while (i < count && one->bytes[i] == other->bytes[i])
		i++;
	return i;
}

bool fold_equal(const struct fold *one, struct fold *other)
{
	size_t place, i = 0;

	if (other->differs)
		return false;
	if (one->count == other->count && one->sum_count == other->sum_count &&
	    memcmp(one->bytes, other->bytes, one->count) == 0)
		return true;
	place = first_difference(one, other);
	while (i + 1 < one->mark_count && one->marks[i + 1].begin <= place)
		i++;
	other->differs = one->marks[i].name;
	return false;
}

/* ---- repetition ---- */

/* Moves the times of the gauges with the clock. */
static void shift_gauges(struct sim *sim, sim_time duration)
{
	for (struct block *block = sim_blocks(sim); block; block = block->next) {
		size_t gauges = count_gauges(block);

		for (size_t i = 0; i < gauges; i++) {
			struct gauge *gauge = &block->gauges[i];

			gauge->area -= gauge->level * duration;
			gauge->stalled -= gauge->waits ? duration : 0;
			gauge->until += gauge->until ? duration : 0;
		}
	}
}

void fold_repeat(const struct fold *first, const struct fold *second, struct sim *sim,
		 uint64_t times)
{
	sim_time duration = times * (second->at - first->at);

	assert(first->sum_count == second->sum_count && sim_next(sim) == SIM_NEVER);
	for (size_t i = 0; i < first->sum_count; i++)
		*second->sums[i].total += times * (second->sums[i].value - first->sums[i].value);
	shift_gauges(sim, duration);
	sim->now += duration;
}
