/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number_table: objects by number (QPN, CQN, SRQN). Numbers are given in order and come round, so
 * that one that was given back is not given again at once.
 */
#ifndef SIM_NUMBER_TABLE_H
#define SIM_NUMBER_TABLE_H

#include <stdint.h>

struct number_table {
	void **objects; /* [number - first] */
	uint32_t first, limit, next, count;
};

/* Numbers first .. first + count_max - 1; first > 0. At the end none is taken. */
void number_table_init(struct number_table *table, uint32_t first, uint32_t count_max);
void number_table_fini(struct number_table *table);

/* 0: all numbers are taken. */
uint32_t number_table_add(struct number_table *table, void *object);
void number_table_remove(struct number_table *table, uint32_t number);

static inline void *number_table_find(const struct number_table *table, uint32_t number)
{
	return number - table->first < table->limit ? table->objects[number - table->first] : 0;
}

/* In order of their numbers; start with *at == 0; NULL: no more. */
void *number_table_next(const struct number_table *table, uint32_t *at);

#endif
