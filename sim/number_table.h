/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number_table: maps numbers (QPN, CQN, SRQN) to objects. Numbers are allocated in ascending
 * order and wrap around, so that a released number is not reused at once.
 */
#ifndef SIM_NUMBER_TABLE_H
#define SIM_NUMBER_TABLE_H

#include <stdint.h>

struct number_table {
	void **objects; /* [number - first] */
	uint32_t first, limit, next, count;
};

/* Initialises a table of the numbers first .. first + count_max - 1, where first > 0.
 * number_table_fini() requires that no number is in use. */
void number_table_init(struct number_table *table, uint32_t first, uint32_t count_max);
void number_table_fini(struct number_table *table);

/* Adds an object. Returns its number, or 0 if all numbers are in use. */
uint32_t number_table_add(struct number_table *table, void *object);
void number_table_remove(struct number_table *table, uint32_t number);

static inline void *number_table_find(const struct number_table *table, uint32_t number)
{
	return number - table->first < table->limit ? table->objects[number - table->first] : 0;
}

/* Iterates over the objects in the order of their numbers. Start with *at == 0. Returns NULL
 * after the last object. */
void *number_table_next(const struct number_table *table, uint32_t *at);

#endif
