/* SPDX-License-Identifier: Apache-2.0 */
/*
 * example: replaces the oldest entry of a full set of a context cache.
 * It is a start: replace choose(), which chooses the entry that a new one replaces. Lines are what
 * one read over PCIe fetches. The interface is hca/context/context_module.h.
 *
 *     hcasim plugin build example.c
 *     hcasim run FILE --set hosts.hca.contexts.module=./example.so
 */
#include <stdlib.h>

#include "hcasim/modules.h"

struct way {
	uint64_t line;
	uint64_t inserted; /* number of the insertion; 0: empty */
};

/* One cache: requester, responder, cq, srq or reads has an instance each. */
struct example {
	uint64_t sets, ways, insertions;
	struct way each[]; /* [sets][ways] */
};

static struct way *set_of(struct example *example, uint64_t line)
{
	return &example->each[line % example->sets * example->ways];
}

static struct way *way_of(struct example *example, uint64_t line)
{
	struct way *set = set_of(example, line);

	for (uint64_t i = 0; i < example->ways; i++)
		if (set[i].inserted && set[i].line == line)
			return &set[i];
	return NULL;
}

/* Returns the way of a set that a new line takes: an empty one, or the oldest. */
static struct way *choose(struct example *example, struct way *set)
{
	struct way *oldest = set;

	for (uint64_t i = 1; i < example->ways; i++)
		if (set[i].inserted < oldest->inserted)
			oldest = &set[i];
	return oldest;
}

/* Returns true for a hit. A module may also change *latency, the time of this hit. */
static bool find(void *module, uint64_t line, sim_time now, sim_time *latency)
{
	(void)now, (void)latency;
	return way_of(module, line);
}

static bool insert(void *module, uint64_t line, sim_time now, uint64_t *evicted)
{
	struct example *example = module;
	struct way *way = choose(example, set_of(example, line));
	bool evicts = way->inserted;

	(void)now;
	*evicted = way->line;
	*way = (struct way){line, ++example->insertions};
	return evicts;
}

/* Removes lines of queue pairs that are destroyed. Returns how many there were. */
static uint64_t forget(void *module, uint64_t first, uint64_t count)
{
	struct example *example = module;
	uint64_t removed = 0;

	for (uint64_t i = 0; i < example->sets * example->ways; i++) {
		struct way *way = &example->each[i];

		if (!way->inserted || way->line < first || way->line - first >= count)
			continue;
		way->inserted = 0;
		removed++;
	}
	return removed;
}

static void *create(const struct contexts_setup *setup)
{
	const struct icm_cache_params *params = setup->params;
	struct example *example =
		calloc(1, sizeof(*example) + params->entries * sizeof(struct way));

	if (!example)
		abort();
	example->ways = params->ways;
	example->sets = params->entries / params->ways;
	return example;
}

const struct contexts_module hca_contexts_module = {
	.head = {MODULE_VERSION_CONTEXTS, sizeof(struct contexts_module), "example",
		 "first in, first out"},
	.create = create,
	.destroy = free,
	.find = find,
	.insert = insert,
	.remove = forget,
};
