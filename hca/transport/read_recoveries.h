/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_recoveries: how many recoveries from lost READ responses an adapter can have under way (ground truth D-34). Each is of a queue pair
 * that has found a gap, and lasts until it asks again (read_loss_delay). If all are taken the adapter stands still: it takes in nothing
 * until the oldest has ended, also for queue pairs that have lost nothing; without PFC its buffer overflows meanwhile.
 *
 *     endpoint (hca/endpoint/requester.c), detailed adapter (hca/transport/completer.c) --read_recoveries_begin()--> when may it begin?
 */
#ifndef HCA_TRANSPORT_READ_RECOVERIES_H
#define HCA_TRANSPORT_READ_RECOVERIES_H

#include "sim/block.h"

/* clang-format off */
/* Of whoever recovers from lost READ responses, among its own parameters. */
#define READ_RECOVERY_PARAMS(X)                                                                            \
	X(read_recoveries, COUNT, "0", "0..4096", "recoveries from gaps in read responses under way at a time, of all queue pairs; one more, and nothing is taken in until the oldest has ended. 0: no limit", "choice: no limit; ground truth D-34: ConnectX-4 Lx between 8 and 11")
/* clang-format on */

struct read_recoveries {
	sim_time *ends; /* of the last `limit` of them, a ring; NULL: no limit */
	uint32_t limit, oldest;
};

/* At most so many at a time; limit 0: any number. */
void read_recoveries_init(struct read_recoveries *recoveries, uint64_t limit);
void read_recoveries_fini(struct read_recoveries *recoveries);

/* One more, of that duration, which is the same for all. Returns when it begins: now, or as soon as the oldest has ended. */
sim_time read_recoveries_begin(struct read_recoveries *recoveries, sim_time now, sim_time duration);

#endif
