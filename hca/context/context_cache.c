/* SPDX-License-Identifier: Apache-2.0 */
/* context_cache: see context_cache.h. Each kind of context has an icm_cache. This file selects the
 * cache. */
#include "hca/context/context_cache.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/pool.h"

#define QUEUE_KINDS (CONTEXT_READS + 1u) /* the kinds before MPT and MTT */

enum { NAME_BYTES = 256, SLAB_PARTS = 64 };

#define ROW(...) PARAM_ROW(struct context_cache_params, __VA_ARGS__)
/* clang-format off */
const struct param contexts_param_list[] = {CONTEXT_PARAMS(ROW) {0}};
/* clang-format on */

struct second_part { /* second part of a lookup in progress */
	struct context_cache *cache;
	struct context_lookup *lookup;
	struct icm_lookup icm;
};

struct context_cache {
	struct sim *sim;
	uint64_t reliable_parts;
	struct icm_fetcher fetcher;
	struct pool seconds;
	struct icm_cache *kinds[QUEUE_KINDS]; /* NULL at READS if these states have no cache */
};

/* Returns the cache that holds part `part` of a context of that kind. */
static struct icm_cache *cache_of(const struct context_cache *cache, enum context_kind kind,
				  unsigned part)
{
	assert((unsigned)kind < QUEUE_KINDS && cache->kinds[kind]);
	return cache->kinds[kind == CONTEXT_READS && part == 0 ? CONTEXT_RESPONDER : kind];
}

/* Returns the entry of a queue's context in that cache. All queues of a kind use the same number of
 * entries. */
static uint64_t entry_of(const struct context_cache *cache, enum context_kind kind, uint32_t number,
			 unsigned part)
{
	return kind == CONTEXT_REQUESTER ? number * cache->reliable_parts + part : number;
}

static unsigned part_count(const struct context_cache *cache, enum context_kind kind, bool reliable)
{
	if (kind == CONTEXT_READS)
		return 2;
	return kind == CONTEXT_REQUESTER && reliable ? (unsigned)cache->reliable_parts : 1;
}

static void part_done(struct context_lookup *lookup, const struct icm_lookup *icm)
{
	lookup->hit &= icm->hit;
	if (--lookup->parts_busy == 0)
		lookup->done(lookup);
}

static void first_done(struct icm_lookup *icm)
{
	part_done(container_of(icm, struct context_lookup, first), icm);
}

static void second_done(struct icm_lookup *icm)
{
	struct second_part *second = container_of(icm, struct second_part, icm);
	struct context_lookup *lookup = second->lookup;
	struct icm_lookup response = *icm;

	pool_give(&second->cache->seconds, second);
	part_done(lookup, &response);
}

/* Looks up the second part at the same time as the first. Otherwise the first part could be evicted
 * before the second arrives. */
static void look_up_second(struct context_cache *cache, struct context_lookup *lookup)
{
	struct second_part *second = pool_take_zeroed(&cache->seconds);

	second->cache = cache;
	second->lookup = lookup;
	second->icm.number = entry_of(cache, lookup->kind, lookup->number, 1);
	second->icm.tag = lookup->tag;
	second->icm.done = second_done;
	icm_cache_lookup(cache_of(cache, lookup->kind, 1), &second->icm);
}

void context_cache_lookup(struct context_cache *cache, struct context_lookup *lookup)
{
	unsigned parts = part_count(cache, lookup->kind, lookup->reliable);

	assert(lookup->done);
	lookup->hit = true;
	lookup->parts_busy = (uint8_t)parts;
	lookup->first = (struct icm_lookup){
		.number = entry_of(cache, lookup->kind, lookup->number, 0),
		.tag = lookup->tag,
		.done = first_done,
	};
	icm_cache_lookup(cache_of(cache, lookup->kind, 0), &lookup->first);
	if (parts > 1)
		look_up_second(cache, lookup);
}

bool context_cache_hit(struct context_cache *cache, enum context_kind kind, uint32_t number,
		       bool reliable, uint32_t tag, sim_time *ready)
{
	sim_time now = sim_now(cache->sim);
	bool two = part_count(cache, kind, reliable) > 1;

	if (two && !icm_cache_has(cache_of(cache, kind, 1), entry_of(cache, kind, number, 1)))
		return false;
	if (!icm_cache_hit(cache_of(cache, kind, 0), entry_of(cache, kind, number, 0), tag, now,
			   ready))
		return false;
	return !two || icm_cache_hit(cache_of(cache, kind, 1), entry_of(cache, kind, number, 1),
				     tag, *ready, ready);
}

void context_cache_invalidate(struct context_cache *cache, enum context_kind kind, uint32_t number)
{
	unsigned parts = kind == CONTEXT_REQUESTER ? part_count(cache, kind, true) : 1;

	if (cache->kinds[kind])
		icm_cache_invalidate(cache->kinds[kind], entry_of(cache, kind, number, 0), parts);
}

bool context_cache_separate_rdmarc(const struct context_cache *cache)
{
	return cache->kinds[CONTEXT_READS];
}

struct context_cache *context_cache_create(struct sim *sim, const char *name,
					   const struct context_cache_params *params,
					   struct pcie *pcie)
{
	const struct {
		const char *name;
		const struct icm_cache_params *params;
	} kinds[QUEUE_KINDS] = {
		[CONTEXT_REQUESTER] = {"requester", &params->requester},
		[CONTEXT_RESPONDER] = {"responder", &params->responder},
		[CONTEXT_CQ] = {"cq", &params->cq},
		[CONTEXT_SRQ] = {"srq", &params->srq},
		[CONTEXT_READS] = {"reads", &params->reads},
	};
	struct context_cache *cache = calloc(1, sizeof(*cache));

	assert(cache);
	cache->sim = sim;
	cache->reliable_parts = params->reliable_parts;
	cache->fetcher.limit = params->mshrs;
	pool_init(&cache->seconds, sizeof(struct second_part), SLAB_PARTS);
	for (unsigned kind = 0; kind < QUEUE_KINDS; kind++) {
		char full_name[NAME_BYTES];

		if (kind == CONTEXT_READS && !params->separate_rdmarc)
			continue;
		snprintf(full_name, sizeof(full_name), "%s.%s", name, kinds[kind].name);
		cache->kinds[kind] = icm_cache_create(
			sim, full_name, (enum context_kind)kind, kinds[kind].params, pcie,
			params->mshrs ? &cache->fetcher : NULL, &params->module);
	}
	return cache;
}

void context_cache_destroy(struct context_cache *cache)
{
	if (!cache)
		return;
	for (unsigned kind = 0; kind < QUEUE_KINDS; kind++)
		if (cache->kinds[kind])
			icm_cache_destroy(cache->kinds[kind]);
	pool_fini(&cache->seconds);
	free(cache);
}

const struct icm_cache_counters *context_cache_counters(const struct context_cache *cache,
							enum context_kind kind)
{
	assert(cache->kinds[kind]);
	return icm_cache_counters(cache->kinds[kind]);
}
