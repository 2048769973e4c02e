/*
 * verb_check: hcasim check FILE.
 */
#include <stdio.h>

#include "scenarios/runner/verb.h"

#define WHY_BYTES 1024

static int check_study(const struct arguments *arguments)
{
	struct fabric_study *study = arguments_study(arguments);
	char why[WHY_BYTES] = "";

	if (study == NULL)
		return EXIT_BAD_INPUT;
	struct study_run *run =
		study_run_create(study, SIM_KERNEL_native, why, sizeof(why));
	if (run == NULL)
		say("%s: %s", study->file, why);
	else if (arguments->effective)
		study_print(study, stdout);
	if (run != NULL)
		study_run_destroy(run);
	study_destroy(study);
	return run != NULL ? EXIT_GOOD : EXIT_BAD_INPUT;
}

int verb_check(const struct arguments *arguments)
{
	if (study_is(arguments->word))
		return check_study(arguments);
	struct scenario *scenario = arguments_scenario(arguments);
	if (scenario == NULL)
		return EXIT_BAD_INPUT;
	if (arguments->effective)
		scenario_print(scenario, stdout);
	scenario_destroy(scenario);
	return EXIT_GOOD;
}
