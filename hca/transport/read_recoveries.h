/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_recoveries: limits the recoveries from lost READ responses that an adapter has in progress
 * (row D-34). A recovery starts when a queue pair finds a gap, and ends when the queue
 * pair sends the new request (read_loss_delay). At one recovery above the limit, the adapter
 * accepts no packets until the oldest recovery ends. This stall affects all queue pairs. Without
 * PFC, the input buffer overflows during the stall.
 *
 *     endpoint (hca/endpoint/requester.c),
 *     detailed adapter (hca/transport/completer.c) --read_recoveries_begin()--> start time
 */
#ifndef HCA_TRANSPORT_READ_RECOVERIES_H
#define HCA_TRANSPORT_READ_RECOVERIES_H

#include "sim/block.h"

/* clang-format off */
/* Parameters for blocks that recover from lost READ responses, part of the block's own list. */
#define READ_RECOVERY_PARAMS(X)                                                                    \
	X(read_recoveries, COUNT, "0", "0..4096",                                                  \
	  "Recoveries from gaps in READ responses that may be in progress, over all queue pairs. " \
	  "At one more, the adapter accepts no packets until the oldest recovery ends. `0`: no "   \
	  "limit.",                                                                                \
	  "choice: no limit; Lumina, SIGCOMM 2023 (row D-34): ConnectX-4 Lx between 8 and 11")
/* clang-format on */

struct read_recoveries {
	sim_time *ends; /* ring of the last `limit` end times; NULL without a limit */
	uint32_t limit, oldest;
};

/* Initialises the limit. 0 means no limit. */
void read_recoveries_init(struct read_recoveries *recoveries, uint64_t limit);
void read_recoveries_fini(struct read_recoveries *recoveries);

/*
 * Adds a recovery of `duration`, which must be the same in all calls. Returns its start: `now`, or
 * the end of the oldest recovery if the limit is reached.
 */
sim_time read_recoveries_begin(struct read_recoveries *recoveries, sim_time now, sim_time duration);

#endif
