/* SPDX-License-Identifier: Apache-2.0 */
/* iommu: see iommu.h. */
#include "hca/host/iommu.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "hca/host/tag_array.h"
#include "sim/audit.h"
#include "sim/gauge.h"
#include "sim/random.h"

#include <gsl/gsl_randist.h>

#define IOMMU_GAUGES(X) X(walkers, BUSY, "walks", "walk page tables")

struct iommu_gauges {
	IOMMU_GAUGES(GAUGE_FIELD)
};

struct iommu {
	struct block block;
	struct iommu_params param;
	struct iommu_counters count;
	struct iommu_gauges gauge;
	struct tag_array tlb;
	sim_time *ready_at;     /* [entries]: when the walk for each is or was done */
	sim_time *walkers_free; /* [walkers]: when each is */
	sim_time next_start;    /* earliest start of the next walk */
	sim_time asked_at;
	struct random walks;
};

static sim_time walk_latency(struct iommu *iommu)
{
	const struct iommu_params *param = &iommu->param;

	if (!(param->walk_sigma > 0) || !param->walk_latency)
		return param->walk_latency;
	return (sim_time)gsl_ran_lognormal(&iommu->walks.gsl, log((double)param->walk_latency),
					   param->walk_sigma);
}

/* Starts a page walk on the walker that is free first. Returns the end of the walk. */
static sim_time walk(struct iommu *iommu, bool is_write, sim_time arrival)
{
	const struct iommu_params *param = &iommu->param;
	sim_time start;
	sim_time *walker = iommu->walkers_free, latency = walk_latency(iommu);

	for (uint64_t i = 1; i < param->walkers; i++)
		if (iommu->walkers_free[i] < *walker)
			walker = &iommu->walkers_free[i];
	start = *walker > iommu->next_start ? *walker : iommu->next_start;
	if (start > arrival)
		iommu->count.walker_stalls++;
	else
		start = arrival;
	iommu->next_start = start + (is_write ? param->walk_interval : param->read_walk_interval);
	gauge_serve(&iommu->gauge.walkers, start, latency);
	return *walker = start + latency;
}

sim_time iommu_translate(struct iommu *iommu, uint64_t address, bool is_write, sim_time arrival)
{
	uint64_t page = address / iommu->param.page;
	sim_time found = arrival + iommu->param.hit_latency;

	assert(arrival >= iommu->asked_at);
	iommu->asked_at = arrival;
	iommu->count.lookups++;
	if (tag_array_touch(&iommu->tlb, page)) {
		sim_time ready = iommu->ready_at[iommu->tlb.place];

		if (ready <= found) {
			iommu->count.hits++;
			return found;
		}
		iommu->count.merges++;
		return ready;
	}
	iommu->count.misses++;
	if (tag_array_insert(&iommu->tlb, page, iommu->tlb.ways, false, NULL) != TAG_NONE)
		iommu->count.evictions++;
	return iommu->ready_at[iommu->tlb.place] = walk(iommu, is_write, found);
}

void iommu_invalidate(struct iommu *iommu)
{
	tag_array_clear(&iommu->tlb);
}

#define ROW(...) PARAM_ROW(struct iommu_params, __VA_ARGS__)
/* clang-format off */
const struct param iommu_param_list[] = { IOMMU_PARAMS(ROW) { 0 } };

static void audit(struct block *block, FILE *out)
{
	const struct iommu *iommu = container_of(block, struct iommu, block);

	if (!(iommu->param.walk_sigma > 0))
		audit_service(block, out, &iommu->gauge.walkers, iommu->count.misses,
			      iommu->param.walk_latency);
}

static const struct block_type iommu_type = {
	.name = "iommu",
	.params = iommu_param_list,
	.counters = (const struct counter[]){ IOMMU_COUNTERS(COUNTER_ENTRY) { 0 } },
	.trace_points = (const struct trace_point[]){ { 0 } },
	.gauges = (const struct gauge_info[]){ IOMMU_GAUGES(GAUGE_ENTRY) { 0 } },
	.audit = audit,
};
/* clang-format on */

struct iommu *iommu_create(struct sim *sim, const char *name, const struct iommu_params *params)
{
	struct iommu *iommu = calloc(1, sizeof(*iommu));
	uint64_t ways = params->ways < params->entries ? params->ways : params->entries;

	assert(iommu && params->page && params->walkers);
	iommu->param = *params;
	block_init(&iommu->block, sim, &iommu_type, name, &iommu->param,
		   (const uint64_t *)&iommu->count);
	block_gauges(&iommu->block, (struct gauge *)&iommu->gauge);
	iommu->gauge.walkers.capacity = params->walkers;
	random_init(&iommu->walks, &iommu->block, "walks");
	tag_array_init(&iommu->tlb, params->entries, ways, NULL);
	iommu->ready_at = calloc(params->entries, sizeof(iommu->ready_at[0]));
	iommu->walkers_free = calloc(params->walkers, sizeof(iommu->walkers_free[0]));
	assert(iommu->ready_at && iommu->walkers_free);
	return iommu;
}

void iommu_destroy(struct iommu *iommu)
{
	if (!iommu)
		return;
	block_fini(&iommu->block);
	tag_array_fini(&iommu->tlb);
	free(iommu->ready_at);
	free(iommu->walkers_free);
	free(iommu);
}

const struct iommu_counters *iommu_counters(const struct iommu *iommu)
{
	return &iommu->count;
}
