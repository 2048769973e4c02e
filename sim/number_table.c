/* SPDX-License-Identifier: Apache-2.0 */
/* number_table: see number_table.h. */
#include "sim/number_table.h"

#include <assert.h>
#include <stdlib.h>

void number_table_init(struct number_table *table, uint32_t first, uint32_t count_max)
{
	assert(first);
	*table = (struct number_table){.first = first, .limit = count_max};
	table->objects = calloc(count_max, sizeof(*table->objects));
	assert(table->objects);
}

void number_table_fini(struct number_table *table)
{
	assert(table->count == 0);
	free(table->objects);
}

uint32_t number_table_add(struct number_table *table, void *object)
{
	if (table->count == table->limit)
		return 0;
	while (table->objects[table->next])
		table->next = (table->next + 1) % table->limit;
	table->objects[table->next] = object;
	table->count++;

	uint32_t number = table->first + table->next;

	table->next = (table->next + 1) % table->limit;
	return number;
}

void number_table_remove(struct number_table *table, uint32_t number)
{
	assert(number_table_find(table, number));
	table->objects[number - table->first] = NULL;
	table->count--;
}

void *number_table_next(const struct number_table *table, uint32_t *at)
{
	while (*at < table->limit && table->count)
		if (table->objects[(*at)++])
			return table->objects[*at - 1];
	return NULL;
}
