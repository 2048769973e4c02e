/* SPDX-License-Identifier: Apache-2.0 */
/* load_result: results of a load, from the tallies at both ends of the measurement. See load.h. */
#include <assert.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdlib.h>

#include "traffic/load/load_state.h"

/* Orders latencies by the time of their record. Latencies in one array keep their order. */
static int compare_noted(const void *one, const void *other)
{
	const struct load_latency *const *first = one, *const *second = other;

	if ((*first)->noted_at != (*second)->noted_at)
		return (*first)->noted_at < (*second)->noted_at ? -1 : 1;
	return *first < *second ? -1 : 1;
}

/* Returns the first recorded latencies of all nodes, in rising order. */
static double *first_latencies(const struct load *load, size_t *count)
{
	size_t all = 0, place = 0;

	for (uint32_t i = 0; i < load->params.nodes; i++)
		all += load->nodes[i].latency_count;
	struct load_latency *noted = calloc(all + 1, sizeof(*noted));
	const struct load_latency **order = calloc(all + 1, sizeof(struct load_latency *));
	double *latencies = calloc(all + 1, sizeof(*latencies));

	assert(noted && order && latencies);
	for (uint32_t i = 0; i < load->params.nodes; i++) {
		const struct load_node *node = &load->nodes[i];

		for (uint32_t j = 0; j < node->latency_count; j++, place++) {
			noted[place] = node->latencies[j];
			order[place] = &noted[place];
		}
	}
	qsort(order, all, sizeof(order[0]), compare_noted);
	*count = all < LOAD_LATENCIES_MAX ? all : LOAD_LATENCIES_MAX;
	for (size_t i = 0; i < *count; i++)
		latencies[i] = order[i]->ns;
	gsl_sort(latencies, 1, *count);
	free(order);
	free(noted);
	return latencies;
}

static void take_latencies(const struct load *load, struct load_result *result)
{
	size_t count;
	double *latencies = first_latencies(load, &count);

	if (count > 0) {
		result->mean_ns = gsl_stats_mean(latencies, 1, count);
		result->median_ns = gsl_stats_quantile_from_sorted_data(latencies, 1, count, 0.5);
		result->p99_ns = gsl_stats_quantile_from_sorted_data(latencies, 1, count, 0.99);
		result->p999_ns = gsl_stats_quantile_from_sorted_data(latencies, 1, count, 0.999);
	}
	free(latencies);
}

/* Evaluates the posting nodes only. */
static double share_least(const struct load *load)
{
	uint64_t least = UINT64_MAX, all = 0, nodes = 0;

	for (uint32_t i = 0; i < load->params.nodes; i++) {
		const struct load_node *node = &load->nodes[i];
		uint64_t completed = node->completed_at_end - node->completed_at_start;

		if (!node->threads[0].posts)
			continue;
		nodes++;
		all += completed;
		least = completed < least ? completed : least;
	}
	return all > 0 ? (double)(least * nodes) / (double)all : 0;
}

/* The result of a load that has failed. */
static const struct load_result none = {
#define NO_VALUE(name, unit, meaning) .name = (double)NAN,
	LOAD_METRICS(NO_VALUE)};

void load_take_result(const struct load *load, struct load_result *result)
{
	const struct load_params *params = &load->params;
	sim_time window = load->ended_at - load->started_at;
	double microseconds = (double)window / (double)US;
	double nodes = params->pattern == LOAD_ALL ? (double)params->nodes : 1;

	const struct load_tally *start = &load->at_start, *end = &load->at_end;
	const struct load_progress_count *from = &load->progress_at_start,
					 *to = &load->progress_at_end;

	*result = none;
	if (load_failure(load))
		return;
	result->window = window;
	result->mops = (to->done - from->done) / microseconds / nodes;
	result->received_mops = (double)(end->received - start->received) / microseconds / nodes;
	if (result->received_mops > 0 && load_progress_known(load))
		result->received_mops = result->mops;
	result->background_mops = (to->background - from->background) / microseconds / nodes;
	result->gbps = (to->bytes - from->bytes) * 8 / 1000 / microseconds / nodes;
	take_latencies(load, result);
	result->paused = 0;
	for (uint32_t i = 0; i < params->nodes; i++) {
		const struct load_node *node = &load->nodes[i];
		double share =
			(double)(node->paused_at_end - node->paused_at_start) / (double)window;

		result->paused = share > result->paused ? share : result->paused;
	}
	result->share_least = share_least(load);
	result->counter = (double)(end->counted - start->counted) /
			  (params->counts == LOAD_COMPLETED
				   ? to->done - from->done
				   : (double)(load->count_at_end - load->count_at_start)) *
			  nodes;
	result->counter_mops = (double)(end->counted - start->counted) / microseconds;
}
