/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wqe_fetch_params: parameters of the fetch of send WQEs from host memory. wqe_fetch_param_list
 * lists the parameters.
 */
#ifndef HCA_WORK_WQE_FETCH_PARAMS_H
#define HCA_WORK_WQE_FETCH_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define WQE_FETCH_PARAMS(X) \
	X(latency, TIME, "20ns", "1ps..1ms", \
	  "Time from the arrival of a WQE's bytes to its transport (parsing).", \
	  "assumed: a few cycles") \
	X(interval, TIME, "0ns", "0ps..1ms", \
	  "Minimum time between two WQEs that were read from host memory.", \
	  "assumed: processing units are the limit") \
	X(queue_interval, TIME, "0ns", "0ps..1ms", \
	  "Minimum time between two WQEs of one queue pair that were read from host memory.", \
	  "assumed: its processing unit is the limit") \
	X(read_blocks, COUNT, "8", "1..64", \
	  "Maximum number of 64-byte blocks per read.", \
	  "assumed: MRRS of 512 B") \
	X(reads, COUNT, "2", "1..8", \
	  "Reads in flight for one queue pair.", \
	  "assumed: prefetch of one while one is parsed") \
	X(window, COUNT, "128", "1..4096", \
	  "WQEs of one queue pair that are parsed and not complete.", \
	  "assumed: covers 1 us at 100 M messages/s") \
	X(looked_up, CHOICE, "grant", "grant|response|both", \
	  "Events that need the WQE in send_cache. `grant`: its grant. `response`: its READ or " \
	  "atomic response, and its retransmission. `both`: all of these events.", \
	  "choice; for responses: rw-allsig (Kalia, rdma_bench, public) observes that lists are " \
	  "read again; A4-11: READs fall with their number, WRITEs do not") \
	X(response_reads, COUNT, "16", "1..1024", \
	  "Reads in progress, over all queue pairs, of WQEs that were evicted from send_cache " \
	  "before their response arrived.", \
	  "assumed: value for a small CAM") \
	X(response_blocks, COUNT, "1", "1..64", \
	  "64-byte blocks of such a read, up to the end of the ring, and at least those of the " \
	  "WQE. The cache keeps the blocks of the WQE alone.", \
	  "assumed: no more than needed") \
	X(module, TEXT, "", "", \
	  "Module that replaces the built-in plan of WQE reads and their parsing " \
	  "(docs/explanation/systemc.md). Empty: the built-in plan.", \
	  "choice")
/* clang-format on */

enum wqe_looked_up {
	WQE_LOOKED_UP_GRANT,
	WQE_LOOKED_UP_RESPONSE,
	WQE_LOOKED_UP_BOTH
}; /* in the order of the list */

struct wqe_fetch_params {
	WQE_FETCH_PARAMS(PARAM_FIELD)
};

extern const struct param wqe_fetch_param_list[];

#endif
