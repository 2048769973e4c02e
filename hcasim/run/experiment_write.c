/* SPDX-License-Identifier: Apache-2.0 */
/*
 * experiment_write: flows.csv, series.csv, links.csv, switches.csv, and the summary for a reader.
 * docs/reference/scenario.md names all columns.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "hca/endpoint/endpoint.h"
#include "hcasim/run/bounds.h"
#include "hcasim/run/drops.h"
#include "hcasim/run/experiment_state.h"
#include "hcasim/run/line_file.h"
#include "sim/counters.h"
#include "sim/json.h"
#include "switch/switch.h"
#include "traffic/workload/flow_bins.h"

void experiment_write_flows(const struct experiment *experiment, FILE *out)
{
	flow_table_write(experiment->records, experiment->workload->count,
			 experiment->workload_names, out);
}

void experiment_write_groups(const struct experiment *experiment, FILE *out)
{
	flow_table_write_groups(experiment->groups, experiment->group_count, out);
}

bool experiment_write_flow_series(const struct experiment *experiment, FILE *out)
{
	return !experiment->flow_series || flow_series_write(experiment->flow_series, out);
}

bool experiment_write_queue_series(const struct experiment *experiment, FILE *out)
{
	return !experiment->queues || queue_record_write_series(experiment->queues, out);
}

void experiment_write_queues(const struct experiment *experiment, FILE *out)
{
	if (experiment->queues)
		queue_record_write_statistics(experiment->queues, out);
}

void experiment_write_bins(const struct experiment *experiment, FILE *out)
{
	const struct scenario_run *run = &experiment->scenario->run;
	flow_bins_write(experiment->records, experiment->workload->count, &run->bins, run->warm_up,
			experiment->workload_names, out);
}

bool experiment_write_series(const struct experiment *experiment, FILE *out)
{
	return !experiment->series || line_file_copy(experiment->series, out);
}

/* Returns the share of a port's rate until the end of the last flow, or of a later packet. */
static double utilisation(const struct build *build, const struct port *port, sim_time ended)
{
	sim_time last = port_busy_until(port), now = sim_now(build->sim);
	last = last > now ? now : last;
	last = last > ended ? last : ended;
	return last > 0 ? (double)port_bytes_out(port) * 8e12 / (double)last /
				  (double)port_rate_bps(port)
			: 0;
}

void experiment_write_links(const struct build *build, sim_time ended, FILE *out)
{
	fprintf(out, "port,peer,rate_gbps,packets,bytes,utilisation,paused_us,pauses_sent,"
		     "pauses_received,credit_stalls");
	drops_write_columns(out);
	fputc('\n', out);
	for (uint32_t i = 0; i < build->port_count; i++) {
		const struct port *port = build->ports[i];
		const struct port_counters *counters = port_counters(port);
		fprintf(out,
			"%s,%s,%.6f,%" PRIu64 ",%" PRIu64 ",%.6f,%.6f,%" PRIu64 ",%" PRIu64
			",%" PRIu64,
			port_name(port), port_name(port_peer(port)),
			(double)port_rate_bps(port) / 1e9, counters->packets_sent,
			counters->bytes_sent, utilisation(build, port, ended),
			(double)experiment_paused_time(port) / (double)US, counters->pause_sent,
			counters->pause_received, counters->credit_stalls);
		drops_write_port(build, port, out);
		fputc('\n', out);
	}
}

void experiment_write_switches(const struct build *build, FILE *out)
{
	fputs("switch", out);
#define COLUMN(name, unit, meaning) fprintf(out, ",%s", #name);
	SWITCH_COUNTERS(COLUMN)
#undef COLUMN
	fputc('\n', out);
	for (uint32_t i = 0; i < build->scenario->switch_count; i++) {
		const struct switch_counters *counters = switch_counters(build->switches[i]);
		fputs(build->scenario->switches[i].name, out);
#define VALUE(name, unit, meaning) fprintf(out, ",%" PRIu64, counters->name);
		SWITCH_COUNTERS(VALUE)
#undef VALUE
		fputc('\n', out);
	}
}

/* Prints the number of flows that the times cover, unless they cover all flows. */
static void print_left_out(const double *f, FILE *out)
{
	double done = f[METRIC_flows_done], failed = f[METRIC_flows_failed];
	double under_way = f[METRIC_flows] - done - failed; /* stopped ones included */
	if (failed == 0 && under_way == 0)
		return;
	fprintf(out, "times      of the %.0f flows done;", done);
	if (failed > 0)
		fprintf(out, " %.0f that failed%s", failed, under_way > 0 ? " and" : "");
	if (under_way > 0)
		fprintf(out, " %.0f that were incomplete", under_way);
	fputs(" are omitted\n", out);
}

/* Returns a counter of a detailed adapter's congestion control. */
static uint64_t counted(const struct build *build, uint32_t host, const char *counter)
{
	char name[256];
	snprintf(name, sizeof(name), "%s.hca.congestion.%s", build->scenario->hosts[host].name,
		 counter);
	const uint64_t *count = counters_find(build->sim, name);
	return count ? *count : 0; /* 0: no congestion control */
}

/* Prints a warning if base_rtt of congestion control is below the round-trip time of an idle
 * path. */
static void print_base_rtt(const struct build *build, FILE *out)
{
	uint64_t low = 0, longest = 0;
	for (uint32_t i = 0; i < build->scenario->host_count; i++) {
		const struct endpoint_hca *hca = build->endpoint_hcas[i];
		uint64_t rtt = hca ? endpoint_counters(hca)->empty_rtt_max
				   : counted(build, i, "empty_rtt_max");
		low += hca ? endpoint_counters(hca)->base_rtt_low
			   : counted(build, i, "base_rtt_low");
		longest = rtt > longest ? rtt : longest;
	}
	if (low > 0)
		fprintf(out,
			"base_rtt   below the round-trip time on the idle path of %" PRIu64
			" queue pairs, which is up to %.3f us; expected auto, or at least this "
			"time\n",
			low, (double)longest / (double)US);
}

void experiment_print_skipped(const struct experiment *experiment, FILE *out)
{
	fast_forward_print_json(experiment->forward, out);
}

void experiment_print_ignored(const struct experiment *experiment, FILE *out)
{
	if (!experiment->workload->ignored)
		return;
	fputs(",\n  \"ignored\": ", out);
	json_text(out, experiment->workload->ignored);
}

void experiment_print(const struct experiment *experiment, FILE *out)
{
	const double *f = experiment->metrics;
	fprintf(out, "flows      %.0f, done %.0f, failed %.0f in %.3f us\n", f[METRIC_flows],
		f[METRIC_flows_done], f[METRIC_flows_failed], f[METRIC_duration_us]);
	if (isnan(f[METRIC_goodput_gbps]))
		fputs("goodput    none: all flows ended before run.warm_up\n", out);
	else if (isnan(f[METRIC_jain]))
		fprintf(out, "goodput    %.3f Gb/s\n", f[METRIC_goodput_gbps]);
	else
		fprintf(out, "goodput    %.3f Gb/s, Jain's index %.4f\n", f[METRIC_goodput_gbps],
			f[METRIC_jain]);
	if (f[METRIC_flows_done] > 0 && isnan(f[METRIC_fct_mean_us])) {
		fputs("FCT        none: no flow that is done was ready after run.warm_up\n", out);
	} else if (f[METRIC_flows_done] > 0) {
		fprintf(out, "FCT        mean %.3f us, p50 %.3f us, p99 %.3f us\n",
			f[METRIC_fct_mean_us], f[METRIC_fct_p50_us], f[METRIC_fct_p99_us]);
		fprintf(out, "slowdown   mean %.3f, p50 %.3f, p95 %.3f, p99 %.3f\n",
			f[METRIC_slowdown_mean], f[METRIC_slowdown_p50], f[METRIC_slowdown_p95],
			f[METRIC_slowdown_p99]);
		print_left_out(f, out);
	}
	if (experiment->workload->ignored)
		fprintf(out, "ignored    %s\n", experiment->workload->ignored);
	experiment_workloads_print(experiment, out);
	experiment_storage_print(experiment, out);
	fprintf(out, "packets    %.0f hops, %.0f retransmitted, %.0f timeouts\n",
		f[METRIC_packets_sent], f[METRIC_packets_retransmitted], f[METRIC_timeouts]);
	fprintf(out, "drops      %.0f", f[METRIC_drops]);
	drops_print(experiment->build, out);
	fputc('\n', out);
	fprintf(out, "pauses     %.0f frames, %.3f us paused\n", f[METRIC_pauses],
		f[METRIC_pause_us]);
	fprintf(out, "marks      %.0f, %.0f CNPs\n", f[METRIC_ecn_marks], f[METRIC_cnps]);
	if (f[METRIC_reroutes] > 0)
		fprintf(out,
			"reroutes   %.0f, %.0f packets in reorder queues, %.0f of one flow, %.0f "
			"out of order\n",
			f[METRIC_reroutes], f[METRIC_reorder_packets],
			f[METRIC_reorder_packets_max], f[METRIC_out_of_order]);
	print_base_rtt(experiment->build, out);
	fast_forward_print(experiment->forward, out);
	struct bottleneck bottleneck = bottleneck_find(experiment->build->sim, experiment->worked);
	bottleneck_print_line(&bottleneck, out);
	struct bounds bounds = bounds_find(experiment->build->sim, experiment->worked, NULL);
	bounds_print_line(&bounds, out);
	if (experiment->deadlock.count > 0)
		fprintf(out, "deadlock   %u buffers in a cycle\n", experiment->deadlock.count);
}
