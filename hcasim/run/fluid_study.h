/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fluid_study: the fluid model of a study with packets: N flows of an incast into one port, under DCQCN or TIMELY, with
 * the parameters of the scenario; and the two beside each other.
 *
 *     build + scenario --fluid_study_create()--> model; experiment_run(.., fluid_study_sample, study) --> fluid_study_finish()
 */
#ifndef HCASIM_RUN_FLUID_STUDY_H
#define HCASIM_RUN_FLUID_STUDY_H

#include "analysis/fluid_plot.h"
#include "hcasim/run/experiment.h"

struct fluid_study;

/* NULL: *error says what the models do not cover. Build and experiment outlive it. */
struct fluid_study *fluid_study_create(const struct build *build, struct experiment *experiment,
				       char *error, size_t error_bytes);
void fluid_study_destroy(struct fluid_study *study);

/* A experiment_progress. */
void fluid_study_sample(void *study, sim_time now, uint32_t flows_done, uint32_t flows);

/* After the run: solves the model. */
void fluid_study_finish(struct fluid_study *study);

const char *fluid_study_name(const struct fluid_study *study); /* of the model */

/* What experiment_progress took, and the model beside it, in the order of time; the study's. */
const struct fluid_sample *fluid_study_samples(const struct fluid_study *study, size_t *count);

#endif
