/* SPDX-License-Identifier: Apache-2.0 */
/* experiment_workloads: combines the workloads of a scenario, and computes the metrics of each
 * workload. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hcasim/run/experiment_state.h"

static void *take(size_t count, size_t bytes)
{
	void *memory = calloc(count + 1, bytes);
	if (!memory)
		abort();
	return memory;
}

static bool starts_with(const char *text, const char *path)
{
	return path && strncmp(text, path, strlen(path)) == 0;
}

/* Prepends the file position of an error. The first word of `error` is the parameter; otherwise the
 * error is in the file, or in the pattern. */
static void blame(const struct scenario *scenario, const struct scenario_workload *workload,
		  char *error, size_t error_bytes)
{
	char path[128];
	const struct param *param = workload_param_list;
	size_t length = strcspn(error, ":");
	while (param->name &&
	       !(strlen(param->name) == length && strncmp(param->name, error, length) == 0))
		param++;
	bool is_storage = starts_with(error, "storage.") || starts_with(error, "initiators") ||
			  starts_with(error, "targets");
	snprintf(path, sizeof(path), "%s%s.%.*s", workload->name ? "workloads." : "workload",
		 workload->name ? workload->name : "", is_storage ? (int)length : 64,
		 is_storage                                ? error
		 : param->name                             ? param->name
		 : starts_with(error, workload->files.cdf) ? "cdf"
		 : starts_with(error, workload->files.trace) || starts_with(error, "trace")
			 ? "trace"
			 : "pattern");
	scenario_blame(scenario, path, error, error_bytes);
}

static struct workload *make(const struct build *build, const struct scenario_workload *workload,
			     char *error, size_t error_bytes)
{
	const struct scenario *scenario = build->scenario;
	struct workload *made = workload_create(
		&workload->params, workload->host_count,
		port_rate_bps(build_host_port(build, workload->hosts[0])),
		scenario_workload_seed(scenario, workload), &workload->files, error, error_bytes);
	if (!made)
		blame(scenario, workload, error, error_bytes);
	return made;
}

struct workload *experiment_workloads_create(const struct build *build, char *error,
					     size_t error_bytes)
{
	const struct scenario *scenario = build->scenario;
	if (!scenario->has_workloads)
		return make(build, &scenario->workloads[0], error, error_bytes);
	struct workload_member members[WORKLOAD_PARTS_MAX];
	for (uint32_t i = 0; i < scenario->workload_count; i++) {
		const struct scenario_workload *workload = &scenario->workloads[i];
		members[i] = (struct workload_member){make(build, workload, error, error_bytes),
						      workload->hosts};
		if (members[i].workload)
			continue;
		while (i-- > 0)
			workload_destroy(members[i].workload);
		return NULL;
	}
	return workload_join(members, scenario->workload_count, scenario->host_count);
}

void experiment_workloads_parts(const struct scenario *scenario,
				struct flow_driver_part parts[WORKLOAD_PARTS_MAX])
{
	for (uint32_t i = 0; i < scenario->workload_count; i++) {
		const struct scenario_workload *workload = &scenario->workloads[i];
		parts[i] = (struct flow_driver_part){
			.params = &workload->posting,
			.congestion = workload->congestion.congestion.ops
					      ? &workload->congestion.congestion
					      : NULL};
	}
}

const char **experiment_workloads_names(const struct scenario *scenario)
{
	if (!scenario->has_workloads)
		return NULL;
	const char **names = take(scenario->workload_count, sizeof(*names));
	for (uint32_t i = 0; i < scenario->workload_count; i++)
		names[i] = scenario->workloads[i].name;
	return names;
}

/* ---- figures ---- */

/* Adds the bytes of each queue pair that arrived while measured. */
static void collect_rates(const struct experiment *experiment, uint32_t part, const bool *first,
			  double *metrics)
{
	double window = (double)experiment_window(experiment), sum = 0, squares = 0, count = 0;
	for (uint32_t i = 0; i < experiment->workload->count; i++) {
		if (!first[i] || experiment->workload->flows[i].part != part)
			continue;
		double bytes = (double)experiment->arrived[i];
		sum += bytes;
		squares += bytes * bytes;
		count++;
	}
	metrics[WORKLOAD_METRIC_goodput_gbps] = window > 0 ? sum * 8e3 / window : (double)NAN;
	metrics[WORKLOAD_METRIC_jain] = squares > 0 ? sum * sum / (count * squares) : (double)NAN;
}

static void collect_flows(const struct experiment *experiment, uint32_t part, double *metrics)
{
	const struct flow_choice all = {.high = UINT64_MAX, .part = part + 1};
	struct flow_choice measured = all;
	measured.from = experiment->scenario->run.warm_up;
	struct flow_summary whole =
		flow_table_summarise(experiment->records, experiment->workload->count, &all);
	struct flow_summary times =
		flow_table_summarise(experiment->records, experiment->workload->count, &measured);
	metrics[WORKLOAD_METRIC_flows] = whole.flows;
	metrics[WORKLOAD_METRIC_flows_done] = whole.done;
	metrics[WORKLOAD_METRIC_flows_failed] = whole.failed;
	metrics[WORKLOAD_METRIC_flows_stopped] = whole.stopped;
	metrics[WORKLOAD_METRIC_fct_mean_us] = times.fct_mean_us;
	metrics[WORKLOAD_METRIC_fct_p50_us] = times.fct_p50_us;
	metrics[WORKLOAD_METRIC_fct_p95_us] = times.fct_p95_us;
	metrics[WORKLOAD_METRIC_fct_p99_us] = times.fct_p99_us;
	metrics[WORKLOAD_METRIC_fct_p999_us] = times.fct_p999_us;
	metrics[WORKLOAD_METRIC_slowdown_mean] = times.slowdown_mean;
	metrics[WORKLOAD_METRIC_slowdown_p50] = times.slowdown_p50;
	metrics[WORKLOAD_METRIC_slowdown_p95] = times.slowdown_p95;
	metrics[WORKLOAD_METRIC_slowdown_p99] = times.slowdown_p99;
	metrics[WORKLOAD_METRIC_slowdown_p999] = times.slowdown_p999;
}

void experiment_workloads_collect(struct experiment *experiment)
{
	const struct scenario *scenario = experiment->scenario;
	if (!scenario->has_workloads)
		return;
	bool *first = experiment_first_flows(experiment);
	experiment->workload_metrics =
		take(scenario->workload_count, sizeof(*experiment->workload_metrics));
	for (uint32_t i = 0; i < scenario->workload_count; i++) {
		collect_rates(experiment, i, first, experiment->workload_metrics[i]);
		collect_flows(experiment, i, experiment->workload_metrics[i]);
	}
	free(first);
}

double experiment_workload_metric(const struct experiment *experiment, uint32_t workload,
				  enum workload_metric metric)
{
	return experiment->workload_metrics[workload][metric];
}

uint32_t experiment_workloads_find(const struct scenario *scenario, const char *name)
{
	for (uint32_t i = 0; scenario->has_workloads && i < scenario->workload_count; i++)
		if (strcmp(scenario->workloads[i].name, name) == 0)
			return i;
	return EXPERIMENT_NO_WORKLOAD;
}

bool experiment_workloads_knows(const struct scenario *scenario, const char *owner,
				const char *metric, char *error, size_t error_bytes)
{
	if (!scenario->has_workloads) {
		snprintf(error, error_bytes,
			 "%s.%s is a metric of one of several workloads; the scenario has no "
			 "section workloads",
			 owner, metric);
		return false;
	}
	if (experiment_workloads_find(scenario, owner) != EXPERIMENT_NO_WORKLOAD)
		return true;
	const char **names = experiment_workloads_names(scenario);
	const char *near = yaml_suggest(owner, names, scenario->workload_count);
	snprintf(error, error_bytes, "no workload \"%s\"; %s \"%s\"%s", owner,
		 near ? "did you mean" : "expected a name such as", near ? near : names[0],
		 near ? "?" : "");
	free(names);
	return false;
}

/* Prints for each workload the lines that the whole run has. */
void experiment_workloads_print(const struct experiment *experiment, FILE *out)
{
	const struct scenario *scenario = experiment->scenario;
	for (uint32_t i = 0; scenario->has_workloads && i < scenario->workload_count; i++) {
		const double *f = experiment->workload_metrics[i];
		fprintf(out, "workload   %s: flows %.0f, done %.0f, failed %.0f",
			scenario->workloads[i].name, f[WORKLOAD_METRIC_flows],
			f[WORKLOAD_METRIC_flows_done], f[WORKLOAD_METRIC_flows_failed]);
		if (f[WORKLOAD_METRIC_flows_stopped] > 0)
			fprintf(out, ", stopped %.0f", f[WORKLOAD_METRIC_flows_stopped]);
		if (!isnan(f[WORKLOAD_METRIC_goodput_gbps]))
			fprintf(out, ", goodput %.3f Gb/s", f[WORKLOAD_METRIC_goodput_gbps]);
		if (f[WORKLOAD_METRIC_flows_done] > 0 && isnan(f[WORKLOAD_METRIC_fct_p50_us]))
			fputs(", FCT none: no flow that is done was ready after run.warm_up", out);
		else if (f[WORKLOAD_METRIC_flows_done] > 0)
			fprintf(out, ", FCT p50 %.3f us, p99 %.3f us, slowdown p99 %.3f",
				f[WORKLOAD_METRIC_fct_p50_us], f[WORKLOAD_METRIC_fct_p99_us],
				f[WORKLOAD_METRIC_slowdown_p99]);
		fputc('\n', out);
	}
}
