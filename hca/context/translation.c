/* SPDX-License-Identifier: Apache-2.0 */
/*
 * translation: see translation.h. A request goes through the MPT entry, the checks, the MTT entries
 * page by page, and the response. If both caches hit, all steps take one event. A miss continues in
 * the completion of its lookup.
 */
#include "hca/context/translation.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "hca/context/translation_adapter.h"
#include "hca/context/translation_params.h"
#include "sim/audit.h"

enum { TRANSLATION_TRACE(TRACE_ENUM) };

enum { KEY_OWN_BITS = 8, NAME_BYTES = 256 };

struct translation_gauges {
	TRANSLATION_GAUGES(GAUGE_FIELD)
};

struct translation_unit {
	struct block block;
	struct translation_params param;
	struct translation_counters count;
	struct translation_gauges gauge;
	struct mr_table *regions;
	struct icm_cache *mpt, *mtt;
	struct translation_adapter *adapter; /* NULL if no module replaces the unit */
	sim_time start_next; /* earliest start of the next translation, by the interval */
};

static void start_at(struct translation *translation, sim_time at, void (*fire)(struct event *));
static void fetch_mpt(struct event *event);
static void mpt_arrived(struct icm_lookup *lookup);
static void check(struct translation_unit *unit, struct translation *translation, sim_time at);
static void find_pages(struct translation_unit *unit, struct translation *translation, sim_time at);
static void fetch_mtt(struct event *event);
static void mtt_arrived(struct icm_lookup *lookup);
static void respond(struct translation_unit *unit, struct translation *translation, sim_time at);

static void look_up(struct icm_cache *cache, struct translation *translation, uint64_t number,
		    void (*done)(struct icm_lookup *))
{
	translation->lookup.number = number;
	translation->lookup.tag = translation->tag;
	translation->lookup.done = done;
	icm_cache_lookup(cache, &translation->lookup);
}

void translation_start(struct translation_unit *unit, struct translation *translation)
{
	sim_time start = sim_now(unit->block.sim), found;
	uint64_t entry = translation->key >> KEY_OWN_BITS;

	assert(translation->done);
	translation->unit = unit;
	translation->status = TRANSLATION_OK;
	translation->memory = NULL;
	translation->host_address = 0;
	unit->count.translations++;
	translation->asked_at = start;
	gauge_enter(&unit->gauge.pending, start, 1);
	if (start < unit->start_next)
		start = unit->start_next;
	unit->start_next = start + unit->param.interval;
	gauge_serve(&unit->gauge.checker, start, unit->param.interval);
	trace(&unit->block, TRACE_TRANSLATE, translation->tag, translation->key,
	      translation->address);
	unit->count.empty += !translation->length;
	if (__builtin_expect(!!unit->adapter, 0)) {
		translation->adapter = unit->adapter;
		translation->module = NULL;
		event_init(&translation->event, &unit->block, translation_deliver);
		translation_adapter_request(unit->adapter, translation);
		return;
	}
	if (!translation->length) {
		respond(unit, translation, start);
	} else if (icm_cache_hit(unit->mpt, entry, translation->tag, start, &found)) {
		check(unit, translation, found);
	} else {
		start_at(translation, start, fetch_mpt);
	}
}

/* Continues a translation at time `at`. A lookup that misses starts in its own event, because its
 * read competes with other reads. */
static void start_at(struct translation *translation, sim_time at, void (*fire)(struct event *))
{
	event_init(&translation->event, &translation->unit->block, fire);
	if (at > sim_now(translation->unit->block.sim))
		sim_schedule_at(&translation->event, at);
	else
		fire(&translation->event);
}

static void fetch_mpt(struct event *event)
{
	struct translation *translation = container_of(event, struct translation, event);

	look_up(translation->unit->mpt, translation, translation->key >> KEY_OWN_BITS, mpt_arrived);
}

static void mpt_arrived(struct icm_lookup *lookup)
{
	struct translation *translation = container_of(lookup, struct translation, lookup);
	struct translation_unit *unit = translation->unit;

	check(unit, translation, sim_now(unit->block.sim));
}

/* Checks the rights of a key: IBTA 10.6.3 and 10.6.7. */
static enum translation_status status_of(const struct translation *translation, const struct mr *mr)
{
	uint64_t offset;

	if (!mr || !mr->valid)
		return TRANSLATION_BAD_KEY;
	if (mr->pd != translation->pd)
		return TRANSLATION_BAD_PD;
	offset = translation->address -
		 mr->address; /* wraps below the region and is then too large */
	if (offset > mr->length || translation->length > mr->length - offset)
		return TRANSLATION_BAD_RANGE;
	if (translation->access & ~mr->access)
		return TRANSLATION_BAD_ACCESS;
	if (mr->qpn && mr->qpn != translation->qpn)
		return TRANSLATION_BAD_ACCESS;
	return TRANSLATION_OK;
}

void translation_check(struct translation_unit *unit, struct translation *translation,
		       uint64_t *first_page, uint64_t *page_count)
{
	const struct mr *mr = mr_table_find(unit->regions, translation->key);
	uint64_t region_page, page, last_page;

	*first_page = *page_count = 0;
	translation->status = status_of(translation, mr);
	if (translation->status != TRANSLATION_OK) {
		uint64_t *denied[] = {
			[TRANSLATION_BAD_KEY] = &unit->count.bad_key,
			[TRANSLATION_BAD_PD] = &unit->count.bad_pd,
			[TRANSLATION_BAD_RANGE] = &unit->count.bad_range,
			[TRANSLATION_BAD_ACCESS] = &unit->count.bad_access,
		};

		++*denied[translation->status];
		return;
	}
	unit->count.granted++;
	translation->memory = mr->memory;
	translation->host_address = mr->host_address + (translation->address - mr->address);
	if (mr->physical) {
		unit->count.contiguous++;
		return;
	}
	region_page = mr->host_address >> mr->page_shift;
	page = translation->host_address >> mr->page_shift;
	last_page = (translation->host_address + translation->length - 1) >> mr->page_shift;
	*first_page = mr->mtt_index + page - region_page;
	*page_count = last_page - page + 1;
	unit->count.pages += *page_count;
}

static void check(struct translation_unit *unit, struct translation *translation, sim_time at)
{
	uint64_t page_count;

	translation_check(unit, translation, &translation->next_page, &page_count);
	translation->last_page = translation->next_page + page_count;
	find_pages(unit, translation, at);
}

/* Looks up MTT entries one after another until a lookup misses. mtt_arrived() continues after the
 * miss. */
static void find_pages(struct translation_unit *unit, struct translation *translation, sim_time at)
{
	while (translation->next_page < translation->last_page) {
		if (!icm_cache_hit(unit->mtt, translation->next_page, translation->tag, at, &at)) {
			start_at(translation, at, fetch_mtt);
			return;
		}
		translation->next_page++;
	}
	respond(unit, translation, at);
}

static void fetch_mtt(struct event *event)
{
	struct translation *translation = container_of(event, struct translation, event);

	look_up(translation->unit->mtt, translation, translation->next_page++, mtt_arrived);
}

static void mtt_arrived(struct icm_lookup *lookup)
{
	struct translation *translation = container_of(lookup, struct translation, lookup);
	struct translation_unit *unit = translation->unit;

	find_pages(unit, translation, sim_now(unit->block.sim));
}

static void respond(struct translation_unit *unit, struct translation *translation, sim_time at)
{
	event_init(&translation->event, &unit->block, translation_deliver);
	sim_schedule_at(&translation->event, at + unit->param.latency);
}

void translation_deliver(struct event *event)
{
	struct translation *translation = container_of(event, struct translation, event);

	gauge_left(&translation->unit->gauge.pending, translation->asked_at,
		   sim_now(translation->unit->block.sim), 1);
	trace(&translation->unit->block, TRACE_TRANSLATE_DONE, translation->tag,
	      translation->status, translation->host_address);
	translation->done(translation);
}

void translation_invalidate(struct translation_unit *unit, const struct mr *mr)
{
	if (unit->adapter) {
		translation_adapter_invalidate(unit->adapter, TRANSLATION_MPT,
					       mr->key >> KEY_OWN_BITS, 1);
		translation_adapter_invalidate(unit->adapter, TRANSLATION_MTT, mr->mtt_index,
					       mr_table_page_count(mr));
		return;
	}
	icm_cache_invalidate(unit->mpt, mr->key >> KEY_OWN_BITS, 1);
	icm_cache_invalidate(unit->mtt, mr->mtt_index, mr_table_page_count(mr));
}

#define ROW(...) PARAM_ROW(struct translation_params, __VA_ARGS__)
/* clang-format off */
const struct param translation_param_list[] = { TRANSLATION_PARAMS(ROW) { 0 } };

static void audit(struct block *block, FILE *out)
{
	const struct translation_unit *unit = container_of(block, struct translation_unit, block);

	audit_service(block, out, &unit->gauge.checker, unit->count.translations,
		      unit->param.interval);
}

static const struct block_type translation_type = {
	.name = "translation",
	.params = translation_param_list,
	.counters = (const struct counter[]){ TRANSLATION_COUNTERS(COUNTER_ENTRY) { 0 } },
	.trace_points = (const struct trace_point[]){ TRANSLATION_TRACE(TRACE_ENTRY) { 0 } },
	.gauges = (const struct gauge_info[]){ TRANSLATION_GAUGES(GAUGE_ENTRY) { 0 } },
	.audit = audit,
};
/* clang-format on */

struct translation_unit *translation_unit_create(struct sim *sim, const char *name,
						 const struct translation_params *params,
						 struct pcie *pcie, struct mr_table *regions)
{
	struct translation_unit *unit = calloc(1, sizeof(*unit));
	char cache_name[NAME_BYTES];

	assert(unit && pcie && regions);
	unit->param = *params;
	unit->regions = regions;
	block_init(&unit->block, sim, &translation_type, name, &unit->param,
		   (const uint64_t *)&unit->count);
	block_gauges(&unit->block, (struct gauge *)&unit->gauge);
	unit->gauge.checker.capacity = 1;
	if (*params->module.text) {
		unit->adapter = translation_adapter_create(unit, &unit->block, &unit->param, pcie);
		return unit;
	}
	snprintf(cache_name, sizeof(cache_name), "%s.mpt", name);
	unit->mpt = icm_cache_create(sim, cache_name, CONTEXT_MPT, &params->mpt, pcie, NULL, NULL);
	snprintf(cache_name, sizeof(cache_name), "%s.mtt", name);
	unit->mtt = icm_cache_create(sim, cache_name, CONTEXT_MTT, &params->mtt, pcie, NULL, NULL);
	return unit;
}

void translation_unit_destroy(struct translation_unit *unit)
{
	if (!unit)
		return;
	if (unit->adapter)
		translation_adapter_destroy(unit->adapter);
	icm_cache_destroy(unit->mpt);
	icm_cache_destroy(unit->mtt);
	block_fini(&unit->block);
	free(unit);
}

const struct translation_counters *translation_counters(const struct translation_unit *unit)
{
	return &unit->count;
}

const struct icm_cache_counters *translation_mpt_counters(const struct translation_unit *unit)
{
	return unit->adapter ? translation_adapter_counters(unit->adapter, TRANSLATION_MPT)
			     : icm_cache_counters(unit->mpt);
}

const struct icm_cache_counters *translation_mtt_counters(const struct translation_unit *unit)
{
	return unit->adapter ? translation_adapter_counters(unit->adapter, TRANSLATION_MTT)
			     : icm_cache_counters(unit->mtt);
}
