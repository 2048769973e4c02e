/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scoreboard: the segments that were sent and are not acknowledged, ordered by sequence number. A
 * record is in flight, SACKed, or lost. Records in flight are linked in the order of their last
 * transmission, for RACK. Lost records are linked in the order of their sequence numbers.
 *
 * RFC 6675 3 and 4 (scoreboard, pipe), RFC 8985 5.2 (per-segment variables).
 */
#ifndef TCP_SCOREBOARD_H
#define TCP_SCOREBOARD_H

#include "fabric/wire/tcp.h"
#include "sim/sim.h"

#define SCOREBOARD_NONE       UINT32_MAX
#define SCOREBOARD_INDEX_MASK 0x7fffffffU /* indexes count modulo 2^31 */

enum scoreboard_place { SCOREBOARD_IN_FLIGHT, SCOREBOARD_SACKED, SCOREBOARD_LOST };

struct scoreboard_record {
	uint64_t start;   /* sequence number */
	sim_time sent_at; /* time of the last transmission */
	uint32_t bytes;   /* payload */
	uint32_t next, previous;
	uint8_t place; /* enum scoreboard_place */
	bool fin;      /* a FIN follows the payload */
	bool retransmitted;
};

struct scoreboard_list {
	uint32_t first, last; /* SCOREBOARD_NONE if the list is empty */
};

struct scoreboard_range {
	uint64_t start, end;
};

struct scoreboard {
	struct scoreboard_record *records; /* a ring */
	uint32_t capacity;                 /* a power of two; 0 before the first segment */
	uint32_t first, count;             /* index of the first record */
	struct scoreboard_list in_flight, lost;
	uint64_t in_flight_bytes, sacked_bytes, lost_bytes;
	uint32_t sacked_count;
	struct scoreboard_range seen[TCP_SACK_MAX]; /* SACK blocks that were already processed */
};

void scoreboard_init(struct scoreboard *board);
void scoreboard_fini(struct scoreboard *board);

static inline struct scoreboard_record *scoreboard_at(const struct scoreboard *board,
						      uint32_t index)
{
	return &board->records[index & (board->capacity - 1)];
}

/* Returns the number after the last byte or the FIN. */
static inline uint64_t scoreboard_end(const struct scoreboard_record *record)
{
	return record->start + record->bytes + record->fin;
}

/* Returns the record with the lowest sequence number, or NULL. */
static inline struct scoreboard_record *scoreboard_first(const struct scoreboard *board)
{
	return board->count ? scoreboard_at(board, board->first) : NULL;
}

/* Returns the record with the highest sequence number, or NULL. */
struct scoreboard_record *scoreboard_last(const struct scoreboard *board);
uint32_t scoreboard_index_of(const struct scoreboard *board,
			     const struct scoreboard_record *record);

/* Adds a new segment that is sent now. */
void scoreboard_append(struct scoreboard *board, uint64_t start, uint32_t bytes, bool fin,
		       sim_time now);

/* Removes the first record, which is completely acknowledged. */
void scoreboard_pop(struct scoreboard *board);

/* Removes the acknowledged part of the first record, up to `start` within its payload. */
void scoreboard_trim(struct scoreboard *board, uint64_t start);

/* Returns the index of the first record that ends after `sequence`, or the index after the last
 * record. */
uint32_t scoreboard_find(const struct scoreboard *board, uint64_t sequence);
uint32_t scoreboard_next_index(uint32_t index);
uint32_t scoreboard_end_index(const struct scoreboard *board);

/* Mark a record in flight or lost as SACKed; mark a record in flight as lost. */
void scoreboard_sack(struct scoreboard *board, uint32_t index);
void scoreboard_lose(struct scoreboard *board, uint32_t index);

/* Records a retransmission: the record is in flight, and the last one sent. */
void scoreboard_resend(struct scoreboard *board, uint32_t index, sim_time now);

/* Marks all SACKed records as lost, because the receiver has discarded them. RFC 2018 8. */
void scoreboard_renege(struct scoreboard *board);

#endif
