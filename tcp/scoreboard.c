/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scoreboard: see scoreboard.h. An index is a number of records modulo 2^31. It does not change
 * when the ring grows.
 */
#include "tcp/scoreboard.h"

#include <assert.h>
#include <stdlib.h>

#define CAPACITY_FIRST 16

void scoreboard_init(struct scoreboard *board)
{
	*board = (struct scoreboard){
		.in_flight = {SCOREBOARD_NONE, SCOREBOARD_NONE},
		.lost = {SCOREBOARD_NONE, SCOREBOARD_NONE},
	};
}

void scoreboard_fini(struct scoreboard *board)
{
	free(board->records);
}

uint32_t scoreboard_next_index(uint32_t index)
{
	return (index + 1) & SCOREBOARD_INDEX_MASK;
}

uint32_t scoreboard_end_index(const struct scoreboard *board)
{
	return (board->first + board->count) & SCOREBOARD_INDEX_MASK;
}

struct scoreboard_record *scoreboard_last(const struct scoreboard *board)
{
	return board->count ? scoreboard_at(board, board->first + board->count - 1) : NULL;
}

uint32_t scoreboard_index_of(const struct scoreboard *board, const struct scoreboard_record *record)
{
	uint32_t slot = (uint32_t)(record - board->records);

	return (board->first + ((slot - board->first) & (board->capacity - 1))) &
	       SCOREBOARD_INDEX_MASK;
}

static void unlink_record(struct scoreboard *board, struct scoreboard_list *list, uint32_t index)
{
	const struct scoreboard_record *record = scoreboard_at(board, index);

	if (record->previous == SCOREBOARD_NONE)
		list->first = record->next;
	else
		scoreboard_at(board, record->previous)->next = record->next;
	if (record->next == SCOREBOARD_NONE)
		list->last = record->previous;
	else
		scoreboard_at(board, record->next)->previous = record->previous;
}

/* Inserts a record after the record `after`, or at the front for SCOREBOARD_NONE. */
static void link_after(struct scoreboard *board, struct scoreboard_list *list, uint32_t index,
		       uint32_t after)
{
	struct scoreboard_record *record = scoreboard_at(board, index);

	record->previous = after;
	record->next = after == SCOREBOARD_NONE ? list->first : scoreboard_at(board, after)->next;
	if (record->previous == SCOREBOARD_NONE)
		list->first = index;
	else
		scoreboard_at(board, record->previous)->next = index;
	if (record->next == SCOREBOARD_NONE)
		list->last = index;
	else
		scoreboard_at(board, record->next)->previous = index;
}

static void grow(struct scoreboard *board)
{
	struct scoreboard old = *board;

	board->capacity = old.capacity ? 2 * old.capacity : CAPACITY_FIRST;
	board->records = calloc(board->capacity, sizeof(*board->records));
	if (!board->records)
		abort();
	for (uint32_t i = 0; i < old.count; i++)
		*scoreboard_at(board, old.first + i) = *scoreboard_at(&old, old.first + i);
	free(old.records);
}

/* Returns the byte counter of the record's state. */
static uint64_t *place_bytes(struct scoreboard *board, const struct scoreboard_record *record)
{
	switch ((enum scoreboard_place)record->place) {
	case SCOREBOARD_IN_FLIGHT:
		return &board->in_flight_bytes;
	case SCOREBOARD_SACKED:
		return &board->sacked_bytes;
	case SCOREBOARD_LOST:
		break;
	}
	return &board->lost_bytes;
}

/* Removes the record from the list and counter of its state. */
static void leave(struct scoreboard *board, uint32_t index)
{
	const struct scoreboard_record *record = scoreboard_at(board, index);

	*place_bytes(board, record) -= record->bytes;
	if (record->place == SCOREBOARD_SACKED)
		board->sacked_count--;
	else
		unlink_record(board,
			      record->place == SCOREBOARD_LOST ? &board->lost : &board->in_flight,
			      index);
}

void scoreboard_append(struct scoreboard *board, uint64_t start, uint32_t bytes, bool fin,
		       sim_time now)
{
	uint32_t index;

	if (board->count == board->capacity)
		grow(board);
	index = scoreboard_end_index(board);
	board->count++;
	*scoreboard_at(board, index) = (struct scoreboard_record){
		.start = start, .sent_at = now, .bytes = bytes, .fin = fin};
	board->in_flight_bytes += bytes;
	link_after(board, &board->in_flight, index, board->in_flight.last);
}

void scoreboard_pop(struct scoreboard *board)
{
	assert(board->count > 0);
	leave(board, board->first);
	board->first = scoreboard_next_index(board->first);
	board->count--;
}

void scoreboard_trim(struct scoreboard *board, uint64_t start)
{
	struct scoreboard_record *record = scoreboard_first(board);
	uint32_t bytes = (uint32_t)(start - record->start);

	assert(bytes <= record->bytes);
	*place_bytes(board, record) -= bytes;
	record->start = start;
	record->bytes -= bytes;
}

uint32_t scoreboard_find(const struct scoreboard *board, uint64_t sequence)
{
	uint32_t low = 0, high = board->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (scoreboard_end(scoreboard_at(board, board->first + middle)) > sequence)
			high = middle;
		else
			low = middle + 1;
	}
	return (board->first + low) & SCOREBOARD_INDEX_MASK;
}

void scoreboard_sack(struct scoreboard *board, uint32_t index)
{
	struct scoreboard_record *record = scoreboard_at(board, index);

	assert(record->place != SCOREBOARD_SACKED);
	leave(board, index);
	record->place = SCOREBOARD_SACKED;
	board->sacked_bytes += record->bytes;
	board->sacked_count++;
}

/* Inserts a record into the list of lost records, by sequence number. The place is nearly always
 * the end. */
static void link_lost(struct scoreboard *board, uint32_t index)
{
	struct scoreboard_record *record = scoreboard_at(board, index);
	uint32_t after = board->lost.last;

	while (after != SCOREBOARD_NONE && scoreboard_at(board, after)->start > record->start)
		after = scoreboard_at(board, after)->previous;
	record->place = SCOREBOARD_LOST;
	board->lost_bytes += record->bytes;
	link_after(board, &board->lost, index, after);
}

void scoreboard_lose(struct scoreboard *board, uint32_t index)
{
	assert(scoreboard_at(board, index)->place == SCOREBOARD_IN_FLIGHT);
	leave(board, index);
	link_lost(board, index);
}

void scoreboard_resend(struct scoreboard *board, uint32_t index, sim_time now)
{
	struct scoreboard_record *record = scoreboard_at(board, index);

	assert(record->place != SCOREBOARD_SACKED);
	leave(board, index);
	record->place = SCOREBOARD_IN_FLIGHT;
	record->sent_at = now;
	record->retransmitted = true;
	board->in_flight_bytes += record->bytes;
	link_after(board, &board->in_flight, index, board->in_flight.last);
}

void scoreboard_renege(struct scoreboard *board)
{
	for (uint32_t i = 0; i < board->count; i++) {
		uint32_t index = (board->first + i) & SCOREBOARD_INDEX_MASK;

		if (scoreboard_at(board, index)->place != SCOREBOARD_SACKED)
			continue;
		leave(board, index);
		link_lost(board, index);
	}
	for (unsigned i = 0; i < TCP_SACK_MAX; i++)
		board->seen[i] = (struct scoreboard_range){0};
}
