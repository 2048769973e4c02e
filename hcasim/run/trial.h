/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trial: a run of a workload on a built scenario, of endpoint HCAs or of detailed ones: plays it, samples ports, and in the end says
 * what came of it, and whether what must always hold did.
 *
 *     build + scenario->workload --trial_create()--> trial_run() --> metrics, flows, series, links, invariants
 *
 * The simulation is run in slices, between which ports are looked at; no event of the run is the trial's own.
 */
#ifndef HCASIM_RUN_TRIAL_H
#define HCASIM_RUN_TRIAL_H

#include <stdio.h>

#include "hcasim/builder/build.h"
#include "hcasim/schema/metrics.h"

struct trial;

/* NULL: *error. The build outlives it, and it is destroyed first. */
struct trial *trial_create(const struct build *build, char *error, size_t error_bytes);
void trial_destroy(struct trial *trial);

/* May it be run in the parts that the build is in? */
bool trial_divides(const struct trial *trial);

/* Called now and then with the virtual time. NULL: nobody. */
typedef void trial_progress(void *context, sim_time now, uint32_t flows_done, uint32_t flows);
void trial_run(struct trial *trial, trial_progress *progress, void *context);

/* After the run: when its last flow ended; if some have not, or the scenario says when it ends, when it was looked at last. */
sim_time trial_ended(const struct trial *trial);

/* What congestion control lets a flow send now. The line rate: no limit; NAN: it is a barrier. */
double trial_flow_rate_bps(const struct trial *trial, uint32_t flow);

/* After the run. */
double trial_metric(const struct trial *trial, enum metric metric);

/* Returns whether each metric of a port that the scenario expects is of a port that is recorded. Otherwise writes the place
 * and a suggestion to `error`. */
bool trial_knows_metrics(const struct trial *trial, char *error, size_t error_bytes);

/* Any metric by its name. false: *error says why there is none. */
bool trial_find(const struct trial *trial, const char *name, double *value, char *error,
		size_t error_bytes);

/* What must hold in every run and did not: a line each on `out`. Returns how many. */
unsigned trial_check(const struct trial *trial, FILE *out);

/* The same of what holds without a workload: links, switches, blocks. */
unsigned trial_check_build(const struct build *build, FILE *out);

/* The files of a result folder. */
void trial_write_groups(const struct trial *trial, FILE *out); /* slowdowns.csv */
void trial_write_flows(const struct trial *trial, FILE *out);
/* false: not all of it could be kept during the run; errno says why. */
bool trial_write_series(const struct trial *trial, FILE *out);
/* ended: the time of which utilisation is a share. Needs no trial. */
void trial_write_links(const struct build *build, sim_time ended, FILE *out);
void trial_write_switches(const struct build *build, FILE *out); /* switches.csv: all counters */

/* For a reader at a terminal. */
void trial_print(const struct trial *trial, FILE *out);

#endif
