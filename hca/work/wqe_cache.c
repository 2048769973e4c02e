/* SPDX-License-Identifier: Apache-2.0 */
/* wqe_cache: see wqe_cache.h. */
#include "hca/work/wqe_cache.h"

#include <assert.h>
#include <stdlib.h>

#include "hca/host/tag_array.h"
#include "sim/random.h"

#define ROW(...) PARAM_ROW(struct wqe_cache_params, __VA_ARGS__)

/* clang-format off */
const struct param wqe_cache_param_list[] = {WQE_CACHE_PARAMS(ROW) {0}};
enum { WQE_CACHE_TRACE(TRACE_ENUM) };

static void check(struct block *block, FILE *out);

static const struct block_type wqe_cache_type = {
	.name         = "wqe_cache",
	.params       = wqe_cache_param_list,
	.counters     = (const struct counter[]){WQE_CACHE_COUNTERS(COUNTER_ENTRY) {0}},
	.trace_points = (const struct trace_point[]){WQE_CACHE_TRACE(TRACE_ENTRY) {0}},
	.check        = check,
};
/* clang-format on */

_Static_assert((int)WQE_CACHE_MERGE == (int)TRACE_WQE_MERGE, "an outcome is its trace point");

struct wqe_cache {
	struct block block;
	struct wqe_cache_counters count;
	const struct wqe_cache_params *params;
	struct tag_array lines;
	struct random random;
	uint64_t next_line; /* number after the lines of all rings */
};

uint64_t wqe_cache_add_ring(struct wqe_cache *cache, uint64_t bytes)
{
	uint64_t first = cache->next_line;

	cache->next_line += (bytes + WQE_LINE_BYTES - 1) / WQE_LINE_BYTES;
	return first;
}

bool wqe_cache_has(const struct wqe_cache *cache, uint64_t line, uint32_t count)
{
	bool all = true;

	for (uint32_t i = 0; i < count; i++)
		all &= tag_array_has(&cache->lines, line + i);
	return all;
}

bool wqe_cache_want(struct wqe_cache *cache, uint64_t line)
{
	return tag_array_touch(&cache->lines, line);
}

void wqe_cache_looked_up(struct wqe_cache *cache, enum wqe_outcome outcome, uint64_t line,
			 uint32_t tag)
{
	cache->count.lookups++;
	switch (outcome) {
	case WQE_CACHE_HIT:
		cache->count.hits++;
		break;
	case WQE_CACHE_MISS:
		cache->count.misses++;
		break;
	case WQE_CACHE_MERGE:
		cache->count.merges++;
		break;
	}
	trace(&cache->block, outcome, tag, line, 0);
}

void wqe_cache_lost(struct wqe_cache *cache)
{
	cache->count.lost++;
}

void wqe_cache_fetched(struct wqe_cache *cache, uint32_t spared, uint32_t ahead)
{
	cache->count.spared += spared;
	cache->count.prefetches += ahead;
}

void wqe_cache_fill(struct wqe_cache *cache, uint64_t line, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		cache->count.fills++;
		if (!tag_array_touch(&cache->lines, line + i))
			cache->count.evictions +=
				tag_array_insert(&cache->lines, line + i, cache->lines.ways, false,
						 NULL) != TAG_NONE;
	}
}

void wqe_cache_forget(struct wqe_cache *cache, uint64_t line, uint64_t count)
{
	tag_array_remove(&cache->lines, line, count);
}

sim_time wqe_cache_latency(const struct wqe_cache *cache)
{
	return cache->params->latency;
}

const struct wqe_cache_counters *wqe_cache_counters(const struct wqe_cache *cache)
{
	return &cache->count;
}

static void check(struct block *block, FILE *out)
{
	const struct wqe_cache *cache = container_of(block, struct wqe_cache, block);
	const struct wqe_cache_counters *count = &cache->count;

	block_equal(block, out, "lookups = hits + misses + merges", count->lookups,
		    count->hits + count->misses + count->merges);
}

struct wqe_cache *wqe_cache_create(struct sim *sim, const char *name,
				   const struct wqe_cache_params *params)
{
	struct wqe_cache *cache;
	uint64_t ways = params->ways < params->entries ? params->ways : params->entries;

	if (!params->entries)
		return NULL;
	cache = calloc(1, sizeof(*cache));
	assert(cache);
	cache->params = params;
	block_init(&cache->block, sim, &wqe_cache_type, name, params,
		   (const uint64_t *)&cache->count);
	random_init(&cache->random, &cache->block, "replacement");
	tag_array_init(&cache->lines, params->entries, ways,
		       params->replacement == WQE_REPLACE_LRU ? NULL : &cache->random);
	return cache;
}

void wqe_cache_destroy(struct wqe_cache *cache)
{
	if (!cache)
		return;
	block_fini(&cache->block);
	tag_array_fini(&cache->lines);
	free(cache);
}
