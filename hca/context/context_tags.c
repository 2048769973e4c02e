/* SPDX-License-Identifier: Apache-2.0 */
/* context_tags: the built-in tags of a context cache: set-associative, and a full set replaces the
 * least recently used line, or a random one. */
#include <assert.h>
#include <stdlib.h>

#include "hca/context/context_module.h"
#include "hca/host/tag_array.h"

static bool tags_find(void *module, uint64_t line, sim_time now, sim_time *latency)
{
	(void)now, (void)latency;
	return tag_array_touch(module, line);
}

static bool tags_insert(void *module, uint64_t line, sim_time now, uint64_t *evicted)
{
	struct tag_array *tags = module;

	(void)now;
	return tag_array_insert(tags, line, tags->ways, false, evicted) != TAG_NONE;
}

static uint64_t tags_remove(void *module, uint64_t first, uint64_t count)
{
	return tag_array_remove(module, first, count);
}

static void *tags_create(const struct contexts_setup *setup)
{
	const struct icm_cache_params *params = setup->params;
	bool random = params->replacement == ICM_REPLACE_RANDOM;
	struct tag_array *tags = calloc(1, sizeof(*tags));

	assert(tags && params->entries % params->ways == 0);
	tag_array_init(tags, params->entries, params->ways, random ? setup->random : NULL);
	return tags;
}

static void tags_destroy(void *module)
{
	tag_array_fini(module);
	free(module);
}

const struct contexts_module context_tags = {
	.head = {MODULE_VERSION_CONTEXTS, sizeof(struct contexts_module), "builtin_contexts",
		 "the built-in tags of context caches"},
	.create = tags_create,
	.destroy = tags_destroy,
	.find = tags_find,
	.insert = tags_insert,
	.remove = tags_remove,
};
