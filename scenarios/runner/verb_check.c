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
	bool good = sweep_check(arguments, scenario);
	if (good && arguments->effective)
		scenario_print(scenario, stdout);
	scenario_destroy(scenario);
	return good ? EXIT_GOOD : EXIT_BAD_INPUT;
}
