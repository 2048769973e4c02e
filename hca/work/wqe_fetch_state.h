/* SPDX-License-Identifier: Apache-2.0 */
/* wqe_fetch_state: the declarations that wqe_fetch.c and wqe_refetch.c share. */
#ifndef HCA_WORK_WQE_FETCH_STATE_H
#define HCA_WORK_WQE_FETCH_STATE_H

#include "hca/module/module_host.h"
#include "hca/work/wqe_fetch.h"
#include "hca/work/wqe_fetch_module.h"
#include "sim/pool.h"

enum { WQE_FETCH_TRACE(TRACE_ENUM) };

struct wqe_fetch_gauges {
	WQE_FETCH_GAUGES(GAUGE_FIELD)
};

struct wqe_fetch {
	struct block block;
	struct wqe_fetch_counters count;
	struct wqe_fetch_gauges gauge;
	const struct wqe_fetch_user *user;
	struct pcie *pcie;
	struct wqe_cache *cache; /* NULL without a cache */
	const struct wqe_fetch_params *params;
	struct pool slots, rings, reads, stagings, repeats;
	const struct wqe_fetch_module *plan;
	struct module_host host; /* of the plan */
};

struct wqe_repeat { /* a read of a WQE that was evicted from the cache */
	struct send_queue *sq;
	uint32_t number, tag; /* number and tag of its slot */
	uint32_t block;
	sim_time since; /* that it is in flight */
	struct pcie_read read;
};

static inline uint32_t wqe_fetch_smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

#endif
