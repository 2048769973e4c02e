/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series: the contents of series.csv: values of a run's ports over time.
 */
#ifndef ANALYSIS_SERIES_H
#define ANALYSIS_SERIES_H

#include <stdbool.h>
#include <stddef.h>

/* clang-format off */
#define SERIES_VALUES(X) /* columns of series.csv behind time_us and port */ \
	X(queue_bytes) X(input_bytes) X(rate_gbps) X(paused_us) X(pauses_received)
#define SERIES_ENUM(name) SERIES_##name,
enum series_value { SERIES_VALUES(SERIES_ENUM) SERIES_VALUE_COUNT };
/* clang-format on */

struct series {
	char **ports;
	size_t port_count;
	double *times; /* microseconds: the ends of intervals */
	size_t time_count;
	double *values[SERIES_VALUE_COUNT]; /* time by time, port by port */
};

/* Returns NULL and sets *error on failure. series_free() frees the result. */
struct series *series_read(const char *file, char *error, size_t error_bytes);
void series_free(struct series *series);

double series_at(const struct series *series, enum series_value value, size_t time, size_t port);
double series_most(const struct series *series, enum series_value value, size_t port);
double series_mean(const struct series *series, enum series_value value, size_t port);

/* Returns the ports with the largest values, or means, largest first. The caller frees the list. */
size_t *series_rank(const struct series *series, enum series_value value, bool by_mean);

#endif
