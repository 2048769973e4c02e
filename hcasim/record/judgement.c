/* SPDX-License-Identifier: Apache-2.0 */
/* judgement: see judgement.h. */
#include "hcasim/record/judgement.h"

#include "hcasim/run/bounds.h"
#include "traffic/load/load.h"

static int conclude(struct result_outcome *outcome, unsigned wrong)
{
	outcome->exit_code = wrong > 0 ? JUDGEMENT_NOT_AS_EXPECTED : JUDGEMENT_GOOD;
	return outcome->exit_code;
}

int judgement_workload(const struct build *build, const struct experiment *experiment,
		       struct result_outcome *outcome, FILE *complaints)
{
	unsigned wrong;

	outcome->experiment = experiment;
	violations_open(&outcome->violations);
	wrong = experiment_check(experiment, outcome->violations.out);
	violations_close(&outcome->violations, complaints);
	wrong += result_compare_metrics(build, outcome, complaints);
	return conclude(outcome, wrong);
}

/* Checks that a link carried no more data than its rate allows, within a packet per node. Loopback
 * has no limit. */
static unsigned check_rate(const struct build *build, const struct load_result *metrics, FILE *out)
{
	const struct load_params *params = &build->scenario->load;
	double window_us = (double)metrics->window / (double)US, most = 0;

	if (params->pattern == LOAD_LOOPBACK || metrics->window == 0)
		return 0;
	for (uint32_t i = 0; i < build->scenario->host_count; i++) {
		double rate = (double)port_rate_bps(build_host_port(build, i)) / 1e9;

		most = rate > most ? rate : most;
	}
	most += (double)(params->nodes * params->mtu) * 8 / 1e3 / window_us;
	if (metrics->gbps <= most)
		return 0;
	fprintf(out, "%.3f Gb/s of data over a link that carries %.3f\n", metrics->gbps, most);
	return 1;
}

/* Returns the largest number of work requests in flight at both ends, of all hosts. A SEND is
 * complete for the sender while the CQE of its receive still waits. */
static double under_way_most(const struct build *build)
{
	const struct load_params *params = &build->scenario->load;
	double hosts = build->scenario->host_count;
	double pairs = (double)(params->threads * params->qps +
				params->background.threads * params->background.qps);
	uint64_t most = params->tx_depth * params->post_list;

	if (params->outstanding && params->verb != LOAD_SEND && !params->background.threads)
		return hosts * (double)(params->threads * params->outstanding);
	if (params->verb == LOAD_SEND || params->background.verb == LOAD_SEND)
		most += load_receives(params, params->transport == LOAD_UD);
	return hosts * hosts * pairs * (double)most;
}

/* Checks the rate of all nodes and their background during the measurement. Requests in flight at
 * its start were partly served before it, and requests in flight at its end partly after it. */
static unsigned check_bounds(const struct build *build, const struct load_result *result, FILE *out)
{
	struct bounds bounds =
		bounds_find(build->sim, sim_now(build->sim), load_window(build->load));
	double hosts = (double)build->scenario->host_count;
	double nodes = build->scenario->load.pattern == LOAD_ALL ? hosts : 1;
	double rate = (result->mops + result->background_mops) * nodes * 1e6;
	double operations = rate * (double)result->window / (double)SEC;
	double edge = 2 * under_way_most(build) / operations;

	return edge < 1 ? bounds_check(&bounds, rate, edge, out) : 0;
}

int judgement_load(const struct build *build, struct load_result *metrics,
		   struct result_outcome *outcome, FILE *complaints)
{
	const char *failure = load_failure(build->load);
	unsigned wrong = failure != NULL;

	outcome->load = metrics;
	load_take_result(build->load, metrics);
	if (failure)
		fprintf(complaints, "the load failed: %s\n", failure);
	violations_open(&outcome->violations);
	wrong += experiment_check_build(build, outcome->violations.out);
	if (!failure) {
		wrong += check_bounds(build, metrics, outcome->violations.out);
		wrong += check_rate(build, metrics, outcome->violations.out);
	}
	violations_close(&outcome->violations, complaints);
	if (!failure)
		wrong += result_compare_metrics(build, outcome, complaints);
	return conclude(outcome, wrong);
}
