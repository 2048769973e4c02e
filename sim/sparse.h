/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sparse: large tables of which a run touches little. They begin as zeros, and take no memory of the machine where nobody has
 * written; calloc() keeps the latter only as long as malloc is not told to fill what it gives (MALLOC_PERTURB_), as in tests.
 */
#ifndef SIM_SPARSE_H
#define SIM_SPARSE_H

#include <stddef.h>

/* Page-aligned. */
void *sparse_create(size_t bytes);
void sparse_destroy(void *table, size_t bytes); /* as many as in sparse_create() */

#endif
