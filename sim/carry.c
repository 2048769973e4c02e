/* SPDX-License-Identifier: Apache-2.0 */
/* carry: see carry.h. */
#include "sim/carry.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void make_room(struct carry *carry, size_t count)
{
	if (count <= carry->room)
		return;
	carry->room = 2 * count;
	carry->bytes = realloc(carry->bytes, carry->room);
	assert(carry->bytes);
}

void carry_raw(struct carry *carry, void *object, size_t bytes)
{
	if (carry->reads) {
		assert(bytes <= carry->count - carry->place);
		memcpy(object, carry->bytes + carry->place, bytes);
		carry->place += bytes;
		return;
	}
	make_room(carry, carry->count + bytes);
	memcpy(carry->bytes + carry->count, object, bytes);
	carry->count += bytes;
}

void carry_words(struct carry *carry, uint64_t *words, unsigned count)
{
	uint64_t used = 0;

	assert(count <= 64);
	for (unsigned i = 0; i < count && !carry->reads; i++)
		used |= (uint64_t)(words[i] != 0) << i;
	CARRY(carry, used);
	for (unsigned i = 0; i < count; i++) {
		if (used >> i & 1)
			CARRY(carry, words[i]);
		else
			words[i] = 0;
	}
}

void carry_write(struct carry *carry)
{
	carry->count = carry->place = 0;
	carry->reads = false;
}

void carry_read(struct carry *carry, size_t count)
{
	make_room(carry, count);
	carry->count = count;
	carry->place = 0;
	carry->reads = true;
}

void carry_fini(struct carry *carry)
{
	free(carry->bytes);
	*carry = (struct carry){0};
}
