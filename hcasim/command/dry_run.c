/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dry_run: all of a run that comes before its first event, by the functions that a run calls, so that `check` refuses what
 * `run` would, and nothing else.
 */
#include "hcasim/command/verb.h"
#include "hcasim/record/result.h"
#include "hcasim/run/trial.h"
#include "hcasim/schema/modules.h"

/* Hosts of both fidelities have no programs of their own. */
static bool is_for_messages(const struct scenario *scenario)
{
	return !scenario->has_workload && scenario_has(scenario, FIDELITY_ENDPOINT) &&
	       scenario_has(scenario, FIDELITY_DETAILED);
}

bool dry_run(const struct scenario *scenario, char *why, size_t why_bytes)
{
	const char *host, *block;
	bool modules = modules_first(scenario, &host, &block);
	struct trial *trial = NULL;
	enum sim_kernel kernel = modules ? SIM_KERNEL_hosted : SIM_KERNEL_native;
	struct build *build =
		is_for_messages(scenario)
			? build_create_for_messages(scenario, kernel, why, why_bytes)
			: build_create(scenario, kernel, false, false, why, why_bytes);
	bool good = build != NULL;
	if (good && scenario->has_workload) {
		trial = trial_create(build, why, why_bytes);
		good = trial != NULL && trial_knows_metrics(trial, why, why_bytes);
	}
	if (scenario->has_workload || scenario->has_load || scenario->program_count > 0)
		good = good && result_names(build, why, why_bytes);
	for (uint32_t i = 0; good && i < scenario->program_count; i++)
		good = program_check(scenario, &scenario->programs[i], why, why_bytes);
	if (trial != NULL)
		trial_destroy(trial);
	if (build != NULL)
		build_destroy(build);
	return good;
}
