/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fluid_study: fluid model of a packet study, and a comparison of the two. The study is an incast
 * of N flows into one port under DCQCN or TIMELY. The model uses the scenario's parameters.
 *
 *     build + scenario --fluid_study_create()--> model
 *     experiment_advance(.., fluid_study_sample, study) --> fluid_study_finish()
 */
#ifndef HCASIM_RUN_FLUID_STUDY_H
#define HCASIM_RUN_FLUID_STUDY_H

#include "analysis/fluid_plot.h"
#include "hcasim/run/experiment.h"

struct fluid_study;

/* Creates a study. Build and experiment must outlive it. Returns NULL and writes the unsupported
 * feature to *error if the models do not support the study. */
struct fluid_study *fluid_study_create(const struct build *build, struct experiment *experiment,
				       char *error, size_t error_bytes);
void fluid_study_destroy(struct fluid_study *study);

/* Takes a sample. Has the type experiment_progress. */
void fluid_study_sample(void *study, sim_time now, uint32_t flows_done, uint32_t flows);

/* Solves the model. Call it after the run. */
void fluid_study_finish(struct fluid_study *study);

const char *fluid_study_name(const struct fluid_study *study); /* name of the model */

/* Returns the samples of the run with the model's values beside them, in order of time. The study
 * owns them. */
const struct fluid_sample *fluid_study_samples(const struct fluid_study *study, size_t *count);

#endif
