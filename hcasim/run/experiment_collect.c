/* SPDX-License-Identifier: Apache-2.0 */
/* experiment_collect: the metrics of a run, from the flow table and the counters. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hca/endpoint/connection_memory.h"
#include "hca/endpoint/endpoint.h"
#include "hcasim/run/drops.h"
#include "hcasim/run/experiment_state.h"
#include "switch/switch.h"

bool *experiment_first_flows(const struct experiment *experiment)
{
	bool *first = calloc((size_t)experiment->workload->count + 1, sizeof(*first));
	if (!first)
		abort();
	flow_driver_first_flows(experiment->driver, first);
	return first;
}

/* A share of nothing has no value. */
static double share_of(double part, double whole)
{
	return whole > 0 ? part / whole : (double)NAN;
}

static void collect_rates(struct experiment *experiment)
{
	double sum = 0, squares = 0, count = 0;
	double window = (double)(experiment->measured_until - experiment->measured_from);
	bool *first = experiment_first_flows(experiment);
	for (uint32_t i = 0; i < experiment->workload->count; i++) {
		if (!first[i])
			continue;
		double bytes = (double)experiment->arrived[i];
		sum += bytes;
		squares += bytes * bytes;
		count++;
	}
	free(first);
	experiment->metrics[METRIC_goodput_gbps] = share_of(sum * 8e3, window);
	experiment->metrics[METRIC_jain] = share_of(sum * sum, count * squares);
}

static struct flow_summary summarise(const struct experiment *experiment, uint64_t low,
				     uint64_t high, enum flow_kinds kinds)
{
	const struct flow_choice choice = {low, high, experiment->scenario->run.warm_up, kinds, 0};
	return flow_table_summarise(experiment->records, experiment->workload->count, &choice);
}

static void collect_sizes(struct experiment *experiment)
{
	const struct scenario_run *run = &experiment->scenario->run;
	struct flow_summary small = summarise(experiment, 0, run->small, FLOW_OF_PATTERN);
	struct flow_summary large = summarise(experiment, run->large, UINT64_MAX, FLOW_OF_PATTERN);
	struct flow_summary pattern = summarise(experiment, 0, UINT64_MAX, FLOW_OF_PATTERN);
	struct flow_summary incast = summarise(experiment, 0, UINT64_MAX, FLOW_OF_INCAST);
	double *metrics = experiment->metrics;
	metrics[METRIC_small_fct_p50_us] = small.fct_p50_us;
	metrics[METRIC_small_fct_p90_us] = small.fct_p90_us;
	metrics[METRIC_small_fct_p95_us] = small.fct_p95_us;
	metrics[METRIC_small_fct_p99_us] = small.fct_p99_us;
	metrics[METRIC_small_arrival_p50_us] = small.arrival_p50_us;
	metrics[METRIC_small_arrival_p90_us] = small.arrival_p90_us;
	metrics[METRIC_small_slowdown_p50] = small.slowdown_p50;
	metrics[METRIC_small_slowdown_p95] = small.slowdown_p95;
	metrics[METRIC_small_slowdown_p99] = small.slowdown_p99;
	metrics[METRIC_large_fct_mean_us] = large.fct_mean_us;
	metrics[METRIC_large_slowdown_p50] = large.slowdown_p50;
	metrics[METRIC_large_slowdown_p95] = large.slowdown_p95;
	metrics[METRIC_pattern_fct_mean_us] = pattern.fct_mean_us;
	metrics[METRIC_pattern_arrival_mean_us] = pattern.arrival_mean_us;
	metrics[METRIC_incast_fct_mean_us] = incast.fct_mean_us;
	metrics[METRIC_incast_fct_p99_us] = incast.fct_p99_us;
	metrics[METRIC_incast_fct_p999_us] = incast.fct_p999_us;
	metrics[METRIC_incast_arrival_p999_us] = incast.arrival_p999_us;
	metrics[METRIC_incast_sent_p999_us] = incast.sent_p999_us;
	metrics[METRIC_pattern_sent_mean_us] = pattern.sent_mean_us;
	const struct flow_choice choice = {0, UINT64_MAX, run->warm_up, FLOW_OF_PATTERN, 0};
	experiment->group_count = flow_table_group(experiment->records, experiment->workload->count,
						   &choice, experiment->groups);
	if (experiment->group_count == 0)
		metrics[METRIC_peak_slowdown_p95] = (double)NAN;
	for (unsigned i = 0; i < experiment->group_count; i++) {
		if (experiment->groups[i].slowdown_p95 > metrics[METRIC_peak_slowdown_p95])
			metrics[METRIC_peak_slowdown_p95] = experiment->groups[i].slowdown_p95;
	}
}

/* Includes flows that have begun and are incomplete, because their packets are counted. */
static sim_time first_ready(const struct experiment *experiment)
{
	sim_time first = SIM_NEVER;
	for (uint32_t i = 0; i < experiment->workload->count; i++) {
		const struct flow_record *record = &experiment->records[i];
		if (record->status != FLOW_not_started && record->source != record->destination &&
		    record->ready < first)
			first = record->ready;
	}
	return first < SIM_NEVER ? first : experiment->measured_from;
}

static int compare_ready(const void *one, const void *other)
{
	const struct flow_record *a = *(const struct flow_record *const *)one;
	const struct flow_record *b = *(const struct flow_record *const *)other;
	if (a->ready != b->ready)
		return a->ready < b->ready ? -1 : 1;
	return a->flow < b->flow ? -1 : a->flow > b->flow;
}

/* Returns the length of the union of the times of all flows, each from its post to its end. A trace
 * may begin late and have pauses, in which nothing can be busy. */
static sim_time time_with_flows(const struct experiment *experiment)
{
	uint32_t count = experiment->workload->count, begun = 0;
	const struct flow_record **flows = calloc(count + 1, sizeof(*flows));
	sim_time sum = 0, covered = 0; /* the sum covers all times until here */
	if (!flows)
		abort();
	for (uint32_t i = 0; i < count; i++) {
		const struct flow_record *record = &experiment->records[i];
		bool is_work = record->source != record->destination ||
			       experiment->workload->flows[i].visit;
		if (record->status != FLOW_not_started && is_work)
			flows[begun++] = record;
	}
	qsort(flows, begun, sizeof(*flows), compare_ready);
	for (uint32_t i = 0; i < begun; i++) {
		bool is_over = flows[i]->status >= FLOW_done;
		sim_time from = flows[i]->ready > covered ? flows[i]->ready : covered;
		sim_time until = is_over ? flows[i]->finished : experiment->ended;
		if (until > from) {
			sum += until - from;
			covered = until;
		}
	}
	free(flows);
	return sum;
}

/* Returns true if every flow ended, or was not started because of `post_until`. */
static bool is_over(const struct experiment *experiment)
{
	const struct workload *workload = experiment->workload;
	for (uint32_t i = 0; i < workload->count; i++) {
		enum flow_status status = (enum flow_status)experiment->records[i].status;
		bool stops = workload->parts[workload->flows[i].part].stop != SIM_NEVER;
		if (status < FLOW_done && !workload_is_barrier(&workload->flows[i]) &&
		    !(stops && status == FLOW_not_started))
			return false;
	}
	return true;
}

static void collect_flows(struct experiment *experiment)
{
	struct flow_summary summary = summarise(experiment, 0, UINT64_MAX, FLOW_ALL);
	const struct scenario_run *run = &experiment->scenario->run;
	double waits = 0, *metrics = experiment->metrics;
	for (uint32_t i = 0; i < experiment->workload->count; i++) {
		const struct flow_record *record = &experiment->records[i];
		if (record->status == FLOW_done && record->source != record->destination &&
		    record->ready >= run->warm_up)
			waits += ((double)flow_fct(record) - (double)record->ideal) / (double)US;
	}
	const struct flow_choice all = {.high = UINT64_MAX};
	struct flow_summary whole = summary;
	if (run->warm_up > 0)
		whole = flow_table_summarise(experiment->records, experiment->workload->count,
					     &all);
	metrics[METRIC_flows] = whole.flows;
	metrics[METRIC_flows_done] = whole.done;
	metrics[METRIC_flows_failed] = whole.failed;
	metrics[METRIC_fct_mean_us] = summary.fct_mean_us;
	metrics[METRIC_fct_p50_us] = summary.fct_p50_us;
	metrics[METRIC_fct_p99_us] = summary.fct_p99_us;
	metrics[METRIC_wait_mean_us] = summary.done > 0 ? waits / summary.done : (double)NAN;
	metrics[METRIC_slowdown_mean] = summary.slowdown_mean;
	metrics[METRIC_slowdown_p50] = summary.slowdown_p50;
	metrics[METRIC_slowdown_p95] = summary.slowdown_p95;
	metrics[METRIC_slowdown_p99] = summary.slowdown_p99;
	collect_sizes(experiment);
	bool over = is_over(experiment);
	experiment->ended = over && whole.flows > 0 ? whole.ended : sim_now(experiment->build->sim);
	experiment->worked = time_with_flows(experiment);
	if ((over || run->until == 0) && run->measure_until == 0 && whole.done + whole.stopped > 0)
		experiment->measured_until = whole.stopped > 0 ? whole.ended : whole.last;
	if (run->warm_up == 0)
		experiment->measured_from = first_ready(experiment);
	if (experiment->measured_until < experiment->measured_from) /* all ended in the warm-up */
		experiment->measured_until = experiment->measured_from;
	metrics[METRIC_duration_us] =
		(double)(experiment->measured_until - experiment->measured_from) / (double)US;
}

static void collect_pauses(struct experiment *experiment, double shallow, double deep)
{
	double window = (double)(experiment->measured_until - experiment->measured_from);
	double *metrics = experiment->metrics;
	metrics[METRIC_pause_share] =
		share_of((double)experiment->paused_all, window * experiment->build->port_count);
	metrics[METRIC_pauses_deep_share] = share_of(deep, shallow + deep);
	if (experiment->scenario->record.series == 0) { /* nothing is sampled */
		metrics[METRIC_paused_hosts_max] = metrics[METRIC_paused_hosts_wide] = (double)NAN;
		return;
	}
	metrics[METRIC_paused_hosts_max] =
		share_of((double)experiment->hosts_paused_max, experiment->scenario->host_count);
	metrics[METRIC_paused_hosts_wide] =
		share_of((double)experiment->samples_wide, (double)experiment->samples_paused);
}

static void collect_hca(struct experiment *experiment, uint32_t host)
{
	const struct build *build = experiment->build;
	double *metrics = experiment->metrics;
	if (!build->endpoint_hcas[host]) {
		metrics[METRIC_packets_retransmitted] +=
			(double)drops_counted(build, host, "transport.packets_retransmitted");
		metrics[METRIC_timeouts] +=
			(double)drops_counted(build, host, "transport.local_ack_timeouts");
		metrics[METRIC_out_of_order] +=
			(double)drops_counted(build, host, "transport.out_of_sequence");
		metrics[METRIC_cnps] +=
			(double)drops_counted(build, host, "congestion.cnp_received");
		return;
	}
	const struct endpoint_counters *counters = endpoint_counters(build->endpoint_hcas[host]);
	metrics[METRIC_packets_retransmitted] += (double)counters->packets_retransmitted;
	metrics[METRIC_timeouts] += (double)counters->local_ack_timeouts;
	metrics[METRIC_out_of_order] += (double)counters->out_of_sequence;
	metrics[METRIC_cnps] += (double)counters->cnp_received;
	const struct endpoint_tcp_counters *tcp = endpoint_tcp_counters(build->endpoint_hcas[host]);
	metrics[METRIC_timeouts] += tcp ? (double)tcp->timeouts : 0;
	metrics[METRIC_out_of_order] += tcp ? (double)tcp->out_of_order : 0;
}

static double sum_of(const struct connection_memory *memory)
{
	return (double)(memory->state_bytes + memory->ring_bytes + memory->held_bytes);
}

/* Connections of the host that has the most memory for them. */
static void collect_connections(struct experiment *experiment)
{
	const struct build *build = experiment->build;
	double *metrics = experiment->metrics, count;
	struct connection_memory most = {.connections = 0};
	for (uint32_t i = 0; i < build->scenario->host_count; i++) {
		if (!build->endpoint_hcas[i])
			continue;
		struct connection_memory memory = connection_memory_of(build->endpoint_hcas[i]);
		if (sum_of(&memory) > sum_of(&most))
			most = memory;
	}
	count = (double)most.connections;
	metrics[METRIC_connections] = count;
	metrics[METRIC_connection_state_bytes] = share_of((double)most.state_bytes, count);
	metrics[METRIC_connection_ring_bytes] = share_of((double)most.ring_bytes, count);
	metrics[METRIC_connection_held_bytes] = share_of((double)most.held_bytes, count);
	metrics[METRIC_connection_bytes] = share_of(sum_of(&most), count);
}

static double joined_after_us(const struct experiment *experiment)
{
	sim_time time = experiment->flow_series ? flow_series_joined_after(experiment->flow_series)
						: SIM_NEVER;

	return time == SIM_NEVER ? (double)NAN : (double)time / (double)US;
}

void experiment_collect(struct experiment *experiment)
{
	const struct build *build = experiment->build;
	double *metrics = experiment->metrics;
	collect_flows(experiment);
	collect_rates(experiment);
	for (uint32_t i = 0; i < build->port_count; i++) {
		const struct port *port = build->ports[i];
		metrics[METRIC_packets_sent] += (double)port_counters(port)->packets_sent;
		metrics[METRIC_pauses] += (double)port_counters(port)->pause_sent;
		metrics[METRIC_pause_us] += (double)experiment_paused_time(port) / (double)US;
	}
	metrics[METRIC_drops] = (double)drops_of_all(build);
	double pauses = 0, deep = 0;
	for (uint32_t i = 0; i < build->scenario->switch_count; i++) {
		const struct switch_counters *counters = switch_counters(build->switches[i]);
		pauses += (double)(counters->pauses_depth1 + counters->pauses_depth2);
		deep += (double)(counters->pauses_depth3 + counters->pauses_depth4);
		metrics[METRIC_ecn_marks] += (double)counters->ecn_marks;
		metrics[METRIC_reroutes] += (double)counters->reroutes;
		metrics[METRIC_reorder_packets] += (double)counters->reorder_packets;
		if ((double)counters->reorder_packets_max > metrics[METRIC_reorder_packets_max])
			metrics[METRIC_reorder_packets_max] = (double)counters->reorder_packets_max;
	}
	for (uint32_t i = 0; i < build->scenario->host_count; i++)
		collect_hca(experiment, i);
	collect_connections(experiment);
	metrics[METRIC_deadlocks] = experiment->deadlock.count > 0;
	collect_pauses(experiment, pauses, deep);
	metrics[METRIC_queue_p50_bytes] = experiment_queue_quantile(experiment, 0.5);
	metrics[METRIC_joined_after_us] = joined_after_us(experiment);
	metrics[METRIC_queue_p95_bytes] = experiment_queue_quantile(experiment, 0.95);
	metrics[METRIC_queue_p99_bytes] = experiment_queue_quantile(experiment, 0.99);
	experiment_workloads_collect(experiment);
	experiment_storage_collect(experiment);
	metrics[METRIC_lossless_drops] = (double)experiment_lossless_drops(experiment);
	if (experiment->scenario->record.series == 0)
		metrics[METRIC_queue_max_bytes] = (double)NAN;
	for (uint32_t i = 0; i < experiment->sample_count; i++) {
		if ((double)experiment->samples[i].queue_max > metrics[METRIC_queue_max_bytes])
			metrics[METRIC_queue_max_bytes] = (double)experiment->samples[i].queue_max;
	}
}
