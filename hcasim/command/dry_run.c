/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dry_run: performs all steps of a run before its first event, with the functions of a run. `check`
 * therefore refuses the same scenarios as `run`.
 */
#include "hcasim/command/verb.h"
#include "hcasim/record/result.h"
#include "hcasim/run/experiment.h"
#include "hcasim/schema/modules.h"

/* Hosts of both fidelities have no programs of their own. */
static bool is_for_messages(const struct scenario *scenario)
{
	return !scenario->has_workload && scenario_has(scenario, FIDELITY_ENDPOINT) &&
	       scenario_has(scenario, FIDELITY_DETAILED);
}

bool dry_run(const struct scenario *scenario, char *error, size_t error_bytes)
{
	const char *host, *block;
	bool modules = modules_first(scenario, &host, &block);
	struct experiment *experiment = NULL;
	enum sim_engine engine = modules ? SIM_ENGINE_systemc : SIM_ENGINE_native;
	struct build *build =
		is_for_messages(scenario)
			? build_create_for_messages(scenario, engine, error, error_bytes)
			: build_create(scenario, engine, false, false, error, error_bytes);
	bool good = build;
	if (good && scenario->has_workload) {
		experiment = experiment_create(build, error, error_bytes);
		good = experiment && experiment_knows_metrics(experiment, error, error_bytes);
	}
	if (scenario->has_workload || scenario->has_load || scenario->program_count > 0)
		good = good && result_names(build, error, error_bytes);
	for (uint32_t i = 0; good && i < scenario->program_count; i++)
		good = verb_exec_program_check(scenario, &scenario->programs[i], error,
					       error_bytes);
	if (experiment)
		experiment_destroy(experiment);
	if (build)
		build_destroy(build);
	return good;
}
