/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_fluid: implements hcasim fluid FILE --out DIR. Runs a packet study of N flows into one port,
 * and the fluid model of its congestion control for comparison.
 */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "hcasim/command/verb.h"
#include "hcasim/run/fluid_study.h"

#define ERROR_BYTES 1024

/* Statistics of one curve, from warm_up on. */
struct curve {
	const char *name;
	size_t queue, rate; /* offsets in a sample */
	double queue_mean, queue_deviation, rate_mean;
};

#define CURVE(name, queue, rate)                                                                 \
	{                                                                                        \
		name, offsetof(struct fluid_sample, queue), offsetof(struct fluid_sample, rate), \
			0, 0, 0                                                                  \
	}

static double at(const struct fluid_sample *sample, size_t offset)
{
	return *(const double *)(const void *)((const char *)sample + offset);
}

static void measure(struct curve *curve, const struct fluid_sample *samples, size_t count,
		    double from)
{
	double queue = 0, squares = 0, rate = 0, taken = 0;
	for (size_t i = 0; i < count; i++) {
		if (samples[i].time < from)
			continue;
		queue += at(&samples[i], curve->queue);
		squares += at(&samples[i], curve->queue) * at(&samples[i], curve->queue);
		rate += at(&samples[i], curve->rate);
		taken++;
	}
	if (taken == 0)
		return;
	curve->queue_mean = queue / taken;
	curve->rate_mean = rate / taken;
	curve->queue_deviation =
		sqrt(fmax(squares / taken - curve->queue_mean * curve->queue_mean, 0));
}

static void print(const char *name, const struct curve *curves, size_t count)
{
	printf("%-16s", name);
	for (size_t i = 0; i < count; i++)
		printf(" %10s", curves[i].name);
	printf("\nqueue, KB       ");
	for (size_t i = 0; i < count; i++)
		printf(" %10.2f", curves[i].queue_mean / 1e3);
	printf("\n  deviation, KB ");
	for (size_t i = 0; i < count; i++)
		printf(" %10.2f", curves[i].queue_deviation / 1e3);
	printf("\nrate, Gb/s      ");
	for (size_t i = 0; i < count; i++)
		printf(" %10.4f", curves[i].rate_mean / 1e9);
	printf("\n");
}

static int report(const struct arguments *arguments, const struct fluid_study *study,
		  const struct scenario *scenario)
{
	struct curve curves[] = {
		CURVE("packets", packet_queue_bytes, packet_rate_bps),
		CURVE("fluid", fluid_queue_bytes, fluid_rate_bps),
		CURVE("egress", egress_queue_bytes, egress_rate_bps),
	};
	size_t count, shown = 3;
	const struct fluid_sample *samples = fluid_study_samples(study, &count);
	if (count == 0 || isnan(samples[0].egress_queue_bytes))
		shown = 2;
	for (size_t i = 0; i < shown; i++)
		measure(&curves[i], samples, count, (double)scenario->run.warm_up / (double)SEC);
	print(fluid_study_name(study), curves, shown);
	if (!arguments->out)
		return EXIT_GOOD;
	if ((mkdir(arguments->out, 0777) != 0 && errno != EEXIST) ||
	    !fluid_plot_write(arguments->out, fluid_study_name(study), samples, count)) {
		say("%s: %s", arguments->out, strerror(errno));
		return EXIT_NOT_AS_EXPECTED;
	}
	return EXIT_GOOD;
}

static int compare(const struct arguments *arguments, const struct build *build)
{
	char error[ERROR_BYTES] = "";
	struct experiment *experiment = experiment_create(build, error, sizeof(error));
	struct fluid_study *study =
		experiment ? fluid_study_create(build, experiment, error, sizeof(error)) : NULL;
	int code = EXIT_BAD_INPUT;
	if (study) {
		experiment_advance(experiment, SIM_NEVER, fluid_study_sample, study);
		fluid_study_finish(study);
		code = report(arguments, study, build->scenario);
		fluid_study_destroy(study);
	} else {
		if (experiment)
			scenario_blame(build->scenario, "", error, sizeof(error));
		say("%s", error);
	}
	if (experiment)
		experiment_destroy(experiment);
	return code;
}

int verb_fluid(const struct arguments *arguments)
{
	char error[ERROR_BYTES] = "";
	struct scenario *scenario = arguments_scenario(arguments);
	int code = EXIT_BAD_INPUT;
	if (!scenario)
		return EXIT_BAD_INPUT;
	struct build *build = NULL;
	if (scenario->has_workload)
		build = build_create(scenario, arguments->engine, false, false, error,
				     sizeof(error));
	else
		snprintf(error, sizeof(error),
			 "%.512s: nothing to run; expected workload: {pattern: incast, ..}",
			 scenario->file);
	if (!build) {
		say("%s", error);
	} else {
		code = compare(arguments, build);
		build_destroy(build);
	}
	scenario_destroy(scenario);
	return code;
}
