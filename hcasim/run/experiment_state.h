/* SPDX-License-Identifier: Apache-2.0 */
/*
 * experiment_state: declarations shared by the files of an experiment. No other file includes it.
 */
#ifndef HCASIM_RUN_EXPERIMENT_STATE_H
#define HCASIM_RUN_EXPERIMENT_STATE_H

#include <gsl/gsl_rstat.h>

#include "fabric/deadlock.h"
#include "hcasim/run/experiment.h"
#include "hcasim/run/fast_forward.h"
#include "hcasim/run/flow_series.h"
#include "hcasim/run/ideal_routes.h"
#include "hcasim/run/queue_record.h"
#include "hcasim/run/wire_check.h"
#include "traffic/workload/flow_driver.h"

struct port_sample {
	struct port *port;
	uint64_t bytes_out, pauses; /* at the last sample */
	sim_time paused;
	struct wire_excess excess; /* of the rows of series.csv */
	/* value at the start of the measurement; at its end, the difference */
	uint64_t bytes_measured;
	sim_time paused_measured, underused;
	uint64_t queue_max, count;
	/* sums over the samples of the measurement */
	double queue_sum, queue_squares, packets_sum, leaving_sum;
	gsl_rstat_quantile_workspace *queue_p90, *queue_p95, *queue_p99;
};

struct experiment {
	const struct build *build;
	const struct scenario *scenario;
	struct workload *workload;
	struct backend *backend;
	struct flow_driver *driver;
	struct ideal_routes *routes;
	const struct flow_record *records; /* records of the flow driver */
	/* [flows] The bytes of the flows' queue pairs at the start of the measurement. At its end,
	 * the difference. */
	uint64_t *arrived, *acked;
	uint32_t flows;      /* without barriers */
	sim_time paused_all; /* sum over all ports, treated in the same way */
	/* histogram in KB: samples of all recorded ports during the measurement */
	uint64_t *queue_counts;
	uint64_t queue_rooms, queue_samples;
	/* Largest number of paused hosts; samples with a paused host; samples with many paused
	 * hosts. */
	uint64_t hosts_paused_max, samples_paused, samples_wide;
	struct port_sample *samples;
	uint32_t sample_count;
	FILE *series;                    /* NULL: no series */
	struct flow_series *flow_series; /* NULL: no flows are recorded */
	struct queue_record *queues;     /* NULL: not by priority */
	struct fast_forward *forward;    /* NULL: nothing is skipped */
	sim_time sampled_at, measured_from, measured_until, ended;
	sim_time counted_until; /* when bytes_measured was taken, after the last flow */
	sim_time worked;        /* with a flow under way */
	sim_time slice_end;     /* of the current slice; 0: none */
	sim_time looked,
		/* times of the last check for deadlocks and of the last progress report */
		reported;
	bool begun, over;
	bool measuring, measured; /* has begun, has ended */
	bool drained;             /* no event was left */
	uint64_t packets_left;    /* at the end, in queues, buffers and links */
	struct deadlock deadlock;
	double metrics[METRIC_COUNT];
	double (*workload_metrics)[WORKLOAD_METRIC_COUNT]; /* NULL: not several workloads */
	/* of the run, then of each workload; NULL: no pattern storage */
	double (*storage_metrics)[STORAGE_METRIC_COUNT];
	const char **workload_names; /* ends with NULL; NULL likewise */
	struct flow_group groups[FLOW_GROUPS];
	unsigned group_count;
};

/* Compute the metrics. experiment_first_flows() marks the first flow of each queue pair, in an
 * array that the caller frees. experiment_collect.c */
bool *experiment_first_flows(const struct experiment *experiment);
void experiment_collect(struct experiment *experiment);

/* Combine the workloads of the scenario, and set how the flows of each workload are posted.
 * experiment_workloads_names() returns the names, which end with NULL, or NULL without names. The
 * caller frees the result. experiment_workloads.c */
struct workload *experiment_workloads_create(const struct build *build, char *error,
					     size_t error_bytes);
void experiment_workloads_parts(const struct scenario *scenario,
				struct flow_driver_part parts[WORKLOAD_PARTS_MAX]);
const char **experiment_workloads_names(const struct scenario *scenario);
void experiment_workloads_collect(struct experiment *experiment);
void experiment_workloads_print(const struct experiment *experiment, FILE *out);

/* experiment_storage.c; nothing happens without pattern storage */
void experiment_storage_collect(struct experiment *experiment);
void experiment_storage_print(const struct experiment *experiment, FILE *out);
/* Returns false and writes the reason to *error if no workload has the metric of operations. `dot`
 * points to the end of the workload's name in `name`. NULL stands for a metric of the run. */
bool experiment_storage_knows(const struct experiment *experiment, const char *name,
			      const char *dot, char *error, size_t error_bytes);

/* Returns the number of the workload with that name. */
uint32_t experiment_workloads_find(const struct scenario *scenario, const char *name);

/* Returns false and writes the reason to *error if the metric's owner is not a workload. */
bool experiment_workloads_knows(const struct scenario *scenario, const char *owner,
				const char *metric, char *error, size_t error_bytes);

/* Sample and measure ports and queues. experiment_measure.c */
void experiment_measure_begin(struct experiment *experiment);
void experiment_measure_end(struct experiment *experiment);
void experiment_sample(struct experiment *experiment); /* one line per recorded port */
double experiment_queue_quantile(const struct experiment *experiment, double share);

/* Return sums over all VLs of a port: bytes queued for transmission, and the time for which the
 * other end has paused it so far. */
uint64_t experiment_queue_bytes(const struct port *port);
sim_time experiment_paused_time(const struct port *port);

/* Returns the time until which the measured bytes of a port left. A port may send after the last
 * flow, such as responses to repeated reads. */
sim_time experiment_sent_until(const struct experiment *experiment, const struct port *port);

/* Returns the packets lost in lossless VLs. experiment_check.c */
uint64_t experiment_lossless_drops(const struct experiment *experiment);

#endif
