/* SPDX-License-Identifier: Apache-2.0 */
/* tag_array: see tag_array.h. */
#include "hca/host/tag_array.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/random.h"

void tag_array_init(struct tag_array *array, uint64_t entries, uint64_t ways, struct random *random)
{
	assert(ways && entries >= ways);
	*array = (struct tag_array){.sets = entries / ways, .ways = ways, .random = random};
	entries = array->sets * ways;
	array->tags = calloc(entries, sizeof(array->tags[0]));
	array->changed = calloc(entries, sizeof(array->changed[0]));
	assert(array->tags && array->changed);
}

void tag_array_fini(struct tag_array *array)
{
	free(array->tags);
	free(array->changed);
}

/* A division would take most of the time of a lookup. */
static inline struct tag *set_of(const struct tag_array *array, uint64_t number)
{
	uint64_t sets = array->sets, below = sets - 1;

	if (number >= sets)
		number = sets & below ? number % sets : number & below;
	return &array->tags[number * array->ways];
}

/* Returns the number's tag, or NULL if the array does not hold it. */
static inline struct tag *find(const struct tag_array *array, uint64_t number)
{
	struct tag *set = set_of(array, number);

	for (struct tag *tag = set; tag < set + array->ways; tag++)
		if (tag->number == number && tag->last_use)
			return tag;
	return NULL;
}

bool tag_array_touch(struct tag_array *array, uint64_t number)
{
	struct tag *tag = find(array, number);

	if (!tag)
		return false;
	tag->last_use = ++array->uses;
	array->place = (uint64_t)(tag - array->tags);
	return true;
}

bool tag_array_change(struct tag_array *array, uint64_t number)
{
	bool found = tag_array_touch(array, number);

	if (found)
		array->changed[array->place] = true;
	return found;
}

bool tag_array_has(const struct tag_array *array, uint64_t number)
{
	return find(array, number);
}

enum tag_evicted tag_array_insert(struct tag_array *array, uint64_t number, uint64_t ways,
				  bool changed, uint64_t *evicted)
{
	struct tag *set = set_of(array, number), *victim = set;
	enum tag_evicted room = TAG_NONE;

	assert(ways && ways <= array->ways && !find(array, number));
	for (struct tag *tag = set; tag < set + ways && victim->last_use; tag++)
		if (tag->last_use < victim->last_use)
			victim = tag;
	if (victim->last_use && array->random)
		victim = set + random_u64(array->random) % ways;
	array->place = (uint64_t)(victim - array->tags);
	if (victim->last_use)
		room = array->changed[array->place] ? TAG_CHANGED : TAG_CLEAN;
	if (evicted)
		*evicted = victim->number;
	*victim = (struct tag){number, ++array->uses};
	array->changed[array->place] = changed;
	return room;
}

static uint64_t remove_one(struct tag_array *array, uint64_t number)
{
	struct tag *tag = find(array, number);

	if (tag)
		tag->last_use = 0;
	return tag != NULL;
}

uint64_t tag_array_remove(struct tag_array *array, uint64_t first, uint64_t count)
{
	uint64_t removed = 0;

	if (count <= array->sets) {
		for (uint64_t i = 0; i < count; i++)
			removed += remove_one(array, first + i);
		return removed;
	}
	for (uint64_t i = 0; i < array->sets * array->ways; i++) {
		struct tag *tag = &array->tags[i];

		if (tag->last_use && tag->number - first < count) { /* wraps below first */
			tag->last_use = 0;
			removed++;
		}
	}
	return removed;
}

void tag_array_clear(struct tag_array *array)
{
	memset(array->tags, 0, array->sets * array->ways * sizeof(array->tags[0]));
}
