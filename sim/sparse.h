/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sparse: large tables that a run uses only in part. They start as zeros, and pages that are never
 * written take no memory. calloc() does not guarantee the latter. With MALLOC_PERTURB_, which tests
 * set, it writes all pages.
 */
#ifndef SIM_SPARSE_H
#define SIM_SPARSE_H

#include <stddef.h>

/* Returns a zeroed, page-aligned table. The caller releases it with sparse_destroy(). */
void *sparse_create(size_t bytes);
void sparse_destroy(void *table, size_t bytes); /* `bytes` as in sparse_create() */

#endif
