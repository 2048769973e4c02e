/* SPDX-License-Identifier: Apache-2.0 */
/* paging: see paging.h. */
#include "hca/context/paging.h"

#include <assert.h>
#include <stdlib.h>

#include "hca/context/paging_params.h"
#include "sim/pool.h"

#define ROW(...)    PARAM_ROW(struct paging_params, __VA_ARGS__)
#define SLAB_FAULTS 16

/* clang-format off */
const struct param paging_param_list[] = {PAGING_PARAMS(ROW) {0}};
enum { PAGING_TRACE(TRACE_ENUM) };

static void check(struct block *block, FILE *out);

static const struct block_type paging_type = {
	.name         = "paging",
	.params       = paging_param_list,
	.counters     = (const struct counter[]){PAGING_COUNTERS(COUNTER_ENTRY) {0}},
	.trace_points = (const struct trace_point[]){PAGING_TRACE(TRACE_ENTRY) {0}},
	.gauges       = (const struct gauge_info[]){PAGING_GAUGES(GAUGE_ENTRY) {0}},
	.check        = check,
};
/* clang-format on */

struct fault {
	struct fault *next;
	struct paging *paging;
	struct event event;
	uint32_t key;
	uint64_t first, count; /* pages of the region */
	sim_time begun_at;
	sim_time handled_from; /* start of its handling by a handler of the driver */
	bool asked_for;        /* a prefetch, which uses no handler of the driver */
	struct paging_waiter *waiter_first, **waiter_last;
};

struct paging_gauges {
	PAGING_GAUGES(GAUGE_FIELD)
};

struct paging {
	struct block block;
	struct paging_params param;
	struct paging_counters count;
	struct paging_gauges gauge;
	struct mr_table *regions;
	struct pool faults;
	struct fault *first, **last; /* in order of start; the first ones are with the driver */
	struct fault *waiting;       /* the first fault that is not with the driver, or NULL */
};

static void resolve(struct event *event);

static sim_time now(const struct paging *paging)
{
	return sim_now(paging->block.sim);
}

/* ---- pages ---- */

static uint64_t page_of(const struct mr *mr, uint64_t address)
{
	uint64_t host = mr->host_address + (address - mr->address);

	return (host >> mr->page_shift) - (mr->host_address >> mr->page_shift);
}

static bool is_there(const struct mr *mr, uint64_t page)
{
	return mr->present[page / 64] >> page % 64 & 1;
}

/* Returns the first missing page in [page, last], or last + 1 if all are present. */
static uint64_t first_missing(const struct mr *mr, uint64_t page, uint64_t last)
{
	while (page <= last && is_there(mr, page))
		page++;
	return page;
}

bool paging_present(const struct mr *mr, uint64_t address, uint64_t length)
{
	uint64_t last;

	if (!length)
		return true;
	last = page_of(mr, address + length - 1);
	return first_missing(mr, page_of(mr, address), last) > last;
}

/* ---- faults ---- */

static void add_waiter(struct fault *fault, struct paging_waiter *waiter)
{
	if (!waiter)
		return;
	waiter->next = NULL;
	*fault->waiter_last = waiter;
	fault->waiter_last = &waiter->next;
}

static struct fault *find(const struct paging *paging, uint32_t key, uint64_t page)
{
	struct fault *fault = paging->first;

	while (fault &&
	       (fault->key != key || page < fault->first || page - fault->first >= fault->count))
		fault = fault->next;
	return fault;
}

/* Passes faults to the driver while a handler is free. */
static void start_handlers(struct paging *paging)
{
	const struct paging_params *param = &paging->param;

	while (paging->waiting && paging->gauge.handlers.level < param->handlers) {
		struct fault *fault = paging->waiting;

		paging->waiting = fault->next;
		fault->handled_from = now(paging);
		gauge_enter(&paging->gauge.handlers, fault->handled_from, 1);
		sim_schedule(&fault->event,
			     param->latency + (fault->count - 1) * param->page_latency);
	}
	gauge_wait(&paging->gauge.handlers, now(paging), paging->waiting);
}

void paging_fault(struct paging *paging, const struct mr *mr, uint64_t address, uint64_t length,
		  struct paging_waiter *waiter)
{
	uint64_t last = page_of(mr, address + length - 1);
	uint64_t page = first_missing(mr, page_of(mr, address), last);
	uint64_t limit = (paging->param.prefetch >> mr->page_shift) + 1;
	struct fault *fault = find(paging, mr->key, page);

	assert(length && page <= last);
	if (fault) {
		paging->count.joins++;
		add_waiter(fault, waiter);
		return;
	}
	paging->count.faults++;
	trace(&paging->block, TRACE_PAGE_FAULT, 0, mr->key, page);
	fault = pool_take_zeroed(&paging->faults);
	fault->paging = paging;
	fault->key = mr->key;
	fault->first = page;
	fault->count = last - page + 1 < limit ? last - page + 1 : limit;
	fault->begun_at = now(paging);
	fault->waiter_last = &fault->waiter_first;
	add_waiter(fault, waiter);
	event_init(&fault->event, &paging->block, resolve);
	*paging->last = fault;
	paging->last = &fault->next;
	if (!paging->waiting)
		paging->waiting = fault;
	start_handlers(paging);
}

sim_time paging_prefetch(struct paging *paging, const struct mr *mr, uint64_t address,
			 uint64_t length)
{
	uint64_t last = page_of(mr, address + length - 1);
	uint64_t page = first_missing(mr, page_of(mr, address), last), missing = 0;
	struct fault *fault;

	assert(length);
	if (page > last)
		return 0;
	for (uint64_t i = page; i <= last; i++)
		missing += !is_there(mr, i);
	paging->count.prefetches++;
	fault = pool_take_zeroed(&paging->faults);
	fault->paging = paging;
	fault->key = mr->key;
	fault->first = page;
	fault->count = last - page + 1;
	fault->begun_at = now(paging);
	fault->asked_for = true;
	fault->waiter_last = &fault->waiter_first;
	event_init(&fault->event, &paging->block, resolve);
	fault->next = paging->first;
	paging->first = fault;
	if (paging->last == &paging->first)
		paging->last = &fault->next;
	sim_schedule(&fault->event, missing * paging->param.page_latency);
	return missing * paging->param.page_latency;
}

static void take_out(struct paging *paging, struct fault *fault)
{
	struct fault **link = &paging->first;

	while (*link != fault)
		link = &(*link)->next;
	*link = fault->next;
	if (paging->last == &fault->next)
		paging->last = link;
}

/* Completes a fault. The region may be removed meanwhile; the waiters then find this out
 * themselves. */
static void resolve(struct event *event)
{
	struct fault *fault = container_of(event, struct fault, event);
	struct paging *paging = fault->paging;
	struct mr *mr = mr_table_find(paging->regions, fault->key);
	struct paging_waiter *waiter = fault->waiter_first;

	take_out(paging, fault);
	if (!fault->asked_for)
		gauge_left(&paging->gauge.handlers, fault->handled_from, now(paging), 1);
	paging->count.resolved++;
	paging->count.fault_time += now(paging) - fault->begun_at;
	trace(&paging->block, TRACE_PAGE_RESOLVED, 0, fault->key, fault->first);
	for (uint64_t page = fault->first; mr && page < fault->first + fault->count; page++) {
		paging->count.pages += !is_there(mr, page);
		mr->present[page / 64] |= UINT64_C(1) << page % 64;
	}
	pool_give(&paging->faults, fault);
	start_handlers(paging);
	while (waiter) {
		struct paging_waiter *next = waiter->next;

		waiter->done(waiter);
		waiter = next;
	}
}

/* ---- the block ---- */

static void check(struct block *block, FILE *out)
{
	const struct paging *paging = container_of(block, struct paging, block);

	block_equal(block, out, "page faults and prefetches = resolved + in progress",
		    paging->count.faults + paging->count.prefetches,
		    paging->count.resolved + paging->faults.in_use);
}

struct paging *paging_create(struct sim *sim, const char *name, const struct paging_params *params,
			     struct mr_table *regions)
{
	struct paging *paging = calloc(1, sizeof(*paging));

	assert(paging && regions);
	paging->param = *params;
	paging->regions = regions;
	paging->last = &paging->first;
	block_init(&paging->block, sim, &paging_type, name, &paging->param,
		   (const uint64_t *)&paging->count);
	block_gauges(&paging->block, (struct gauge *)&paging->gauge);
	paging->gauge.handlers.capacity = params->handlers;
	pool_init(&paging->faults, sizeof(struct fault), SLAB_FAULTS);
	return paging;
}

void paging_destroy(struct paging *paging)
{
	for (struct fault *fault = paging->first; fault; fault = fault->next)
		sim_cancel(&fault->event);
	pool_fini(&paging->faults);
	block_fini(&paging->block);
	free(paging);
}

const struct paging_counters *paging_counters(const struct paging *paging)
{
	return &paging->count;
}
