/* SPDX-License-Identifier: Apache-2.0 */
/*
 * experiment_state: what the files of an experiment share and nobody else includes.
 */
#ifndef HCASIM_RUN_EXPERIMENT_STATE_H
#define HCASIM_RUN_EXPERIMENT_STATE_H

#include <gsl/gsl_rstat.h>

#include "fabric/deadlock.h"
#include "hcasim/run/experiment.h"
#include "hcasim/run/ideal_routes.h"
#include "traffic/workload/flow_driver.h"

struct port_sample {
	struct port *port;
	uint64_t bytes_out, pauses; /* at the last sample */
	sim_time paused;
	uint64_t bytes_measured; /* when measuring began; at its end: since then */
	sim_time paused_measured, underused;
	uint64_t queue_max, count;
	double queue_sum, packets_sum, leaving_sum; /* while measured */
	gsl_rstat_quantile_workspace *queue_p90, *queue_p95, *queue_p99;
};

struct experiment {
	const struct build *build;
	const struct scenario *scenario;
	struct workload *workload;
	struct backend *backend;
	struct flow_driver *driver;
	struct ideal_routes *routes;
	const struct flow_record *records; /* the flow driver's */
	/* [flows] of their queue pairs, when measuring began; at its end: since then. */
	uint64_t *arrived, *acked;
	sim_time paused_all;    /* all ports together, likewise */
	uint64_t *queue_counts; /* of samples of all recorded ports while measured, by their KB */
	uint64_t queue_rooms, queue_samples;
	/* Hosts; samples with any, and with many. */
	uint64_t hosts_paused_max, samples_paused, samples_wide;
	struct port_sample *samples;
	uint32_t sample_count;
	FILE *series; /* NULL: none */
	sim_time sampled_at, measured_from, measured_until, ended;
	bool measuring, measured; /* has begun, has ended */
	bool drained;             /* nothing was left to happen */
	struct deadlock deadlock;
	double metrics[METRIC_COUNT];
	struct flow_group groups[FLOW_GROUPS];
	unsigned group_count;
};

/* Fills the metrics. Marks the first flow of each queue pair, in an array that the caller frees. experiment_collect.c */
bool *experiment_first_flows(const struct experiment *experiment);
void experiment_collect(struct experiment *experiment);

/* What of ports and queues is sampled and measured. experiment_measure.c */
void experiment_measure_begin(struct experiment *experiment);
void experiment_measure_end(struct experiment *experiment);
void experiment_sample(struct experiment *experiment); /* one line a recorded port */
double experiment_queue_quantile(const struct experiment *experiment, double share);

/* Of all VLs of a port, added: bytes that wait to leave by it; for how long the other end has paused them so far. */
uint64_t experiment_queue_bytes(const struct port *port);
sim_time experiment_paused_time(const struct port *port);

/* Packets lost in VLs that are to lose none. experiment_check.c */
uint64_t experiment_lossless_drops(const struct experiment *experiment);

#endif
