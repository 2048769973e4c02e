/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phase_sample: a sample of consecutive phases of a workload, and how well their mean stands for
 * the mean of later phases (run.fast_forward: sampled).
 *
 * The estimate holds for phases that are drawn from one distribution, each of which may depend on
 * the one before. It is no bound: later phases may differ from all phases of the sample.
 */
#ifndef HCASIM_RUN_PHASE_SAMPLE_H
#define HCASIM_RUN_PHASE_SAMPLE_H

#include <stdint.h>

#define PHASE_SAMPLE_MIN 8u  /* phases of the smallest sample that is used: chosen */
#define PHASE_SAMPLE_MAX 64u /* of the largest */

struct phase_sample {
	double values[PHASE_SAMPLE_MAX];
	uint32_t count;
};

/* Adds the value of the next phase. There must be room. */
void phase_sample_add(struct phase_sample *sample, double value);

/* Returns the estimated error of the sum of `skipped` later phases, relative to that sum, if each
 * is replaced by the mean of the sample: half of the interval that holds the error with a
 * probability of 99 %, and the difference of the means of both halves of the sample. Returns
 * INFINITY for less than PHASE_SAMPLE_MIN phases. */
double phase_sample_error(const struct phase_sample *sample, uint32_t skipped);

#endif
