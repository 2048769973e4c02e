/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler_params: which queue pair sends next, and how much is under way. List: scheduler_param_list.
 */
#ifndef HCA_WORK_SCHEDULER_PARAMS_H
#define HCA_WORK_SCHEDULER_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define SCHEDULER_PARAMS(X) \
	X(latency,        TIME,  "20ns",   "1ps..1ms",    "from a queue pair that has work to its grant, when no other is ahead", "assumed: a few cycles") \
	X(packet_interval, TIME, "10ns",   "0ps..1ms",    "that one processing unit takes for one packet",                       "assumed: 2 units make the 200 Mpps of A2-17") \
	X(read_interval,  TIME,  "5ns",    "0ps..1ms",    "that the adapter takes for the request of a READ or atomic, of whichever unit; the queue pair has no grant until then", "assumed: as two units for packets") \
	X(response_interval, TIME, "5ns",  "0ps..1ms",    "the same for a segment of the data of a READ response",               "assumed: as two units for packets") \
	X(response_segment, BYTES, "4096B",  "64B..4096B",  "of a response's data that are handled in one such interval",          "assumed: all that is sent as one, transport.segment_bytes") \
	X(processing_units, COUNT, "2",      "1..64",       "processing units; a queue pair belongs to one of them",               "assumed: A2-05 shows that a queue pair is bound to one") \
	X(inflight_bytes, BYTES, "32KiB",  "4KiB..16MiB", "granted and not yet handed to the port: gathering or waiting",        "assumed: twice 100 Gb/s x 1 us") \
	X(module,         TEXT,  "",       "",            "a SystemC module in the scheduler's place, docs/explanation/systemc.md; nothing: the built-in one", "choice")
/* clang-format on */

struct scheduler_params {
	SCHEDULER_PARAMS(PARAM_FIELD)
};

extern const struct param scheduler_param_list[];

#endif
