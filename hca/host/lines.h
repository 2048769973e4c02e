/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines: a set-associative set of numbers (cache lines, pages) with least-recently-used replacement inside a range of the
 * ways, so that some who fill it can be held to a few ways of each set. Plain data, no time.
 */
#ifndef HCA_HOST_LINES_H
#define HCA_HOST_LINES_H

#include <stdbool.h>
#include <stdint.h>

struct lines { /* embedded in its owner */
	uint64_t sets, ways;
	uint64_t *keys;   /* [sets * ways]: number + 1; 0: none */
	uint64_t *used;   /* [sets * ways]: when last, by `uses` */
	uint8_t *changed; /* [sets * ways]: differs from memory */
	uint64_t uses;
	uint64_t place; /* out: of the last one found or put in */
};

enum { LINES_NONE = 0, LINES_CLEAN = 1, LINES_CHANGED = 2 }; /* what had to make room */

void lines_init(struct lines *lines, uint64_t entries, uint64_t ways); /* entries >= ways >= 1 */
void lines_fini(struct lines *lines);

/* Is it there? It counts as used, and as changed if `change`. */
bool lines_touch(struct lines *lines, uint64_t number, bool change);

/* It must not be there. It takes a place in ways [0, ways): what had to make room. */
int lines_insert(struct lines *lines, uint64_t number, uint64_t ways, bool change);

/* Was it there? It is no more. */
bool lines_drop(struct lines *lines, uint64_t number);

/* None is there any more; changes are lost. */
void lines_clear(struct lines *lines);

#endif
