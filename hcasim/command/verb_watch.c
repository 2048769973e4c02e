/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_watch: hcasim watch FILE: runs the workload of a scenario, and shows the run under way
 * (watch.h).
 */
#include <stdio.h>

#include "hcasim/command/verb.h"
#include "sim/block.h"

#define EVERY_DEFAULT "10us"
#define ERROR_BYTES   256

static bool read_every(const char *text, sim_time *every)
{
	static const struct param param = {"every", PARAM_TIME, 0, EVERY_DEFAULT, "1ns..", "", ""};
	char error[ERROR_BYTES];

	if (param_parse(&param, text ? text : EVERY_DEFAULT, every, error, sizeof(error)))
		return true;
	say("--every %s", error);
	return false;
}

int verb_watch(const struct arguments *arguments)
{
	struct arguments chosen = *arguments;
	struct scenario *scenario;
	int code = EXIT_BAD_INPUT;

	if (!read_every(arguments->every_text, &chosen.every))
		return EXIT_BAD_INPUT;
	scenario = arguments_scenario(arguments);
	if (!scenario)
		return EXIT_BAD_INPUT;
	if (!scenario->has_workload)
		say("%s: watch shows a workload, and the scenario has none; expected workload: "
		    "{...}",
		    scenario->file);
	else if (scenario->fabric.fidelity == FIDELITY_FLOW)
		say("%s: fidelity: flow has no packets to watch", scenario->file);
	else if (arguments_engine(arguments, scenario, &chosen.engine))
		code = verb_run_workload(&chosen, scenario, arguments->out, stdout, stderr);
	scenario_destroy(scenario);
	return code;
}
