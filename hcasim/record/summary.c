/* SPDX-License-Identifier: Apache-2.0 */
/* summary: see summary.h. */
#include "hcasim/record/summary.h"

#include <inttypes.h>
#include <math.h>

#include "hcasim/run/bounds.h"
#include "sim/json.h"

/* JSON knows no NaN. */
static void print_number(double value, FILE *out)
{
	if (isfinite(value))
		fprintf(out, "%.9g", value);
	else
		fprintf(out, "null");
}

static void print_expectations(const struct build *build, const struct result_outcome *outcome,
			       FILE *out)
{
	const struct scenario *scenario = build->scenario;
	fprintf(out, ",\n  \"expectations\": [");
	for (uint32_t i = 0; i < scenario->expectation_count; i++) {
		const struct scenario_expectation *expectation = &scenario->expectations[i];
		char error[256];
		double value = 0;
		bool known;
		bool met = result_judge(build, outcome, expectation, &value, &known, error,
					sizeof(error));
		fprintf(out, "%s\n    {\"%s\": ", i > 0 ? "," : "",
			expectation->metric ? "metric" : "counter");
		json_text(out, expectation->metric ? expectation->metric : expectation->counter);
		fprintf(out, ", \"value\": ");
		if (expectation->metric)
			print_number(value, out);
		else
			fprintf(out, "%" PRIu64, (uint64_t)value);
		if (expectation->row) {
			fprintf(out, ", \"row\": ");
			json_text(out, expectation->row);
		}
		fprintf(out, ", \"met\": %s}", met ? "true" : "false");
	}
	fprintf(out, "%s]", scenario->expectation_count > 0 ? "\n  " : "");
}

static sim_time measured(const struct result_outcome *outcome)
{
	if (outcome->load)
		return outcome->load->window;
	return outcome->experiment ? experiment_window(outcome->experiment) : 0;
}

/* Prints the metrics of operations, behind other metrics of the same map. */
static void print_storage(const struct result_outcome *outcome, uint32_t workload,
			  const char *indent, FILE *out)
{
	for (int i = 0; metric_storage_list[i].name; i++) {
		fprintf(out, ",\n%s\"%s\": ", indent, metric_storage_list[i].name);
		print_number(experiment_storage_metric(outcome->experiment, workload,
						       (enum storage_metric)i),
			     out);
	}
}

static void print_metrics(const struct result_outcome *outcome, FILE *out)
{
	const struct metric_info *list = outcome->load ? metric_load_list : metric_list;
	if (!outcome->load && !outcome->experiment)
		return;
	fprintf(out, ",\n  \"metrics\": {");
	for (int i = 0; list[i].name; i++) {
		fprintf(out, "%s\n    \"%s\": ", i > 0 ? "," : "", list[i].name);
		print_number(outcome->load ? metric_of_load(outcome->load, i)
					   : experiment_metric(outcome->experiment, (enum metric)i),
			     out);
	}
	if (outcome->experiment && experiment_has_storage(outcome->experiment))
		print_storage(outcome, EXPERIMENT_NO_WORKLOAD, "    ", out);
	fprintf(out, "\n  }");
}

/* Prints the metrics of each of several workloads, by name. */
static void print_workloads(const struct build *build, const struct result_outcome *outcome,
			    FILE *out)
{
	const struct scenario *scenario = build->scenario;
	if (!outcome->experiment || !scenario->has_workloads)
		return;
	fprintf(out, ",\n  \"workloads\": {");
	for (uint32_t i = 0; i < scenario->workload_count; i++) {
		fprintf(out, "%s\n    ", i > 0 ? "," : "");
		json_text(out, scenario->workloads[i].name);
		fputs(": {", out);
		for (int k = 0; metric_workload_list[k].name; k++) {
			fprintf(out, "%s\n      \"%s\": ", k > 0 ? "," : "",
				metric_workload_list[k].name);
			print_number(experiment_workload_metric(outcome->experiment, i,
								(enum workload_metric)k),
				     out);
		}
		if (scenario->workloads[i].params.pattern == PATTERN_storage)
			print_storage(outcome, i, "      ", out);
		fprintf(out, "\n    }");
	}
	fprintf(out, "\n  }");
}

/* Prints the processor time of each program. */
static void print_cpu(const struct build *build, FILE *out)
{
	static const char *const names[] = {
#define KIND_NAME(name, mode, meaning) #name,
		CPU_KINDS(KIND_NAME)};
	if (!build->session || session_cpu_count(build->session) == 0)
		return;
	fprintf(out, ",\n  \"cpu\": [");
	for (uint32_t i = 0; i < session_cpu_count(build->session); i++) {
		struct session_cpu cpu = session_cpu_of(build->session, i);
		if (*cpu.program == '[' && cpu.time->total == 0)
			continue;
		fprintf(out, "%s\n    {\"host\": ", i > 0 ? "," : "");
		json_text(out, build->scenario->hosts[cpu.host].name);
		fprintf(out, ", \"program\": ");
		json_text(out, cpu.program);
		fprintf(out,
			", \"cpu_ps\": %" PRIu64 ", \"system_ps\": %" PRIu64 ", \"kinds_ps\": {",
			cpu.time->total, cpu_time_system(cpu.time));
		for (unsigned kind = 0; kind < CPU_KIND_COUNT; kind++)
			fprintf(out, "%s\"%s\": %" PRIu64, kind ? ", " : "", names[kind],
				cpu.time->kinds[kind]);
		fputs("}}", out);
	}
	fprintf(out, "\n  ]");
}

void summary_print(const struct build *build, const struct result_outcome *outcome,
		   const uint64_t *packets, FILE *out)
{
	fprintf(out,
		"{\n  \"seed\": %" PRIu64 ",\n  \"time_ps\": %" PRIu64
		",\n  \"measured_ps\": %" PRIu64 ",\n  \"events\": %" PRIu64,
		build->scenario->seed, result_ended(build, outcome), measured(outcome),
		sim_events_fired(build->sim));
	if (packets)
		fprintf(out, ",\n  \"packets_recorded\": %" PRIu64, *packets);
	fprintf(out, ",\n  \"exit_code\": %d,\n  \"trace_hash\": \"%016" PRIx64 "\"",
		outcome->exit_code, outcome->trace_hash);
	fprintf(out, ",\n  ");
	violations_print_json(&outcome->violations, out);
	if (outcome->experiment) {
		experiment_print_skipped(outcome->experiment, out);
		experiment_print_ignored(outcome->experiment, out);
	}
	print_metrics(outcome, out);
	print_workloads(build, outcome, out);
	struct bottleneck bottleneck = bottleneck_find(build->sim, result_worked(build, outcome));
	fprintf(out, ",\n  ");
	bottleneck_print_json(&bottleneck, out);
	fprintf(out, ",\n  ");
	struct bounds bounds = bounds_find(build->sim, result_worked(build, outcome),
					   build->load ? load_window(build->load) : NULL);
	bounds_print_json(&bounds, out);
	print_cpu(build, out);
	print_expectations(build, outcome, out);
	fprintf(out, "\n}\n");
}
