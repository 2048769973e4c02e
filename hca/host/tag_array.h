/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tag_array: the tags of a set-associative cache: the numbers (of cache lines, pages or entries) in
 * the cache, and the number that a new one replaces. A full set replaces the least recently used
 * number, or a random one. It is plain data without time.
 */
#ifndef HCA_HOST_TAG_ARRAY_H
#define HCA_HOST_TAG_ARRAY_H

#include <stdbool.h>
#include <stdint.h>

struct random;

struct tag {
	uint64_t number;
	uint64_t last_use; /* value of tag_array.uses at the last touch or insert; 0: empty */
};

struct tag_array { /* embedded in its owner */
	uint64_t sets, ways;
	struct tag *tags; /* [sets][ways] */
	bool *changed;    /* [sets][ways]: differs from memory */
	uint64_t uses;
	struct random *random; /* draws the victim; NULL: the least recently used */
	uint64_t place;        /* out: index of the number last found or inserted */
};

/* Kind of the evicted entry. */
enum tag_evicted { TAG_NONE, TAG_CLEAN, TAG_CHANGED };

/* Creates an empty array of entries / ways sets. entries >= ways >= 1. `random` selects the entry
 * that a full set replaces, and must outlive the array. NULL stands for the least recently used
 * number. */
void tag_array_init(struct tag_array *array, uint64_t entries, uint64_t ways,
		    struct random *random);
void tag_array_fini(struct tag_array *array);

/* Returns true if the number is there. It counts as used then. */
bool tag_array_touch(struct tag_array *array, uint64_t number);

/* Does the same, and marks the number as changed. */
bool tag_array_change(struct tag_array *array, uint64_t number);

/* Returns true if the number is there, without counting a use. */
bool tag_array_has(const struct tag_array *array, uint64_t number);

/* Inserts a number that is not there, into the first `ways` ways of its set. Returns the kind of
 * the evicted entry, and writes its number to *evicted unless that is NULL. */
enum tag_evicted tag_array_insert(struct tag_array *array, uint64_t number, uint64_t ways,
				  bool changed, uint64_t *evicted);

/* Removes the numbers [first, first + count). Returns how many were there. */
uint64_t tag_array_remove(struct tag_array *array, uint64_t first, uint64_t count);

/* Removes all. */
void tag_array_clear(struct tag_array *array);

#endif
