/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wqe_fetch_params: how send WQEs come from host memory. List: wqe_fetch_param_list.
 */
#ifndef HCA_WORK_WQE_FETCH_PARAMS_H
#define HCA_WORK_WQE_FETCH_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define WQE_FETCH_PARAMS(X) \
	X(latency,     TIME,  "20ns", "1ps..1ms",  "of parsing, from a WQE's bytes to the transport", "assumed: a few cycles") \
	X(interval,    TIME,  "0ns",  "0ps..1ms",  "at least, between two WQEs that were read from host memory", "assumed: processing units are the limit") \
	X(queue_interval, TIME, "0ns", "0ps..1ms", "the same for those of one queue pair", "assumed: its processing unit is the limit") \
	X(read_blocks, COUNT, "8",    "1..64",     "64-byte blocks at most in one read",               "assumed: MRRS of 512 B") \
	X(reads,       COUNT, "2",    "1..8",      "reads in flight for one queue pair",               "assumed: prefetch of one while one is parsed") \
	X(window,      COUNT, "128",  "1..4096",   "WQEs of one queue pair that are parsed and not complete", "assumed: covers 1 us at 100 M messages/s") \
	X(looked_up,   CHOICE, "grant", "grant|response|both", "when a WQE has to be in send_cache: at its grant; when the response to its READ or atomic comes, and when it is retransmitted; or both", "choice; for responses: rw-allsig (Kalia, rdma_bench, public) watches that lists are read again; A4-11: READs fall with their number, WRITEs do not") \
	X(response_reads, COUNT, "16", "1..1024",  "reads at a time of WQEs that had left send_cache when a response came, of all queue pairs", "assumed: that of a small CAM")
/* clang-format on */

enum wqe_looked_up {
	WQE_LOOKED_UP_GRANT,
	WQE_LOOKED_UP_RESPONSE,
	WQE_LOOKED_UP_BOTH
}; /* as the choices above */

struct wqe_fetch_params {
	WQE_FETCH_PARAMS(PARAM_FIELD)
};

extern const struct param wqe_fetch_param_list[];

#endif
