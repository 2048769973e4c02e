/* SPDX-License-Identifier: Apache-2.0 */
/* wqe_fetch_state: what wqe_fetch.c and wqe_refetch.c share. */
#ifndef HCA_WORK_WQE_FETCH_STATE_H
#define HCA_WORK_WQE_FETCH_STATE_H

#include "hca/work/wqe_fetch.h"
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
	struct wqe_cache *cache; /* NULL: none */
	const struct wqe_fetch_params *params;
	struct pool slots, rings, reads, stagings, repeats;
	sim_time parse_next; /* earliest time for the next WQE that was read */
};

struct wqe_repeat { /* a read of a WQE that was replaced in the cache */
	struct send_queue *sq;
	uint32_t number, tag; /* of its slot */
	uint32_t block;
	struct pcie_read read;
};

static inline uint32_t wqe_fetch_smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

#endif
