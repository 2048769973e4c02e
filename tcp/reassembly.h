/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reassembly: which bytes have come ahead of a gap, as ranges of sequence numbers, and the SACK
 * blocks that report them. RFC 2018 4 (order of the blocks), RFC 2883 (duplicates).
 */
#ifndef TCP_REASSEMBLY_H
#define TCP_REASSEMBLY_H

#include <stdbool.h>

#include "fabric/wire/tcp.h"

struct reassembly_range {
	uint64_t start, end;
};

struct reassembly {
	struct reassembly_range *ranges; /* in order; they neither touch nor overlap */
	uint32_t count, capacity;
	uint64_t recent[TCP_SACK_MAX]; /* a number of each range that grew last, the latest first */
	unsigned recent_count;
	struct reassembly_range duplicate; /* to be reported in the next ACK; empty: none */
};

void reassembly_init(struct reassembly *reassembly);
void reassembly_fini(struct reassembly *reassembly);

/* Adds [start, end). Calls new_bytes() for each part that was not there before. */
void reassembly_add(struct reassembly *reassembly, struct reassembly_range range,
		    void (*new_bytes)(void *context, uint64_t start, uint64_t end), void *context);

/* All bytes before `next` are there. Takes the range that begins at `next` out, and returns its
 * end, or `next` if there is none. */
uint64_t reassembly_advance(struct reassembly *reassembly, uint64_t next);

/* Is the whole of [start, end) there? */
bool reassembly_has(const struct reassembly *reassembly, struct reassembly_range range);

/* Writes up to `room` blocks, DSACK first. Returns their number. The duplicate is then reported. */
unsigned reassembly_blocks(struct reassembly *reassembly, unsigned room,
			   struct reassembly_range *blocks);

#endif
