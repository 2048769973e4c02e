/* SPDX-License-Identifier: Apache-2.0 */
/* sort_values: sorts numbers with many duplicates, such as the times of flows of a repetitive
 * workload. */
#ifndef TRAFFIC_WORKLOAD_SORT_VALUES_H
#define TRAFFIC_WORKLOAD_SORT_VALUES_H

#include <stddef.h>

/* Sorts numbers in ascending order. None is NaN. */
void sort_values(double *values, size_t count);

#endif
