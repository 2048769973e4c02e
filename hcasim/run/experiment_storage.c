/* SPDX-License-Identifier: Apache-2.0 */
/* experiment_storage: the metrics of operations of pattern storage, and operations.csv. */
#include <assert.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "hcasim/run/experiment_state.h"

enum kind { KIND_ALL, KIND_READ, KIND_WRITE, KIND_COUNT };

static const struct flow_record *first_of(const struct experiment *experiment,
					  const struct workload_io *io)
{
	return &experiment->records[io->first];
}

static const struct flow_record *last_of(const struct experiment *experiment,
					 const struct workload_io *io)
{
	return &experiment->records[io->last];
}

static bool is_done(const struct experiment *experiment, const struct workload_io *io)
{
	return last_of(experiment, io)->status == FLOW_done;
}

/* An operation with a failed message never ends, unless the message arrived and only its ACKs were
 * lost. */
static bool has_failed(const struct experiment *experiment, const struct workload_io *io)
{
	if (is_done(experiment, io))
		return false;
	for (uint32_t i = io->first; i <= io->last; i++)
		if (experiment->records[i].status == FLOW_failed)
			return true;
	return false;
}

static double latency_us(const struct experiment *experiment, const struct workload_io *io)
{
	return (double)(last_of(experiment, io)->finished - first_of(experiment, io)->ready) /
	       (double)US;
}

/* The operations of one part of the workload, or of all parts, and the time of their measurement.
 */
struct choice {
	const struct experiment *experiment;
	uint32_t part; /* EXPERIMENT_NO_WORKLOAD: all */
	sim_time from, until;
};

static bool is_chosen(const struct choice *choice, const struct workload_io *io)
{
	return choice->part == EXPERIMENT_NO_WORKLOAD || io->part == choice->part;
}

/* The measurement begins with the first operation if there is no warm-up, and ends with the last
 * one if the scenario sets no end, or if the last one is done before that end. */
static void choose_window(struct choice *choice)
{
	const struct experiment *experiment = choice->experiment;
	const struct scenario_run *run = &experiment->scenario->run;
	const struct workload *workload = experiment->workload;
	sim_time begin = SIM_NEVER, end = 0;
	bool over = true;
	for (uint32_t i = 0; i < workload->io_count; i++) {
		const struct workload_io *io = &workload->ios[i];
		const struct flow_record *first = first_of(experiment, io);
		if (!is_chosen(choice, io) || first->status == FLOW_not_started)
			continue;
		begin = first->ready < begin ? first->ready : begin;
		if (!is_done(experiment, io))
			over = false;
		else if (last_of(experiment, io)->finished > end)
			end = last_of(experiment, io)->finished;
	}
	choice->from = run->warm_up > 0 ? run->warm_up : begin;
	choice->until = run->measure_until > 0    ? run->measure_until
			: over || run->until == 0 ? end
						  : run->until;
}

static void collect_latency(double *sorted, size_t count, double *metrics)
{
	static const double shares[] = {0.5, 0.95, 0.99, 0.999};
	metrics[0] = count > 0 ? gsl_stats_mean(sorted, 1, count) : (double)NAN;
	gsl_sort(sorted, 1, count);
	for (size_t i = 0; i < ARRAY_SIZE(shares); i++)
		metrics[i + 1] =
			count > 0 ? gsl_stats_quantile_from_sorted_data(sorted, 1, count, shares[i])
				  : (double)NAN;
}

/* Calculates rate, data and latency of the operations of a kind. The latency is that of operations
 * that begin during the measurement. */
static void collect_kind(const struct choice *choice, enum kind kind, double *values,
			 double *metrics)
{
	static const struct {
		enum storage_metric iops, data, latency; /* latency: the first of five */
	} places[KIND_COUNT] = {
		{STORAGE_METRIC_iops, STORAGE_METRIC_data_gbps, STORAGE_METRIC_latency_mean_us},
		{STORAGE_METRIC_read_iops, STORAGE_METRIC_read_data_gbps,
		 STORAGE_METRIC_read_latency_mean_us},
		{STORAGE_METRIC_write_iops, STORAGE_METRIC_write_data_gbps,
		 STORAGE_METRIC_write_latency_mean_us},
	};
	const struct experiment *experiment = choice->experiment;
	const struct workload *workload = experiment->workload;
	double done = 0, bytes = 0;
	size_t count = 0;
	for (uint32_t i = 0; i < workload->io_count; i++) {
		const struct workload_io *io = &workload->ios[i];
		if (!is_chosen(choice, io) || !is_done(experiment, io) ||
		    (kind != KIND_ALL && io->write != (kind == KIND_WRITE)))
			continue;
		sim_time finished = last_of(experiment, io)->finished;
		if (finished > choice->from && finished <= choice->until) {
			done++;
			bytes += io->bytes;
		}
		if (first_of(experiment, io)->ready >= choice->from)
			values[count++] = latency_us(experiment, io);
	}
	double seconds = choice->until > choice->from
				 ? (double)(choice->until - choice->from) / (double)SEC
				 : 0;
	metrics[places[kind].iops] = seconds > 0 ? done / seconds : 0;
	metrics[places[kind].data] = seconds > 0 ? bytes * 8e-9 / seconds : 0;
	collect_latency(values, count, &metrics[places[kind].latency]);
}

/* Means over the operations done. They are NaN if there are none. */
static void collect_uses(const struct choice *choice, double *metrics)
{
	const struct workload *workload = choice->experiment->workload;
	double initiator = 0, target = 0, messages = 0, bytes = 0, done = 0, all = 0;
	double failed = 0;
	for (uint32_t i = 0; i < workload->io_count; i++) {
		const struct workload_io *io = &workload->ios[i];
		if (!is_chosen(choice, io))
			continue;
		all++;
		failed += has_failed(choice->experiment, io);
		if (!is_done(choice->experiment, io))
			continue;
		struct storage_use use = storage_use_of(workload, io);
		initiator += (double)use.initiator_cpu / (double)US;
		target += (double)use.target_cpu / (double)US;
		messages += (double)use.messages;
		bytes += (double)use.message_bytes;
		done++;
	}
	metrics[STORAGE_METRIC_operations] = all;
	metrics[STORAGE_METRIC_operations_done] = done;
	metrics[STORAGE_METRIC_operations_failed] = failed;
	metrics[STORAGE_METRIC_initiator_cpu_us] = initiator / done;
	metrics[STORAGE_METRIC_target_cpu_us] = target / done;
	metrics[STORAGE_METRIC_cpu_us] = (initiator + target) / done;
	metrics[STORAGE_METRIC_operation_messages] = messages / done;
	metrics[STORAGE_METRIC_operation_message_bytes] = bytes / done;
}

/* Returns the bytes of the packets of all hosts, whatever workload the packets belong to. */
static double wire_bytes(const struct experiment *experiment)
{
	const struct build *build = experiment->build;
	double bytes = 0;
	for (uint32_t i = 0; i < build->scenario->host_count; i++)
		bytes += (double)port_counters(build_host_port(build, i))->bytes_sent;
	return bytes;
}

static void collect(const struct experiment *experiment, uint32_t part, double *metrics)
{
	struct choice choice = {.experiment = experiment, .part = part};
	double *values = calloc((size_t)experiment->workload->io_count + 1, sizeof(*values));
	if (!values)
		abort();
	choose_window(&choice);
	for (enum kind kind = KIND_ALL; kind < KIND_COUNT; kind++)
		collect_kind(&choice, kind, values, metrics);
	collect_uses(&choice, metrics);
	double done = metrics[STORAGE_METRIC_operations_done];
	metrics[STORAGE_METRIC_operation_wire_bytes] = part == EXPERIMENT_NO_WORKLOAD && done > 0
							       ? wire_bytes(experiment) / done
							       : (double)NAN;
	free(values);
}

void experiment_storage_collect(struct experiment *experiment)
{
	const struct scenario *scenario = experiment->scenario;
	if (!experiment_has_storage(experiment))
		return;
	experiment->storage_metrics =
		calloc((size_t)scenario->workload_count + 1, sizeof(*experiment->storage_metrics));
	if (!experiment->storage_metrics)
		abort();
	collect(experiment, EXPERIMENT_NO_WORKLOAD, experiment->storage_metrics[0]);
	for (uint32_t i = 0; i < scenario->workload_count; i++)
		collect(experiment, i, experiment->storage_metrics[i + 1]);
}

bool experiment_has_storage(const struct experiment *experiment)
{
	return experiment->workload->io_count > 0;
}

double experiment_storage_metric(const struct experiment *experiment, uint32_t workload,
				 enum storage_metric metric)
{
	bool is_whole = workload == EXPERIMENT_NO_WORKLOAD;
	if (!experiment_has_storage(experiment) ||
	    (!is_whole &&
	     experiment->scenario->workloads[workload].params.pattern != PATTERN_storage))
		return (double)NAN;
	return experiment->storage_metrics[is_whole ? 0 : workload + 1][metric];
}

bool experiment_storage_knows(const struct experiment *experiment, const char *name,
			      const char *dot, char *error, size_t error_bytes)
{
	const struct scenario *scenario = experiment->scenario;
	char owner[128];
	if (!dot) {
		if (!experiment_has_storage(experiment))
			snprintf(error, error_bytes,
				 "%s is a metric of operations; expected pattern: storage", name);
		return experiment_has_storage(experiment);
	}
	snprintf(owner, sizeof(owner), "%.*s", (int)(dot - name), name);
	if (!experiment_workloads_knows(scenario, owner, dot + 1, error, error_bytes))
		return false;
	uint32_t workload = experiment_workloads_find(scenario, owner);
	bool is_storage = scenario->workloads[workload].params.pattern == PATTERN_storage;
	if (!is_storage)
		snprintf(error, error_bytes,
			 "%s is a metric of operations; expected a workload of pattern: storage",
			 dot + 1);
	return is_storage;
}

static void print_kind(const char *name, const double *rate, const double *latency, FILE *out)
{
	fprintf(out,
		"%-10s %.0f IOPS, %.3f Gb/s, latency mean %.3f us, p50 %.3f us, p95 %.3f us, p99 "
		"%.3f us, p99.9 %.3f us\n",
		name, rate[0], rate[1], latency[0], latency[1], latency[2], latency[3], latency[4]);
}

static void print(const double *f, FILE *out)
{
	double failed = f[STORAGE_METRIC_operations_failed];
	fprintf(out, "operations %.0f, done %.0f", f[STORAGE_METRIC_operations],
		f[STORAGE_METRIC_operations_done]);
	if (failed > 0)
		fprintf(out, ", failed %.0f", failed);
	fprintf(out, ", %.0f IOPS\n", f[STORAGE_METRIC_iops]);
	if (isnan(f[STORAGE_METRIC_cpu_us]))
		return;
	if (f[STORAGE_METRIC_read_iops] > 0)
		print_kind("reads", &f[STORAGE_METRIC_read_iops],
			   &f[STORAGE_METRIC_read_latency_mean_us], out);
	if (f[STORAGE_METRIC_write_iops] > 0)
		print_kind("writes", &f[STORAGE_METRIC_write_iops],
			   &f[STORAGE_METRIC_write_latency_mean_us], out);
	fprintf(out,
		"operation  %.3f us of cores (initiator %.3f, target %.3f), %.2f messages of %.1f "
		"bytes",
		f[STORAGE_METRIC_cpu_us], f[STORAGE_METRIC_initiator_cpu_us],
		f[STORAGE_METRIC_target_cpu_us], f[STORAGE_METRIC_operation_messages],
		f[STORAGE_METRIC_operation_message_bytes]);
	if (isfinite(f[STORAGE_METRIC_operation_wire_bytes]))
		fprintf(out, ", %.1f bytes on the wire", f[STORAGE_METRIC_operation_wire_bytes]);
	fputc('\n', out);
}

void experiment_storage_print(const struct experiment *experiment, FILE *out)
{
	const struct scenario *scenario = experiment->scenario;
	if (!experiment_has_storage(experiment))
		return;
	if (!scenario->has_workloads)
		print(experiment->storage_metrics[0], out);
	for (uint32_t i = 0; scenario->has_workloads && i < scenario->workload_count; i++) {
		if (scenario->workloads[i].params.pattern != PATTERN_storage)
			continue;
		fprintf(out, "storage    of workload %s\n", scenario->workloads[i].name);
		print(experiment->storage_metrics[i + 1], out);
	}
}

/* A column of the kinds has no value for other operations, as hcasim stats expects. */
void experiment_write_operations(const struct experiment *experiment, FILE *out)
{
	const struct workload *workload = experiment->workload;
	const char *const *names = experiment->workload_names;
	fprintf(out,
		"operation,initiator,target,kind,bytes_B,started_us,finished_us,latency_us,"
		"read_latency_us,write_latency_us%s\n",
		names ? ",workload" : "");
	for (uint32_t i = 0; i < workload->io_count; i++) {
		const struct workload_io *io = &workload->ios[i];
		if (!is_done(experiment, io))
			continue;
		double latency = latency_us(experiment, io);
		fprintf(out, "%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%s,%" PRIu32 ",%.6f,%.6f,%.6f,",
			i, workload->flows[io->first].source, io->target,
			io->write ? "write" : "read", io->bytes,
			(double)first_of(experiment, io)->ready / (double)US,
			(double)last_of(experiment, io)->finished / (double)US, latency);
		fprintf(out, io->write ? ",%.6f" : "%.6f,", latency);
		fprintf(out, "%s%s\n", names ? "," : "", names ? names[io->part] : "");
	}
}
