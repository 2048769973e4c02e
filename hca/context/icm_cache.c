/* SPDX-License-Identifier: Apache-2.0 */
/*
 * icm_cache: see icm_cache.h. Reads top-down: a lookup hits and is served, or misses and goes
 * take_slot() -> pcie_read() -> line_arrived() -> respond().
 */
#include "hca/context/icm_cache.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "hca/context/context_module.h"
#include "hca/module/module_host.h"
#include "sim/audit.h"
#include "sim/random.h"

enum { ICM_CACHE_TRACE(TRACE_ENUM) };

enum {
	NAME_BYTES = 256,
	ICM_KIND_SHIFT = 48
}; /* each kind's table has its own range of ICM addresses */

struct lookup_queue {
	struct icm_lookup *first, **last;
};

struct miss_slot { /* one PCIe read of one line */
	struct pcie_read read;
	struct pcie_write write;  /* of the replaced entry */
	struct icm_lookup lookup; /* in the second level, in place of the read */
	struct icm_cache *cache;
	uint64_t line;
	sim_time since;
	bool busy;
	bool writing;        /* all lookups have their response; the write-back is in progress */
	bool stale;          /* invalidated in flight */
	uint64_t reads_left; /* reads that follow the one in flight */
	struct lookup_queue waiting; /* lookups that wait for the line */
};

struct icm_cache {
	struct block block;
	struct icm_cache_params param;
	struct icm_cache_counters count;
	struct icm_cache_gauges gauge;
	struct pcie *pcie;
	struct icm_fetcher *fetcher; /* NULL: its own */
	struct icm_cache *next;      /* of those of the fetcher */
	struct icm_cache *second;    /* NULL: misses are read over PCIe */
	struct random random;
	const struct contexts_module *tags;
	struct module_host host; /* of the tags */
	enum context_kind kind;
	sim_time response_next; /* earliest time of the next response, by the interval */
	struct lookup_queue stalled;
	uint64_t stalled_count;
	struct miss_slot slots[]; /* [mshrs] */
};

static void respond(struct icm_cache *cache, struct icm_lookup *lookup, sim_time latency);
static void deliver(struct event *event);
static bool join_or_fetch(struct icm_cache *cache, struct icm_lookup *lookup);
static void line_arrived(struct pcie_read *read);
static void second_level_done(struct icm_lookup *lookup);
static void serve(struct miss_slot *slot);
static bool restart_stalled(struct icm_cache *cache);
static void restart_all(struct icm_cache *cache);

static void queue_init(struct lookup_queue *queue)
{
	queue->first = NULL;
	queue->last = &queue->first;
}

static void queue_push(struct lookup_queue *queue, struct icm_lookup *lookup)
{
	lookup->next = NULL;
	*queue->last = lookup;
	queue->last = &lookup->next;
}

static struct icm_lookup *queue_pop(struct lookup_queue *queue)
{
	struct icm_lookup *lookup = queue->first;

	if (lookup && !(queue->first = lookup->next))
		queue->last = &queue->first;
	return lookup;
}

/* ---- tags ---- */

static uint64_t line_of(const struct icm_cache *cache, uint64_t number)
{
	return cache->param.line_entries == 1 ? number : number / cache->param.line_entries;
}

static bool find_by_module(struct icm_cache *cache, uint64_t number, sim_time *latency)
{
	bool found;

	module_host_enter(&cache->host);
	found = cache->tags->find(cache->host.module, line_of(cache, number),
				  sim_now(cache->block.sim), latency);
	module_host_leave(&cache->host);
	return found;
}

/* Returns true if the entry is cached, and the latency of the response. */
static inline bool find(struct icm_cache *cache, uint64_t number, sim_time *latency)
{
	*latency = cache->param.hit_latency;
	if (!cache->host.builtin)
		return find_by_module(cache, number, latency);
	return cache->tags->find(cache->host.module, line_of(cache, number),
				 sim_now(cache->block.sim), latency);
}

static bool insert(struct icm_cache *cache, uint64_t line, uint64_t *evicted)
{
	bool evicts;

	module_host_enter(&cache->host);
	evicts = cache->tags->insert(cache->host.module, line, sim_now(cache->block.sim), evicted);
	module_host_leave(&cache->host);
	return evicts;
}

static void forget(struct icm_cache *cache, uint64_t first, uint64_t count)
{
	module_host_enter(&cache->host);
	cache->count.invalidations += cache->tags->remove(cache->host.module, first, count);
	module_host_leave(&cache->host);
}

/* ---- lookups ---- */

/* Books the response of a lookup that is ready at `base`, `latency` later. Returns its time. */
static sim_time response_time(struct icm_cache *cache, sim_time base, sim_time latency)
{
	sim_time at = base + latency;

	if (at < cache->response_next)
		at = cache->response_next;
	cache->response_next = at + cache->param.interval;
	gauge_serve(&cache->gauge.port, at, cache->param.interval);
	return at;
}

bool icm_cache_hit(struct icm_cache *cache, uint64_t number, uint32_t tag, sim_time start,
		   sim_time *ready)
{
	sim_time latency;

	if (!find(cache, number, &latency))
		return false;
	cache->count.lookups++;
	cache->count.hits++;
	trace(&cache->block, TRACE_ICM_HIT, tag, number, 0);
	*ready = response_time(cache, start, latency);
	return true;
}

bool icm_cache_has(struct icm_cache *cache, uint64_t number)
{
	sim_time latency;

	return find(cache, number, &latency);
}

void icm_cache_lookup(struct icm_cache *cache, struct icm_lookup *lookup)
{
	sim_time latency;

	assert(lookup->done);
	event_init(&lookup->event, &cache->block, deliver);
	cache->count.lookups++;
	lookup->hit = find(cache, lookup->number, &latency);
	if (lookup->hit) {
		cache->count.hits++;
		trace(&cache->block, TRACE_ICM_HIT, lookup->tag, lookup->number, 0);
		respond(cache, lookup, latency);
	} else if (!join_or_fetch(cache, lookup)) {
		cache->count.stalls++;
		trace(&cache->block, TRACE_ICM_STALL, lookup->tag, lookup->number, 0);
		queue_push(&cache->stalled, lookup);
		gauge_wait(&cache->gauge.mshrs, sim_now(cache->block.sim), true);
		if (++cache->stalled_count > cache->count.waiting_max)
			cache->count.waiting_max = cache->stalled_count;
	}
}

static void respond(struct icm_cache *cache, struct icm_lookup *lookup, sim_time latency)
{
	sim_schedule_at(&lookup->event, response_time(cache, sim_now(cache->block.sim), latency));
}

static void deliver(struct event *event)
{
	struct icm_lookup *lookup = container_of(event, struct icm_lookup, event);

	lookup->done(lookup);
}

/* Returns the slot that reads this line, otherwise a free slot, otherwise NULL. */
static struct miss_slot *find_slot(struct icm_cache *cache, uint64_t line)
{
	struct miss_slot *unused = NULL;

	for (uint64_t i = 0; i < cache->param.mshrs; i++) {
		struct miss_slot *slot = &cache->slots[i];

		if (!slot->busy)
			unused = unused ? unused : slot;
		else if (slot->line == line && !slot->stale && !slot->writing)
			return slot;
	}
	return unused;
}

/* Reads a line from the second level or over PCIe. */
static void read_line(struct miss_slot *slot)
{
	struct icm_cache *cache = slot->cache;

	if (!cache->second) {
		pcie_read(cache->pcie, &slot->read);
		return;
	}
	slot->lookup = (struct icm_lookup){
		.number = slot->line * cache->param.line_entries,
		.tag = slot->read.tag,
		.done = second_level_done,
	};
	icm_cache_lookup(cache->second, &slot->lookup);
}

static bool join_or_fetch(struct icm_cache *cache, struct icm_lookup *lookup)
{
	uint64_t line = line_of(cache, lookup->number);
	struct miss_slot *slot = find_slot(cache, line);

	if (!slot)
		return false;
	if (slot->busy) {
		cache->count.merges++;
		trace(&cache->block, TRACE_ICM_MERGE, lookup->tag, lookup->number, 0);
		queue_push(&slot->waiting, lookup);
		return true;
	}
	if (cache->fetcher) {
		if (cache->fetcher->under_way == cache->fetcher->limit)
			return false;
		cache->fetcher->under_way++;
	}
	cache->count.misses++;
	gauge_enter(&cache->gauge.mshrs, sim_now(cache->block.sim), 1);
	slot->busy = true;
	slot->since = sim_now(cache->block.sim);
	slot->stale = false;
	slot->line = line;
	slot->reads_left = cache->param.reads - 1;
	queue_push(&slot->waiting, lookup);
	slot->read = (struct pcie_read){
		.memory = memory_none(), /* the contents of the entry are with its owner */
		.address = icm_cache_line_address(cache->kind, &cache->param, line),
		.length = (uint32_t)(cache->param.entry_bytes * cache->param.line_entries),
		.tag = lookup->tag,
		.done = line_arrived,
	};
	trace(&cache->block, TRACE_ICM_MISS, lookup->tag, lookup->number, slot->read.length);
	read_line(slot);
	return true;
}

static struct icm_cache *slot_free(struct miss_slot *slot)
{
	slot->busy = false;
	slot->writing = false;
	if (slot->cache->fetcher)
		slot->cache->fetcher->under_way--;
	gauge_left(&slot->cache->gauge.mshrs, slot->since, sim_now(slot->cache->block.sim), 1);
	return slot->cache;
}

static void written_back(struct pcie_write *write)
{
	restart_all(slot_free(container_of(write, struct miss_slot, write)));
}

static void write_back(struct miss_slot *slot, uint64_t line)
{
	struct icm_cache *cache = slot->cache;

	cache->count.write_backs++;
	slot->writing = true;
	slot->write = (struct pcie_write){
		.memory = memory_none(),
		.address = icm_cache_line_address(cache->kind, &cache->param, line),
		.length = (uint32_t)(cache->param.entry_bytes * cache->param.line_entries),
		.done = written_back,
	};
	pcie_write(cache->pcie, &slot->write);
}

/* Inserts the line. With write_back, writes the line that it replaces to host memory. */
static void fill(struct miss_slot *slot)
{
	struct icm_cache *cache = slot->cache;
	uint64_t evicted;

	cache->count.fills++;
	if (!insert(cache, slot->line, &evicted))
		return;
	cache->count.evictions++;
	if (!cache->param.write_back)
		return;
	if (cache->second && icm_cache_has(cache->second, evicted * cache->param.line_entries))
		return; /* the second level keeps changed entries */
	write_back(slot, evicted);
}

static void line_arrived(struct pcie_read *read)
{
	struct miss_slot *slot = container_of(read, struct miss_slot, read);

	assert(slot->busy && !read->failed);
	if (slot->reads_left) {
		slot->reads_left--;
		pcie_read(slot->cache->pcie, &slot->read);
		return;
	}
	serve(slot);
}

static void second_level_done(struct icm_lookup *lookup)
{
	serve(container_of(lookup, struct miss_slot, lookup));
}

/* The line has arrived. Completes all lookups that wait for it. */
static void serve(struct miss_slot *slot)
{
	struct icm_cache *cache = slot->cache;
	struct icm_lookup *lookup;

	trace(&cache->block, TRACE_ICM_FILL, slot->read.tag, slot->line * cache->param.line_entries,
	      0);
	if (slot->stale)
		cache->count.stale++;
	else
		fill(slot);
	if (!slot->writing)
		slot_free(slot);
	while ((lookup = queue_pop(&slot->waiting)))
		respond(cache, lookup, cache->param.hit_latency);
	restart_all(cache);
}

/* Restarts stalled lookups in order, so that no lookup overtakes an earlier one. Returns true if a
 * lookup was restarted. */
static bool restart_stalled(struct icm_cache *cache)
{
	uint64_t before = cache->stalled_count;
	struct icm_lookup *lookup;

	if (!before)
		return false;
	while ((lookup = cache->stalled.first)) {
		struct icm_lookup *next = lookup->next;
		sim_time latency;

		if (find(cache, lookup->number, &latency)) {
			cache->count.hits++;
			respond(cache, lookup, latency);
		} else if (!join_or_fetch(
				   cache,
				   lookup)) { /* if it does, lookup->next is another queue's */
			break;
		}
		cache->stalled.first = next;
		if (!next)
			cache->stalled.last = &cache->stalled.first;
		cache->stalled_count--;
	}
	gauge_wait(&cache->gauge.mshrs, sim_now(cache->block.sim), cache->stalled.first);
	return cache->stalled_count < before;
}

/* Restarts lookups after a slot became free or a line arrived. Caches that share the fetcher take
 * turns: the cache that restarted last is served last the next time. */
static void restart_all(struct icm_cache *cache)
{
	struct icm_fetcher *fetcher = cache->fetcher;
	struct icm_cache *first;

	if (!fetcher) {
		restart_stalled(cache);
		return;
	}
	first = fetcher->caches;
	cache = first;
	do {
		struct icm_cache *next = cache->next;

		if (restart_stalled(cache))
			fetcher->caches = next;
		cache = next;
	} while (cache != first);
}

void icm_cache_invalidate(struct icm_cache *cache, uint64_t first, uint64_t count)
{
	uint64_t first_line = line_of(cache, first);
	uint64_t lines;

	if (!count)
		return;
	lines = (first + count - 1) / cache->param.line_entries - first_line + 1;
	forget(cache, first_line, lines);
	if (cache->second)
		icm_cache_invalidate(cache->second, first, count);
	for (uint64_t i = 0; i < cache->param.mshrs; i++)
		if (cache->slots[i].line - first_line < lines) /* wraps below first */
			cache->slots[i].stale = true;
}

uint64_t icm_cache_line_address(enum context_kind kind, const struct icm_cache_params *params,
				uint64_t line)
{
	uint64_t stride = 1;

	while (stride < params->entry_bytes * params->line_entries)
		stride *= 2;
	return ((uint64_t)kind << ICM_KIND_SHIFT) + line * stride;
}

#define ROW(...) PARAM_ROW(struct icm_cache_params, __VA_ARGS__)
/* clang-format off */
#define DEFINE_LIST(KIND, name, entries, ways, bytes, misses, write_back, origin)             \
	const struct param icm_cache_##name##_param_list[] = {                            \
		ICM_CACHE_PARAMS(ROW, entries, ways, bytes, misses, write_back, origin) { 0 } \
	};
CONTEXT_KINDS(DEFINE_LIST)

static void check(struct block *block, FILE *out)
{
	const struct icm_cache *cache = container_of(block, struct icm_cache, block);
	const struct icm_cache_counters *count = &cache->count;
	uint64_t reading = 0;

	if (block->gauges != (const struct gauge *)&cache->gauge)
		return; /* the counters belong to a module, so no cache contains this block */
	for (uint64_t i = 0; i < cache->param.mshrs; i++)
		reading += cache->slots[i].busy && !cache->slots[i].writing;
	block_equal(block, out, "lookups = hits + misses + merges + waiting",
		    count->lookups,
		    count->hits + count->misses + count->merges + cache->stalled_count);
	block_equal(block, out, "misses = fills + stale + in flight", count->misses,
		    count->fills + count->stale + reading);
}

/* Checks the lookups with a known response time: all except lookups that wait for a slot or in a
 * slot. */
static void audit(struct block *block, FILE *out)
{
	const struct icm_cache *cache = container_of(block, struct icm_cache, block);
	uint64_t waiting;

	if (block->gauges != (const struct gauge *)&cache->gauge)
		return; /* the counters belong to a module, so no cache contains this block */
	waiting = cache->stalled_count;
	for (uint64_t i = 0; i < cache->param.mshrs; i++)
		if (cache->slots[i].busy)
			for (const struct icm_lookup *lookup = cache->slots[i].waiting.first;
			     lookup; lookup = lookup->next)
				waiting++;
	audit_service(block, out, &cache->gauge.port, cache->count.lookups - waiting,
		      cache->param.interval);
}

static const struct counter icm_counters[] = { ICM_CACHE_COUNTERS(COUNTER_ENTRY) { 0 } };
static const struct trace_point icm_trace_points[] = { ICM_CACHE_TRACE(TRACE_ENTRY) { 0 } };
static const struct gauge_info icm_gauges[] = { ICM_CACHE_GAUGES(GAUGE_ENTRY) { 0 } };

#define DEFINE_TYPE(KIND, kind_name, ...)               \
	[CONTEXT_##KIND] = {                            \
		.name = "icm_" #kind_name,              \
		.params = icm_cache_##kind_name##_param_list, \
		.counters = icm_counters,               \
		.trace_points = icm_trace_points,       \
		.gauges = icm_gauges,                   \
		.check = check,                         \
		.audit = audit,                         \
	},
static const struct block_type icm_types[CONTEXT_KIND_COUNT] = { CONTEXT_KINDS(DEFINE_TYPE) };
/* clang-format on */

void icm_cache_block_init(struct block *block, struct sim *sim, const char *name,
			  enum context_kind kind, const struct icm_cache_params *params,
			  const struct icm_cache_counters *count, struct icm_cache_gauges *gauge)
{
	block_init(block, sim, &icm_types[kind], name, params, (const uint64_t *)count);
	block_gauges(block, (struct gauge *)gauge);
	gauge->port.capacity = 1;
	gauge->mshrs.capacity = params->mshrs;
}

static void *create_tags(void *argument)
{
	struct icm_cache *cache = argument;
	const struct contexts_setup setup = {
		.name = cache->block.name,
		.kind = cache->kind,
		.params = &cache->param,
		.random = &cache->random,
	};

	return cache->tags->create(&setup);
}

static void take_tags(struct icm_cache *cache, const struct param_text *module)
{
	cache->tags = module_host_table(MODULE_CONTEXTS, sizeof(*cache->tags), cache->block.name,
					module, &context_tags);
	module_host_fill(&cache->host, &cache->block, !*module->text, create_tags, cache,
			 cache->tags->destroy, cache->tags->trace);
}

/* Creates the second level. It has the same kind of entries, and more of them. */
static struct icm_cache *create_second(const struct icm_cache *first, const char *name,
				       struct icm_fetcher *fetcher, const struct param_text *module)
{
	struct icm_cache_params params = first->param;
	char second_name[NAME_BYTES];

	snprintf(second_name, sizeof(second_name), "%s.second", name);
	params.entries = params.second_entries;
	params.hit_latency = params.second_latency;
	params.second_entries = 0;
	return icm_cache_create(first->block.sim, second_name, first->kind, &params, first->pcie,
				fetcher, module);
}

struct icm_cache *icm_cache_create(struct sim *sim, const char *name, enum context_kind kind,
				   const struct icm_cache_params *params, struct pcie *pcie,
				   struct icm_fetcher *fetcher, const struct param_text *module)
{
	struct icm_cache *cache =
		calloc(1, sizeof(*cache) + params->mshrs * sizeof(cache->slots[0]));
	static const struct param_text none;

	assert(cache && params->mshrs && params->line_entries && params->entry_bytes);
	cache->param = *params;
	cache->pcie = pcie;
	icm_cache_block_init(&cache->block, sim, name, kind, &cache->param, &cache->count,
			     &cache->gauge);
	random_init(&cache->random, &cache->block, "replacement");
	cache->kind = kind;
	take_tags(cache, module ? module : &none);
	if (params->second_entries) {
		cache->second = create_second(cache, name, fetcher, module);
		fetcher = NULL; /* the second level reads over PCIe */
	}
	cache->fetcher = fetcher;
	if (fetcher) {
		cache->next = fetcher->caches ? fetcher->caches->next : cache;
		if (fetcher->caches)
			fetcher->caches->next = cache;
		fetcher->caches = cache;
	}
	queue_init(&cache->stalled);
	for (uint64_t i = 0; i < params->mshrs; i++) {
		cache->slots[i].cache = cache;
		queue_init(&cache->slots[i].waiting);
	}
	return cache;
}

void icm_cache_destroy(struct icm_cache *cache)
{
	if (!cache)
		return;
	icm_cache_destroy(cache->second);
	module_host_clear(&cache->host);
	block_fini(&cache->block);
	free(cache);
}

const struct icm_cache_counters *icm_cache_counters(const struct icm_cache *cache)
{
	return &cache->count;
}
