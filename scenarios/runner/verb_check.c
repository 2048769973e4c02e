/*
 * verb_check: hcasim check FILE.
 */
#include <stdio.h>

#include "scenarios/runner/verb.h"

int verb_check(const struct arguments *arguments)
{
	struct scenario *scenario = arguments_scenario(arguments);
	if (scenario == NULL)
		return EXIT_BAD_INPUT;
	if (arguments->effective)
		scenario_print(scenario, stdout);
	scenario_destroy(scenario);
	return EXIT_GOOD;
}
