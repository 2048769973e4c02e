/* SPDX-License-Identifier: Apache-2.0 */
/*
 * experiment: a run of a workload on a built scenario, of endpoint HCAs or of detailed ones: plays it, samples ports, and in the end says
 * what came of it, and whether what must always hold did.
 *
 *     build + scenario->workload --experiment_create()--> experiment_run() --> metrics, flows, series, links, invariants
 *
 * The simulation is run in slices, between which ports are looked at; no event of the run is the experiment's own.
 */
#ifndef HCASIM_RUN_EXPERIMENT_H
#define HCASIM_RUN_EXPERIMENT_H

#include <stdio.h>

#include "hcasim/builder/build.h"
#include "hcasim/schema/metrics.h"

struct experiment;

/* NULL: *error. The build outlives it, and it is destroyed first. */
struct experiment *experiment_create(const struct build *build, char *error, size_t error_bytes);
void experiment_destroy(struct experiment *experiment);

/* May it be run in the LPs that the build is in? */
bool experiment_may_be_parallel(const struct experiment *experiment);

/* Called now and then with the virtual time. NULL: nobody. */
typedef void experiment_progress(void *context, sim_time now, uint32_t flows_done, uint32_t flows);
void experiment_run(struct experiment *experiment, experiment_progress *progress, void *context);

/* After the run: when its last flow ended; if some have not, or the scenario says when it ends, when it was looked at last. */
sim_time experiment_ended(const struct experiment *experiment);

/* What congestion control lets a flow send now. The line rate: no limit; NAN: it is a barrier. */
double experiment_flow_rate_bps(const struct experiment *experiment, uint32_t flow);

/* After the run. */
double experiment_metric(const struct experiment *experiment, enum metric metric);

/* Returns whether each metric of a port that the scenario expects is of a port that is recorded. Otherwise writes the place
 * and a suggestion to `error`. */
bool experiment_knows_metrics(const struct experiment *experiment, char *error, size_t error_bytes);

/* Any metric by its name. false: *error says why there is none. */
bool experiment_find(const struct experiment *experiment, const char *name, double *value,
		     char *error, size_t error_bytes);

/* What must hold in every run and did not: a line each on `out`. Returns how many. */
unsigned experiment_check(const struct experiment *experiment, FILE *out);

/* The same of what holds without a workload: links, switches, blocks. */
unsigned experiment_check_build(const struct build *build, FILE *out);

/* The files of a result folder. */
void experiment_write_groups(const struct experiment *experiment, FILE *out); /* slowdowns.csv */
void experiment_write_flows(const struct experiment *experiment, FILE *out);
/* false: not all of it could be kept during the run; errno says why. */
bool experiment_write_series(const struct experiment *experiment, FILE *out);
/* ended: the time of which utilisation is a share. Needs no experiment. */
void experiment_write_links(const struct build *build, sim_time ended, FILE *out);
void experiment_write_switches(const struct build *build,
			       FILE *out); /* switches.csv: all counters */

/* For a reader at a terminal. */
void experiment_print(const struct experiment *experiment, FILE *out);

#endif
