/* context_cache: see context_cache.h. Each kind is an icm_cache; what is done here is choosing one. */
#include "hca/context/context_cache.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "hca/device/pool.h"

#define QUEUE_KINDS (CONTEXT_SRQ + 1u) /* the kinds before MPT and MTT */

enum { NAME_BYTES = 256, SLAB_PARTS = 64 };

#define ROW(...) PARAM_ROW(struct context_cache_params, __VA_ARGS__)
/* clang-format off */
const struct param contexts_param_list[] = {CONTEXT_PARAMS(ROW) {0}};
/* clang-format on */

struct second_part { /* of a lookup under way */
	struct context_cache *cache;
	struct context_lookup *lookup;
	struct icm_lookup icm;
};

struct context_cache {
	struct sim *sim;
	uint64_t reliable_parts;
	struct pool seconds;
	struct icm_cache *kinds[QUEUE_KINDS];
};

static struct icm_cache *kind_get(const struct context_cache *cache, enum context_kind kind)
{
	assert((unsigned)kind < QUEUE_KINDS);
	return cache->kinds[kind];
}

/* Entry `part` of a queue's context; all queues of a kind have room for as many. */
static uint64_t entry_of(const struct context_cache *cache, enum context_kind kind, uint32_t number,
			 unsigned part)
{
	return kind == CONTEXT_REQUESTER ? number * cache->reliable_parts + part : number;
}

static unsigned part_count(const struct context_cache *cache, enum context_kind kind, bool reliable)
{
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
	struct icm_lookup answer = *icm;

	pool_give(&second->cache->seconds, second);
	part_done(lookup, &answer);
}

/* Both at once: one after the other, the first might be gone when the second comes. */
static void look_up_second(struct context_cache *cache, struct context_lookup *lookup)
{
	struct second_part *second = pool_take(&cache->seconds);

	second->cache = cache;
	second->lookup = lookup;
	second->icm.number = entry_of(cache, lookup->kind, lookup->number, 1);
	second->icm.tag = lookup->tag;
	second->icm.done = second_done;
	icm_cache_lookup(kind_get(cache, lookup->kind), &second->icm);
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
	icm_cache_lookup(kind_get(cache, lookup->kind), &lookup->first);
	if (parts > 1)
		look_up_second(cache, lookup);
}

bool context_cache_hit(struct context_cache *cache, enum context_kind kind, uint32_t number,
		       bool reliable, uint32_t tag, sim_time *ready)
{
	struct icm_cache *icm = kind_get(cache, kind);
	unsigned parts = part_count(cache, kind, reliable);
	bool hit = true;

	*ready = sim_now(cache->sim);
	for (unsigned part = 1; part < parts && hit; part++)
		hit = icm_cache_has(icm, entry_of(cache, kind, number, part));
	for (unsigned part = 0; part < parts && hit; part++)
		hit = icm_cache_hit(icm, entry_of(cache, kind, number, part), tag, *ready, ready);
	return hit;
}

void context_cache_invalidate(struct context_cache *cache, enum context_kind kind, uint32_t number)
{
	icm_cache_invalidate(kind_get(cache, kind), entry_of(cache, kind, number, 0),
			     part_count(cache, kind, true));
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
	};
	struct context_cache *cache = calloc(1, sizeof(*cache));

	assert(cache);
	cache->sim = sim;
	cache->reliable_parts = params->reliable_parts;
	pool_init(&cache->seconds, sizeof(struct second_part), SLAB_PARTS);
	for (unsigned kind = 0; kind < QUEUE_KINDS; kind++) {
		char full_name[NAME_BYTES];

		snprintf(full_name, sizeof(full_name), "%s.%s", name, kinds[kind].name);
		cache->kinds[kind] = icm_cache_create(sim, full_name, (enum context_kind)kind,
						      kinds[kind].params, pcie);
	}
	return cache;
}

void context_cache_destroy(struct context_cache *cache)
{
	if (!cache)
		return;
	for (unsigned kind = 0; kind < QUEUE_KINDS; kind++)
		icm_cache_destroy(cache->kinds[kind]);
	pool_fini(&cache->seconds);
	free(cache);
}

const struct icm_cache_counters *context_cache_counters(const struct context_cache *cache,
							enum context_kind kind)
{
	return icm_cache_counters(kind_get(cache, kind));
}
