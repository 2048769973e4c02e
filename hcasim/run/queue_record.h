/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_record: the queues of ports by priority (record.queues): their lengths over time, and their
 * means, standard deviations and quantiles.
 *
 *     ports --queue_record_sample()--> lines --------> queue_series.csv
 *                           `--------> samples ------> queues.csv
 */
#ifndef HCASIM_RUN_QUEUE_RECORD_H
#define HCASIM_RUN_QUEUE_RECORD_H

#include <stdio.h>

#include "fabric/port.h"

/* X(column, meaning) */
#define QUEUE_SERIES_COLUMNS(X)                                \
	X(time_us, "Time of the sample.")                      \
	X(port, "Name of the port.")                           \
	X(priority, "Priority of Ethernet, VL of InfiniBand.") \
	X(queue_bytes, "Bytes that wait at the egress.")       \
	X(input_bytes, "Bytes stored at the ingress.")         \
	X(paused_us, "Time since the previous sample for which it was paused.")

#define QUEUE_COLUMNS(X)                                                       \
	X(port, "Name of the port.")                                           \
	X(priority, "Priority of Ethernet, VL of InfiniBand. all: their sum.") \
	X(samples, "Number of samples while the run was measured.")            \
	X(mean_bytes, "Mean of the bytes that wait at the egress.")            \
	X(sd_bytes, "Standard deviation of the samples.")                      \
	X(p50_bytes, "Median.")                                                \
	X(p90_bytes, "90th percentile.")                                       \
	X(p95_bytes, "95th percentile.")                                       \
	X(p99_bytes, "99th percentile.")                                       \
	X(p999_bytes, "99.9th percentile.")                                    \
	X(max_bytes, "Largest sample.")

struct queue_record;

/* Returns NULL if there is no room for a temporary file. */
struct queue_record *queue_record_create(void);
void queue_record_destroy(struct queue_record *record); /* NULL: nothing */

/* Adds a port, before the first sample. */
void queue_record_add(struct queue_record *record, const struct port *port);

/* Adds a line for each priority of each port at which something waits, is stored or was paused.
 * `measured`: the statistics include the sample. */
void queue_record_sample(struct queue_record *record, sim_time now, bool measured);

/* Copies all lines. Returns false on failure, with errno. */
bool queue_record_write_series(const struct queue_record *record, FILE *out);

/* Writes a line for all priorities of each port, and one for each priority that was used. */
void queue_record_write_statistics(struct queue_record *record, FILE *out);

#endif
