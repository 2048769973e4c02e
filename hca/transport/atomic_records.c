/* SPDX-License-Identifier: Apache-2.0 */
/* atomic_records: see atomic_records.h. */
#include "hca/transport/atomic_records.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#define RECORDS 16

struct atomic_record {
	bool valid, ready;
	uint32_t psn;
	uint64_t original;
};

struct atomic_records {
	uint32_t next;
	struct atomic_record each[RECORDS];
};

void atomic_records_add(struct atomic_records **records, uint32_t psn)
{
	if (!*records)
		*records = calloc(1, sizeof(**records));
	assert(*records);
	(*records)->each[(*records)->next++ % RECORDS] =
		(struct atomic_record){.valid = true, .psn = psn};
}

void atomic_records_finish(struct atomic_records *records, uint32_t psn, uint64_t original)
{
	for (uint32_t i = 0; records && i < RECORDS; i++) {
		struct atomic_record *record = &records->each[i];

		if (record->valid && record->psn == psn) {
			record->ready = true;
			record->original = original;
		}
	}
}

const uint64_t *atomic_records_find(const struct atomic_records *records, uint32_t psn)
{
	for (uint32_t i = 0; records && i < RECORDS; i++) {
		const struct atomic_record *record = &records->each[i];

		if (record->valid && record->ready && record->psn == psn)
			return &record->original;
	}
	return NULL;
}

void atomic_records_clear(struct atomic_records **records)
{
	free(*records);
	*records = NULL;
}
