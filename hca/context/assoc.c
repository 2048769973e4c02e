/* SPDX-License-Identifier: Apache-2.0 */
/* assoc: see assoc.h. */
#include "hca/context/assoc.h"

#include <assert.h>
#include <stdlib.h>

#include "sim/random.h"

struct entry {
	uint64_t key;
	uint64_t last_use; /* value of assoc->uses at the last touch or insert; 0: empty */
};

struct assoc {
	uint64_t sets;
	uint64_t ways;
	uint64_t uses;
	struct random *random;
	struct entry entries[]; /* [sets][ways] */
};

static struct entry *set_of(struct assoc *assoc, uint64_t key)
{
	return &assoc->entries[key % assoc->sets * assoc->ways];
}

bool assoc_touch(struct assoc *assoc, uint64_t key)
{
	struct entry *set = set_of(assoc, key);

	for (struct entry *entry = set; entry < set + assoc->ways; entry++) {
		if (entry->last_use && entry->key == key) {
			entry->last_use = ++assoc->uses;
			return true;
		}
	}
	return false;
}

bool assoc_has(const struct assoc *assoc, uint64_t key)
{
	const struct entry *set = &assoc->entries[key % assoc->sets * assoc->ways];

	for (const struct entry *entry = set; entry < set + assoc->ways; entry++)
		if (entry->last_use && entry->key == key)
			return true;
	return false;
}

bool assoc_insert(struct assoc *assoc, uint64_t key, uint64_t *evicted)
{
	struct entry *set = set_of(assoc, key);
	struct entry *victim = set;
	bool evicts;

	for (struct entry *entry = set; entry < set + assoc->ways; entry++) {
		assert(!entry->last_use || entry->key != key);
		if (entry->last_use < victim->last_use)
			victim = entry;
	}
	evicts = victim->last_use != 0;
	if (evicts && assoc->random)
		victim = set + random_u64(assoc->random) % assoc->ways;
	if (evicted)
		*evicted = victim->key;
	*victim = (struct entry){key, ++assoc->uses};
	return evicts;
}

static uint64_t remove_one(struct assoc *assoc, uint64_t key)
{
	struct entry *set = set_of(assoc, key);

	for (struct entry *entry = set; entry < set + assoc->ways; entry++) {
		if (entry->last_use && entry->key == key) {
			entry->last_use = 0;
			return 1;
		}
	}
	return 0;
}

uint64_t assoc_remove(struct assoc *assoc, uint64_t first, uint64_t count)
{
	uint64_t removed = 0;

	if (count <= assoc->sets) {
		for (uint64_t i = 0; i < count; i++)
			removed += remove_one(assoc, first + i);
		return removed;
	}
	for (uint64_t i = 0; i < assoc->sets * assoc->ways; i++) {
		struct entry *entry = &assoc->entries[i];

		if (entry->last_use && entry->key - first < count) { /* wraps below first */
			entry->last_use = 0;
			removed++;
		}
	}
	return removed;
}

struct assoc *assoc_create(uint64_t entries, uint64_t ways, struct random *random)
{
	struct assoc *assoc = calloc(1, sizeof(*assoc) + entries * sizeof(assoc->entries[0]));

	assert(assoc && ways && entries && entries % ways == 0);
	assoc->sets = entries / ways;
	assoc->ways = ways;
	assoc->random = random;
	return assoc;
}

void assoc_destroy(struct assoc *assoc)
{
	free(assoc);
}
