/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler_params: parameters of the choice of the next queue pair, and limits on data in flight.
 * scheduler_param_list lists the parameters.
 */
#ifndef HCA_WORK_SCHEDULER_PARAMS_H
#define HCA_WORK_SCHEDULER_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define SCHEDULER_PARAMS(X) \
	X(latency, TIME, "20ns", "1ps..1ms", \
	  "Time from the first work of a queue pair to its grant if no other queue pair is " \
	  "ahead.", \
	  "assumed: a few cycles") \
	X(packet_interval, TIME, "10ns", "0ps..1ms", \
	  "Time that one processing unit takes for one packet.", \
	  "assumed: 2 units make the 200 Mpps of A2-17") \
	X(read_interval, TIME, "5ns", "0ps..1ms", \
	  "Time that the adapter takes for a READ or atomic request of any processing unit. The " \
	  "queue pair gets no grant during this time.", \
	  "assumed: as two units for packets") \
	X(response_interval, TIME, "5ns", "0ps..1ms", \
	  "Time that the adapter takes for one segment of the data of a READ response.", \
	  "assumed: as two units for packets") \
	X(response_segment, BYTES, "4096B", "64B..4096B", \
	  "Bytes of READ response data per response_interval.", \
	  "assumed: all that is sent as one, transport.segment_bytes") \
	X(list_interval, TIME, "0ps", "0ps..1ms", \
	  "Time that a WQE that is read again for its response (wqe_fetch.looked_up) takes in " \
	  "the engine of READs, atomics and READ responses.", \
	  "assumed: none") \
	X(processing_units, COUNT, "2", "1..64", \
	  "Number of processing units. Each queue pair belongs to one of these units.", \
	  "assumed: A2-05 shows that a queue pair is bound to one") \
	X(inflight_bytes, BYTES, "32KiB", "4KiB..16MiB", \
	  "Maximum number of bytes granted and not yet passed to the port.", \
	  "assumed: twice 100 Gb/s x 1 us") \
	X(module, TEXT, "", "", \
	  "Module that replaces the built-in scheduler (docs/explanation/systemc.md). " \
	  "Empty: the built-in scheduler.", \
	  "choice")
/* clang-format on */

struct scheduler_params {
	SCHEDULER_PARAMS(PARAM_FIELD)
};

extern const struct param scheduler_param_list[];

#endif
