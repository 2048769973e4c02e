/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reassembly: received bytes after a gap, as ranges of sequence numbers, and the SACK blocks that
 * report them. RFC 2018 4 (order of the blocks), RFC 2883 (duplicates).
 */
#ifndef TCP_REASSEMBLY_H
#define TCP_REASSEMBLY_H

#include <stdbool.h>

#include "fabric/wire/tcp.h"

struct reassembly_range {
	uint64_t start, end;
};

struct reassembly {
	struct reassembly_range *ranges; /* ordered; ranges neither touch nor overlap */
	uint32_t count, capacity;
	/* a sequence number in each of the last ranges that grew, the latest first */
	uint64_t recent[TCP_SACK_MAX];
	unsigned recent_count;
	struct reassembly_range duplicate; /* to be reported in the next ACK, or empty */
};

void reassembly_init(struct reassembly *reassembly);
void reassembly_fini(struct reassembly *reassembly);

/* Adds [start, end). Calls new_bytes() for each part that is new. */
void reassembly_add(struct reassembly *reassembly, struct reassembly_range range,
		    void (*new_bytes)(void *context, uint64_t start, uint64_t end), void *context);

/* Removes the range that begins at `next`, and returns its end. Returns `next` if there is none.
 * All bytes before `next` must have been received. */
uint64_t reassembly_advance(struct reassembly *reassembly, uint64_t next);

/* Returns true if the whole range was received. */
bool reassembly_has(const struct reassembly *reassembly, struct reassembly_range range);

/* Writes up to `room` blocks, DSACK first, and returns their number. The duplicate then counts as
 * reported. */
unsigned reassembly_blocks(struct reassembly *reassembly, unsigned room,
			   struct reassembly_range *blocks);

#endif
