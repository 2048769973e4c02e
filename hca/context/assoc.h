/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assoc: a set-associative set of numbers that forgets one when a set is full: the least recently used, or any. Plain
 * data, no time: all caches of the adapter keep their tags in one.
 */
#ifndef HCA_CONTEXT_ASSOC_H
#define HCA_CONTEXT_ASSOC_H

#include <stdbool.h>
#include <stdint.h>

struct assoc;
struct random;

/* entries: a multiple of ways. random: draws the victim; NULL: the least recently used goes. */
struct assoc *assoc_create(uint64_t entries, uint64_t ways, struct random *random);
void assoc_destroy(struct assoc *assoc);

bool assoc_touch(struct assoc *assoc, uint64_t key); /* is it there? It counts as used. */

bool assoc_has(const struct assoc *assoc, uint64_t key); /* is it there? That is no use. */

/* It must not be there. true: another one went, whose key is *evicted unless that is NULL. */
bool assoc_insert(struct assoc *assoc, uint64_t key, uint64_t *evicted);

/* Removes keys [first, first + count); how many were there. */
uint64_t assoc_remove(struct assoc *assoc, uint64_t first, uint64_t count);

#endif
