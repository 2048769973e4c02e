/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iommu: translates DMA addresses with an IO-TLB and a limited number of concurrent page walkers. A
 * second miss on a page that is being walked waits for that walk. Walks start one after the other,
 * with an interval.
 *
 *     host --iommu_translate()--> IO-TLB --miss--> walker
 *
 * Each request is made when the address arrives. The end of its walk is therefore known at once,
 * and the IOMMU needs no events.
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
	X(walker_stalls, "pages", "misses that waited for a walker, or for an interval of walks") \
	X(evictions, "pages", "replaced to make room")
/* clang-format on */

struct iommu_counters {
	IOMMU_COUNTERS(COUNTER_FIELD)
};

/* Creates an IOMMU. Copies `params`. */
struct iommu *iommu_create(struct sim *sim, const char *name, const struct iommu_params *params);
void iommu_destroy(struct iommu *iommu);

/*
 * Translates the address of a write or a read. `arrival` must be now. Returns the time at which the
 * translation is complete.
 */
sim_time iommu_translate(struct iommu *iommu, uint64_t address, bool is_write, sim_time arrival);

/* Invalidates all IO-TLB entries, because the driver removed its mappings. */
void iommu_invalidate(struct iommu *iommu);

const struct iommu_counters *iommu_counters(const struct iommu *iommu);

#endif
