/* SPDX-License-Identifier: Apache-2.0 */
/* lines: see lines.h. */
#include "hca/host/lines.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void lines_init(struct lines *lines, uint64_t entries, uint64_t ways)
{
	assert(ways && entries >= ways);
	*lines = (struct lines){.sets = entries / ways, .ways = ways};
	entries = lines->sets * ways;
	lines->keys = calloc(entries, sizeof(lines->keys[0]));
	lines->used = calloc(entries, sizeof(lines->used[0]));
	lines->changed = calloc(entries, sizeof(lines->changed[0]));
	assert(lines->keys && lines->used && lines->changed);
}

void lines_fini(struct lines *lines)
{
	free(lines->keys);
	free(lines->used);
	free(lines->changed);
}

bool lines_touch(struct lines *lines, uint64_t number, bool change)
{
	uint64_t first = number % lines->sets * lines->ways;

	for (uint64_t i = first; i < first + lines->ways; i++) {
		if (lines->keys[i] != number + 1)
			continue;
		lines->used[i] = ++lines->uses;
		lines->changed[i] |= change;
		lines->place = i;
		return true;
	}
	return false;
}

int lines_insert(struct lines *lines, uint64_t number, uint64_t ways, bool change)
{
	uint64_t first = number % lines->sets * lines->ways, victim = first;
	int made_room = LINES_NONE;

	assert(ways && ways <= lines->ways);
	for (uint64_t i = first; i < first + ways && lines->keys[victim]; i++)
		if (!lines->keys[i] || lines->used[i] < lines->used[victim])
			victim = i;
	if (lines->keys[victim])
		made_room = lines->changed[victim] ? LINES_CHANGED : LINES_CLEAN;
	lines->keys[victim] = number + 1;
	lines->used[victim] = ++lines->uses;
	lines->changed[victim] = change;
	lines->place = victim;
	return made_room;
}

bool lines_drop(struct lines *lines, uint64_t number)
{
	bool there = lines_touch(lines, number, false);

	if (there)
		lines->keys[lines->place] = 0;
	return there;
}

void lines_clear(struct lines *lines)
{
	memset(lines->keys, 0, lines->sets * lines->ways * sizeof(lines->keys[0]));
}
