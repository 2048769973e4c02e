/* context_cache: see context_cache.h. Each kind is an icm_cache; what is done here is choosing one. */
#include "hca/context/context_cache.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define QUEUE_KINDS (CONTEXT_SRQ + 1u) /* the kinds before MPT and MTT */

enum { NAME_BYTES = 256 };

struct context_cache {
	struct sim *sim;
	struct icm_cache *kinds[QUEUE_KINDS];
};

static struct icm_cache *kind_get(const struct context_cache *cache, enum context_kind kind)
{
	assert((unsigned)kind < QUEUE_KINDS);
	return cache->kinds[kind];
}

static void lookup_done(struct icm_lookup *icm)
{
	struct context_lookup *lookup = container_of(icm, struct context_lookup, icm);

	lookup->hit = icm->hit;
	lookup->done(lookup);
}

void context_cache_lookup(struct context_cache *cache, struct context_lookup *lookup)
{
	assert(lookup->done);
	lookup->icm.number = lookup->number;
	lookup->icm.tag = lookup->tag;
	lookup->icm.done = lookup_done;
	icm_cache_lookup(kind_get(cache, lookup->kind), &lookup->icm);
}

bool context_cache_hit(struct context_cache *cache, enum context_kind kind, uint32_t number,
		       uint32_t tag, sim_time *ready)
{
	return icm_cache_hit(kind_get(cache, kind), number, tag, sim_now(cache->sim), ready);
}

void context_cache_invalidate(struct context_cache *cache, enum context_kind kind, uint32_t number)
{
	icm_cache_invalidate(kind_get(cache, kind), number, 1);
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
	free(cache);
}

const struct icm_cache_counters *context_cache_counters(const struct context_cache *cache,
							enum context_kind kind)
{
	return icm_cache_counters(kind_get(cache, kind));
}
