/* SPDX-License-Identifier: Apache-2.0 */
/* run_ranks: see run_ranks.h. */
#include "hcasim/command/run_ranks.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ERROR_BYTES 1024

bool run_ranks_begin(struct arguments *arguments)
{
	char error[ERROR_BYTES];
	unsigned rank;
	if (!ranks_wanted(&rank))
		return true;
	say_silence(rank > 0);
	arguments->rank_group = ranks_begin(error, sizeof(error));
	if (!arguments->rank_group) {
		say("%s", error);
		return false;
	}
	if (run_ranks_is_silent(arguments))
		arguments->out = arguments->pcap = arguments->trace = arguments->counters = NULL;
	return true;
}

/* A code other than 0 makes mpirun end the other ranks, which may have output to write. */
int run_ranks_end(struct arguments *arguments, int code)
{
	unsigned rank;
	if (!ranks_wanted(&rank))
		return code;
	fflush(stdout);
	ranks_end(arguments->rank_group);
	return rank > 0 ? EXIT_GOOD : code;
}

bool run_ranks_same(const struct arguments *arguments, const struct scenario *scenario)
{
	struct ranks *ranks = arguments->rank_group;
	uint64_t own[] = {scenario ? scenario_hash(scenario) : 0, arguments->threads,
			  (uint64_t)arguments->engine};
	uint64_t first[ARRAY_SIZE(own)] = {0};
	if (!ranks)
		return scenario != NULL;
	if (ranks->rank == 0)
		memcpy(first, own, sizeof(first));
	ranks->ops->sum(first, ARRAY_SIZE(first));
	if (ranks_agree(ranks, scenario && memcmp(first, own, sizeof(first)) == 0))
		return true;
	if (scenario)
		say("mpirun: the processes have different scenarios or options; they divide one "
		    "run, so expected the same ones; for a run of each process, unset "
		    "OMPI_COMM_WORLD_SIZE");
	return false;
}

bool run_ranks_is_silent(const struct arguments *arguments)
{
	return arguments->rank_group && arguments->rank_group->rank > 0;
}

/* Only the process of its sender knows the present rate of a flow. */
static bool expects_rate(const struct scenario *scenario)
{
	for (uint32_t i = 0; i < scenario->expectation_count; i++) {
		const char *metric = scenario->expectations[i].metric;
		if (metric && fnmatch("flow[0-9]*.rate_gbps", metric, 0) == 0)
			return true;
	}
	return false;
}

/* Returns what one process is needed for, or NULL. */
static const char *unfit(const struct arguments *arguments, const struct scenario *scenario)
{
	if (scenario->has_load)
		return "a load";
	if (!scenario->has_workload)
		return "programs";
	if (scenario_has(scenario, FIDELITY_DETAILED))
		return "adapters of fidelity detailed";
	if (scenario->fabric.fidelity == FIDELITY_FLOW)
		return "fidelity: flow";
	if (scenario->run.fast_forward != FAST_FORWARD_OFF)
		return "run.fast_forward";
	if (arguments->pcap || arguments->trace || arguments->vcd || scenario->record.packets ||
	    scenario->trace_count > 0)
		return "a trace, capture or waveform";
	if (scenario->series_flow_count > 0)
		return "record.series_flows";
	if (scenario->mirror_count > 0)
		return "a mirror";
	if (expects_rate(scenario))
		return "the rate_gbps of a flow in expect";
	if (arguments->engine != SIM_ENGINE_native)
		return "an engine other than native";
	return NULL;
}

struct lp_assignment *run_ranks_assign(const struct arguments *arguments,
				       const struct scenario *scenario)
{
	struct ranks *ranks = arguments->rank_group;
	const char *reason = unfit(arguments, scenario);
	struct lp_assignment *assignment = NULL;
	char error[ERROR_BYTES];
	if (reason)
		say("%s: mpirun: %s cannot be divided over processes; expected a workload on "
		    "adapters of fidelity endpoint, or hcasim without mpirun",
		    scenario->file, reason);
	else if (arguments->threads > 1)
		say("mpirun: --threads %u and %u processes; expected one of the two",
		    arguments->threads, ranks->count);
	else if (ranks->count > SIM_LPS_MAX)
		say("mpirun: %u processes; expected at most %u", ranks->count, SIM_LPS_MAX);
	else {
		assignment =
			lp_assignment_create(scenario, ranks->count, ranks, error, sizeof(error));
		if (!assignment)
			say("%s: mpirun: %s", scenario->file, error);
	}
	if (!ranks_agree(ranks, assignment != NULL)) { /* only rank 0 has outputs */
		lp_assignment_destroy(assignment);
		assignment = NULL;
	}
	return assignment;
}

void run_ranks_say_traffic(const struct build *build)
{
	unsigned count = build->assignment->lps;
	struct sim_windows windows = sim_windows(build->sim);
	struct sim_rank_traffic *traffic = calloc(count, sizeof(*traffic));
	if (!traffic)
		abort();
	sim_rank_traffic(build->sim, traffic);
	say("%u processes: %" PRIu64 " windows of at most %.3f ns", count, windows.count,
	    (double)windows.length / (double)NS);
	for (unsigned i = 0; i < count; i++)
		say("rank %u: %" PRIu64 " events; %.2f messages of %.0f bytes a window; %.3f MB of "
		    "state to each rank; %.3f s of waiting",
		    i, traffic[i].events, (double)traffic[i].messages / (double)windows.count,
		    traffic[i].messages > 0 ? (double)traffic[i].bytes / (double)traffic[i].messages
					    : 0,
		    (double)traffic[i].shared / 1e6, traffic[i].waited);
	free(traffic);
}
