/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wqe_cache_params: parameters of the caches of send WQEs and of receive WQEs (sections send_cache
 * and receive_cache). wqe_cache_param_list lists the parameters.
 */
#ifndef HCA_WORK_WQE_CACHE_PARAMS_H
#define HCA_WORK_WQE_CACHE_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define WQE_CACHE_PARAMS(X) \
	X(entries, COUNT, "0", "0..1048576", \
	  "Cache lines of 64 B that all queues share, a multiple of ways. `0`: no cache. Each " \
	  "queue then keeps the WQEs read for it.", \
	  "assumed: never short") \
	X(ways, COUNT, "4", "1..65536", \
	  "Lines per set (associativity).", \
	  "assumed: usual") \
	X(replacement, CHOICE, "lru", "lru|random", \
	  "Line of a full set that is replaced: the least recently used, or a random one.", \
	  "assumed: usual") \
	X(latency, TIME, "4ns", "1ps..1ms", \
	  "Time of a fetch that finds all of its lines in the cache.", \
	  "assumed: 2 cycles of SRAM at 500 MHz")
/* clang-format on */

enum wqe_replacement { WQE_REPLACE_LRU, WQE_REPLACE_RANDOM }; /* in the order of the list */

struct wqe_cache_params {
	WQE_CACHE_PARAMS(PARAM_FIELD)
};

extern const struct param wqe_cache_param_list[];

#endif
