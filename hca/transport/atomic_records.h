/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atomic_records: the results of the last atomics that a responder executed. A duplicate of an
 * atomic gets the recorded result, and is not executed again. IBTA vol. 1, 9.7.5.1.5. Few queue
 * pairs execute atomics, so the records take memory from the first one on.
 */
#ifndef HCA_TRANSPORT_ATOMIC_RECORDS_H
#define HCA_TRANSPORT_ATOMIC_RECORDS_H

#include <stdint.h>

struct atomic_records;

/* Records an atomic that begins. *records is NULL before the first one. */
void atomic_records_add(struct atomic_records **records, uint32_t psn);

/* Sets the original value that the atomic with that PSN found. `records` may be NULL. */
void atomic_records_finish(struct atomic_records *records, uint32_t psn, uint64_t original);

/* Returns the original value that the atomic with that PSN found, or NULL if it has not ended or is
 * not recorded. `records` may be NULL. */
const uint64_t *atomic_records_find(const struct atomic_records *records, uint32_t psn);

/* Forgets all, and frees the memory. */
void atomic_records_clear(struct atomic_records **records);

#endif
