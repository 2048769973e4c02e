/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wqe_cache_params: the caches of send WQEs and of receive WQEs. Both have this list; block groups send_cache, receive_cache.
 * List: wqe_cache_param_list.
 */
#ifndef HCA_WORK_WQE_CACHE_PARAMS_H
#define HCA_WORK_WQE_CACHE_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define WQE_CACHE_PARAMS(X) \
	X(entries,     COUNT,  "0",    "0..1048576", "lines of 64 B that all queues share, in whole sets; 0: no such cache, each queue keeps what was read for it", "assumed: never short") \
	X(ways,        COUNT,  "4",    "1..65536",   "lines that compete for one place",        "assumed: usual") \
	X(replacement, CHOICE, "lru",  "lru|random", "which line of a full set goes",           "assumed: usual") \
	X(latency,     TIME,   "4ns",  "1ps..1ms",   "of a fetch that finds all of its lines",  "assumed: 2 cycles of SRAM at 500 MHz")
/* clang-format on */

enum wqe_replacement { WQE_REPLACE_LRU, WQE_REPLACE_RANDOM }; /* as the choices above */

struct wqe_cache_params {
	WQE_CACHE_PARAMS(PARAM_FIELD)
};

extern const struct param wqe_cache_param_list[];

#endif
