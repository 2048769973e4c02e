/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paging: on-demand paging. It records the present pages of each region, and handles the page
 * faults that bring in the other pages. At first no page is present. A present page stays present.
 *
 *     requester, responder, completer --paging_present()--> true: continue
 *                                      `--paging_fault()--> driver's handlers, latency --> done()
 *
 * A fault on pages that are already requested merges with the fault that brings in these pages.
 */
#ifndef HCA_CONTEXT_PAGING_H
#define HCA_CONTEXT_PAGING_H

#include "hca/context/mr_table.h"
#include "sim/gauge.h"

struct paging;
struct paging_params; /* hca/context/paging_params.h */

/* clang-format off */
#define PAGING_COUNTERS(X) \
	X(faults, "faults", "raised") \
	X(joins, "requests", "that joined a page fault already in progress") \
	X(resolved, "faults", "faults and prefetches whose pages are present") \
	X(prefetches, "times", "the program requested pages in advance") \
	X(pages, "pages", "brought in") \
	X(fault_time, "ps", "total time from the start of faults to their end")

#define PAGING_GAUGES(X) \
	X(handlers, POOL, "faults", "handled by the driver")

#define PAGING_TRACE(X) \
	X(PAGE_FAULT, "key", "page", "a page fault is raised; page of the region") \
	X(PAGE_RESOLVED, "key", "page", "the pages of a fault are present")
/* clang-format on */

struct paging_counters {
	PAGING_COUNTERS(COUNTER_FIELD)
};

struct paging_waiter { /* owned by the caller until done() */
	void (*done)(struct paging_waiter *waiter);
	struct paging_waiter *next;
};

/* Creates the block. Copies `params`. `regions` must outlive the block. */
struct paging *paging_create(struct sim *sim, const char *name, const struct paging_params *params,
			     struct mr_table *regions);
void paging_destroy(struct paging *paging);

/* Returns true if all pages of the range are present. The range must be within the region. */
bool paging_present(const struct mr *mr, uint64_t address, uint64_t length);

/*
 * Raises a page fault for a range with missing pages. At least the first missing page is present
 * when waiter->done() is called. `waiter` may be NULL.
 */
void paging_fault(struct paging *paging, const struct mr *mr, uint64_t address, uint64_t length,
		  struct paging_waiter *waiter);

/*
 * Starts to bring in the missing pages of a range, without a page fault of the HCA. Returns the
 * time until all pages are present.
 */
sim_time paging_prefetch(struct paging *paging, const struct mr *mr, uint64_t address,
			 uint64_t length);

const struct paging_counters *paging_counters(const struct paging *paging);

#endif
