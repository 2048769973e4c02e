/*
 * verb_fluid: hcasim fluid FILE --out DIR: a study of N flows into one port with packets, and the fluid model of its
 * congestion control beside it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "scenarios/runner/verb.h"
#include "scenarios/trial/fluid_study.h"

#define WHY_BYTES 1024

struct means {
	double packet_queue, fluid_queue, packet_rate, fluid_rate;
};

/* From warm_up on. */
static struct means mean_of(const struct fluid_study *study, double from)
{
	struct means means = {0};
	size_t count, taken = 0;
	const struct fluid_sample *samples = fluid_study_samples(study, &count);
	for (size_t i = 0; i < count; i++) {
		if (samples[i].time < from)
			continue;
		means.packet_queue += samples[i].packet_queue_bytes;
		means.fluid_queue += samples[i].fluid_queue_bytes;
		means.packet_rate += samples[i].packet_rate_bps;
		means.fluid_rate += samples[i].fluid_rate_bps;
		taken++;
	}
	double share = taken > 0 ? 1 / (double)taken : 0;
	return (struct means){means.packet_queue * share, means.fluid_queue * share,
			      means.packet_rate * share, means.fluid_rate * share};
}

static int report(const struct arguments *arguments, const struct fluid_study *study,
		  const struct scenario *scenario)
{
	struct means means = mean_of(study, (double)scenario->run.warm_up / (double)SEC);
	size_t count;
	const struct fluid_sample *samples = fluid_study_samples(study, &count);
	printf("%s             packets      fluid\n", fluid_study_name(study));
	printf("queue, KB        %10.2f %10.2f\n", means.packet_queue / 1e3,
	       means.fluid_queue / 1e3);
	printf("rate, Gb/s       %10.4f %10.4f\n", means.packet_rate / 1e9, means.fluid_rate / 1e9);
	if (arguments->out == NULL)
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
	char why[WHY_BYTES] = "";
	struct trial *trial = trial_create(build, why, sizeof(why));
	struct fluid_study *study =
		trial != NULL ? fluid_study_create(build, trial, why, sizeof(why)) : NULL;
	int code = EXIT_BAD_INPUT;
	if (study != NULL) {
		trial_run(trial, fluid_study_sample, study);
		fluid_study_finish(study);
		code = report(arguments, study, build->scenario);
		fluid_study_destroy(study);
	} else {
		say("%s: %s", build->scenario->file, why);
	}
	if (trial != NULL)
		trial_destroy(trial);
	return code;
}

int verb_fluid(const struct arguments *arguments)
{
	char why[WHY_BYTES] = "";
	struct scenario *scenario = arguments_scenario(arguments);
	int code = EXIT_BAD_INPUT;
	if (scenario == NULL)
		return EXIT_BAD_INPUT;
	struct build *build = NULL;
	if (scenario->has_workload)
		build = build_create(scenario, arguments->kernel, false, false, why, sizeof(why));
	else
		snprintf(why, sizeof(why),
			 "nothing to run; expected workload: {pattern: incast, ..}");
	if (build == NULL) {
		say("%s: %s", scenario->file, why);
	} else {
		code = compare(arguments, build);
		build_destroy(build);
	}
	scenario_destroy(scenario);
	return code;
}
