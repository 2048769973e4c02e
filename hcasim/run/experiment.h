/* SPDX-License-Identifier: Apache-2.0 */
/*
 * experiment: runs a workload on a built scenario, with adapters of either fidelity. It samples
 * ports, computes the results at the end, and checks the invariants.
 *
 *     build + scenario->workload --experiment_create()--> experiment_advance()
 *                                      --> metrics, flows, series, links, invariants
 *
 * The simulation runs in slices, and ports are sampled between slices. The experiment adds no
 * events to the run.
 */
#ifndef HCASIM_RUN_EXPERIMENT_H
#define HCASIM_RUN_EXPERIMENT_H

#include <stdio.h>

#include "hcasim/builder/build.h"
#include "hcasim/schema/metrics.h"

struct experiment;

/* Creates an experiment. The build must outlive it. Returns NULL and writes the reason to *error on
 * failure. */
struct experiment *experiment_create(const struct build *build, char *error, size_t error_bytes);
void experiment_destroy(struct experiment *experiment);

/* Returns true if the experiment can run in the LPs of the build. */
bool experiment_may_be_parallel(const struct experiment *experiment);

/* Receives progress at intervals, with the virtual time. NULL: no reports. */
typedef void experiment_progress(void *context, sim_time now, uint32_t flows_done, uint32_t flows);

/*
 * Runs until virtual time `until`, or to the end of the run with SIM_NEVER. The events before
 * `until` have then fired. Returns true while the run goes on. Results do not depend on the sizes
 * of the steps.
 */
bool experiment_advance(struct experiment *experiment, sim_time until,
			experiment_progress *progress, void *context);

/* Returns the number of flows that have ended, and writes the number of all flows to *flows. */
uint32_t experiment_flows_done(const struct experiment *experiment, uint32_t *flows);

/* Ends the run now. Its results are the measurements until now. */
void experiment_stop(struct experiment *experiment);

/* Returns the time at which the last flow ended. If flows are incomplete, or the scenario sets the
 * end, returns the time of the last sample. Call it after the run. */
sim_time experiment_ended(const struct experiment *experiment);

/* Returns the time of the run with at least one flow in progress. Call it after the run. */
sim_time experiment_worked(const struct experiment *experiment);

/* Returns the duration of the measurement of goodput and rates. Call it after the run. */
sim_time experiment_window(const struct experiment *experiment);

/* Returns the current sending rate that congestion control allows a flow. Without a limit this is
 * the line rate. Returns NAN for a barrier. */
double experiment_flow_rate_bps(const struct experiment *experiment, uint32_t flow);

/* Returns a metric. Call it after the run. */
double experiment_metric(const struct experiment *experiment, enum metric metric);

/* Returns a metric of one of several workloads. Call it after the run. */
double experiment_workload_metric(const struct experiment *experiment, uint32_t workload,
				  enum workload_metric metric);

/* Returns true if operations of pattern storage are part of the run. */
bool experiment_has_storage(const struct experiment *experiment);

/* Returns a metric of operations, of the run (EXPERIMENT_NO_WORKLOAD) or of one of several
 * workloads. NAN: it has none. Call it after the run. */
#define EXPERIMENT_NO_WORKLOAD UINT32_MAX
double experiment_storage_metric(const struct experiment *experiment, uint32_t workload,
				 enum storage_metric metric);

/* Checks the metrics in `expect` that are not of the run or of a flow. Each must belong to a
 * recorded port or to a workload. Otherwise returns false and writes the place and a suggestion to
 * `error`. */
bool experiment_knows_metrics(const struct experiment *experiment, char *error, size_t error_bytes);

/* Finds a metric of any kind by name. Returns false and writes the reason to *error if there is no
 * value. */
bool experiment_find(const struct experiment *experiment, const char *name, double *value,
		     char *error, size_t error_bytes);

/* Checks the invariants of a run. Writes a line for each violation to `out`. Returns their
 * number. */
unsigned experiment_check(const struct experiment *experiment, FILE *out);

/* Checks the invariants that do not need a workload: of links, switches and blocks. Writes and
 * returns as above. */
unsigned experiment_check_build(const struct build *build, FILE *out);

/* Write the files of a result folder. */
void experiment_write_groups(const struct experiment *experiment, FILE *out); /* slowdowns.csv */
bool experiment_write_flow_series(const struct experiment *experiment,
				  FILE *out); /* false: errno */
bool experiment_write_queue_series(const struct experiment *experiment,
				   FILE *out);                                /* false: errno */
void experiment_write_queues(const struct experiment *experiment, FILE *out); /* queues.csv */
void experiment_write_bins(const struct experiment *experiment, FILE *out);   /* bins.csv */
void experiment_write_flows(const struct experiment *experiment, FILE *out);
void experiment_write_operations(const struct experiment *experiment, FILE *out);
/* Returns false and sets errno if the series could not be stored completely during the run. */
bool experiment_write_series(const struct experiment *experiment, FILE *out);
/* Writes links.csv. Utilisation is a share of the time until `ended`. An experiment is not
 * needed. */
void experiment_write_links(const struct build *build, sim_time ended, FILE *out);
void experiment_write_switches(const struct build *build,
			       FILE *out); /* switches.csv: all counters */

/* Prints the skipped phases (run.fast_forward), as a section of summary.json. */
void experiment_print_skipped(const struct experiment *experiment, FILE *out);

/* Prints the content of a trace that the run does not use, as a key of summary.json. */
void experiment_print_ignored(const struct experiment *experiment, FILE *out);

/* Prints the results for a terminal. */
void experiment_print(const struct experiment *experiment, FILE *out);

#endif
