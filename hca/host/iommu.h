/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iommu: translates the addresses of DMA: an IO-TLB and page walkers that run concurrently up to a number. A second miss on
 * a page that is walked for waits for that walk.
 *
 *     host --iommu_translate()--> IO-TLB --miss--> walker
 *
 * It is asked when an address arrives, so the end of a walk is known at once and needs no event here.
 */
#ifndef HCA_HOST_IOMMU_H
#define HCA_HOST_IOMMU_H

#include "hca/host/host_params.h"

struct iommu;

/* clang-format off */
#define IOMMU_COUNTERS(X) \
	X(lookups, "pages", "translations requested") \
	X(hits, "pages", "found in the IO-TLB") \
	X(misses, "pages", "that started a page walk") \
	X(merges, "pages", "that waited for a page walk in progress") \
	X(walker_stalls, "pages", "misses that found no free walker") \
	X(evictions, "pages", "replaced to make room")
/* clang-format on */

struct iommu_counters {
	IOMMU_COUNTERS(COUNTER_FIELD)
};

/* params are copied. */
struct iommu *iommu_create(struct sim *sim, const char *name, const struct iommu_params *params);
void iommu_destroy(struct iommu *iommu);

/* Returns the time at which the address is translated. `arrival` is now, and never earlier than in the call before. */
sim_time iommu_translate(struct iommu *iommu, uint64_t address, sim_time arrival);

/* The driver took mappings away: all of them. */
void iommu_invalidate(struct iommu *iommu);

const struct iommu_counters *iommu_counters(const struct iommu *iommu);

#endif
