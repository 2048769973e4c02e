/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connection_cache: see connection_cache.h.
 */
#include "hca/endpoint/connection_cache.h"

#include <stdio.h>
#include <stdlib.h>

#include "hca/endpoint/tcp_end.h"
#include "hca/host/tag_array.h"

struct connection_cache {
	const struct connection_cache_params *params;
	struct tag_array tags;
	sim_time *ready;   /* [entries]: time at which each context is on the chip */
	sim_time *fetches; /* [fetches]: ends of the last fetches, from the oldest on */
	uint64_t oldest;
	sim_time taken_at; /* of the last received packet */
	struct connection_cache_counters count;
	struct block block;
};

static sim_time later(sim_time one, sim_time other)
{
	return one > other ? one : other;
}

/* Looks up a context. Returns the time at which it is on the chip. */
static sim_time look_up(struct connection_cache *cache, uint32_t number)
{
	sim_time now = sim_now(cache->block.sim), *end = &cache->fetches[cache->oldest];

	cache->count.lookups++;
	if (tag_array_touch(&cache->tags, number)) {
		bool here = cache->ready[cache->tags.place] <= now;

		cache->count.hits += here;
		cache->count.merges += !here;
		return later(now, cache->ready[cache->tags.place]);
	}
	cache->count.misses++;
	cache->count.stalls += *end > now;
	cache->count.evictions +=
		tag_array_insert(&cache->tags, number, cache->tags.ways, false, NULL) != TAG_NONE;
	*end = later(*end, now) + cache->params->latency;
	cache->oldest = (cache->oldest + 1) % cache->params->fetches;
	cache->ready[cache->tags.place] = *end;
	return *end;
}

sim_time connection_cache_take(struct endpoint_hca *ep, const struct packet *packet, sim_time at)
{
	struct connection_cache *cache = ep->cache;

	cache->taken_at = later(later(look_up(cache, packet->dest_qp), at), cache->taken_at);
	return cache->taken_at;
}

bool connection_cache_allows(struct endpoint_qp *qp)
{
	sim_time now = endpoint_now(qp->ep), at;

	if (qp->fetched) {
		qp->fetched = now < qp->allowed_at;
		return !qp->fetched;
	}
	at = look_up(qp->ep->cache, qp->number);
	if (at <= now)
		return true;
	qp->fetched = true;
	departure_hold(qp, at);
	return false;
}

const struct connection_cache_counters *connection_cache_counters(const struct endpoint_hca *ep)
{
	return ep->cache ? &ep->cache->count : NULL;
}

/* clang-format off */
#define ROW(...) PARAM_ROW(struct connection_cache_params, __VA_ARGS__)
const struct param connection_cache_param_list[] = { CONNECTION_CACHE_PARAMS(ROW) { 0 } };

static const struct block_type connection_cache_type = {
	.name     = "connection_cache",
	.params   = connection_cache_param_list,
	.counters = (const struct counter[]){ CONNECTION_CACHE_COUNTERS(COUNTER_ENTRY) { 0 } },
};
/* clang-format on */

void connection_cache_init(struct endpoint_hca *ep, const struct connection_cache_params *params)
{
	struct connection_cache *cache = sim_arena(ep->block.sim, sizeof(*cache));
	char name[256];

	snprintf(name, sizeof(name), "%s.contexts", ep->block.name);
	block_init(&cache->block, ep->block.sim, &connection_cache_type, name, params,
		   &cache->count);
	cache->params = params;
	tag_array_init(&cache->tags, params->entries, params->ways, NULL);
	cache->ready = calloc(params->entries, sizeof(*cache->ready));
	cache->fetches = calloc(params->fetches, sizeof(*cache->fetches));
	assert(cache->ready && cache->fetches);
	ep->cache = cache;
}

void connection_cache_destroy(struct endpoint_hca *ep)
{
	struct connection_cache *cache = ep->cache;

	if (!cache)
		return;
	tag_array_fini(&cache->tags);
	free(cache->ready);
	free(cache->fetches);
	block_fini(&cache->block);
}
