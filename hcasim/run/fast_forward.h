/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fast_forward: run.fast_forward. Skips phases of a workload that repeat earlier ones exactly, or
 * that a sample of earlier ones replaces (phase_sample.h).
 *
 *     begin of a phase --fold_take()--> state --fold_equal()--> the same as at an earlier begin:
 *         flow_repeat_skip(): records of the skipped phases, and the run goes on behind them
 *     end of the run  --fold_repeat()--> counters, gauges and clock
 *
 * docs/explanation/fast-forward.md explains why exact results are those of the whole run, and how
 * the error of a sample is estimated.
 */
#ifndef HCASIM_RUN_FAST_FORWARD_H
#define HCASIM_RUN_FAST_FORWARD_H

#include <stdio.h>

#include "hcasim/builder/build.h"
#include "traffic/workload/flow_driver.h"

struct fast_forward;

/* Creates the object for a run that has not begun. Returns NULL if the scenario does not request
 * fast forward. `steps`: the caller advances the run in steps. */
struct fast_forward *fast_forward_create(const struct build *build, struct flow_driver *driver,
					 bool steps);
void fast_forward_destroy(struct fast_forward *forward);

/* Runs until `until`, as sim_run() does, and skips phases on the way. */
void fast_forward_run(struct fast_forward *forward, sim_time until);

/* Adds the skipped phases to the counters and the flow table. Call it when no event is left. */
void fast_forward_end(struct fast_forward *forward);

/* Prints the section of summary.json, and a line for a terminal. */
void fast_forward_print_json(const struct fast_forward *forward, FILE *out);
void fast_forward_print(const struct fast_forward *forward, FILE *out);

#endif
