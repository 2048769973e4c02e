/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paging: regions that are registered for on-demand paging: which of their pages are there, and the page faults that bring
 * in the others. Nothing is there at first, and what is there stays.
 *
 *     requester, responder, completer --paging_present()?--> yes: go on
 *                                      `--paging_fault()--> driver's handlers, latency --> pages there, done()
 *
 * Faults on pages that are on their way already join the fault that brings them.
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

struct paging_waiter { /* the caller's until done() */
	void (*done)(struct paging_waiter *waiter);
	struct paging_waiter *next;
};

/* params are copied; the regions outlive it. */
struct paging *paging_create(struct sim *sim, const char *name, const struct paging_params *params,
			     struct mr_table *regions);
void paging_destroy(struct paging *paging);

/* Are all pages of it there? The range is within the region. */
bool paging_present(const struct mr *mr, uint64_t address, uint64_t length);

/* They are not: at least the first that is missing will be once waiter->done() is called. NULL: nobody waits. */
void paging_fault(struct paging *paging, const struct mr *mr, uint64_t address, uint64_t length,
		  struct paging_waiter *waiter);

/* The driver brings in what is missing of it, unasked by the HCA; returns when that will be done, from now on. */
sim_time paging_prefetch(struct paging *paging, const struct mr *mr, uint64_t address,
			 uint64_t length);

const struct paging_counters *paging_counters(const struct paging *paging);

#endif
