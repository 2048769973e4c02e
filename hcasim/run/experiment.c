/* SPDX-License-Identifier: Apache-2.0 */
/* experiment: see experiment.h. Checks are in experiment_check.c, what is written in experiment_write.c. */
#include "hcasim/run/experiment.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hcasim/run/experiment_state.h"
#include "hcasim/schema/endpoint_device.h"
#include "switch/switch.h"

#define SLICE        (100 * US)
#define DEADLOCK_GAP (1 * MS)

static void *take(size_t count, size_t bytes)
{
	void *memory = calloc(count + 1, bytes);
	if (!memory)
		abort();
	return memory;
}

static bool is_recorded(const struct scenario *scenario, const struct port *port)
{
	for (uint32_t i = 0; i < scenario->series_port_count; i++) {
		if (fnmatch(scenario->series_ports[i], port_name(port), 0) == 0)
			return true;
	}
	return scenario->series_port_count == 0;
}

/* Is there any? The names may be misspelt. */
static bool finds_ports(const struct build *build, char *error, size_t error_bytes)
{
	const struct scenario *scenario = build->scenario;
	for (uint32_t i = 0; i < build->port_count; i++) {
		if (is_recorded(scenario, build->ports[i]))
			return true;
	}
	snprintf(error, error_bytes,
		 "record: no port is called %s; expected names as %s, with * for any text",
		 scenario->series_ports[0], port_name(build->ports[build->port_count - 1]));
	return scenario_blame(scenario, "record.series_ports", error, error_bytes);
}

static void begin_samples(struct port_sample *sample, struct port *port)
{
	sample->port = port;
	sample->queue_p90 = gsl_rstat_quantile_alloc(0.90);
	sample->queue_p95 = gsl_rstat_quantile_alloc(0.95);
	sample->queue_p99 = gsl_rstat_quantile_alloc(0.99);
}

static void end_samples(struct port_sample *sample)
{
	gsl_rstat_quantile_free(sample->queue_p90);
	gsl_rstat_quantile_free(sample->queue_p95);
	gsl_rstat_quantile_free(sample->queue_p99);
}

/* Its parameter at fault is the first word of `error`; otherwise it is in the file, or in the pattern. */
static void blame_workload(const struct scenario *scenario, char *error, size_t error_bytes)
{
	char path[64];
	const struct param *param = workload_param_list;
	size_t length = strcspn(error, ":");
	while (param->name &&
	       !(strlen(param->name) == length && strncmp(param->name, error, length) == 0))
		param++;
	snprintf(path, sizeof(path), "workload.%s",
		 param->name            ? param->name
		 : scenario->trace_file ? "trace"
					: "pattern");
	scenario_blame(scenario, path, error, error_bytes);
}

struct experiment *experiment_create(const struct build *build, char *error, size_t error_bytes)
{
	const struct scenario *scenario = build->scenario;
	if (scenario->record.series > 0 && !finds_ports(build, error, error_bytes))
		return NULL;
	struct experiment *experiment = take(1, sizeof(*experiment));
	experiment->build = build;
	experiment->scenario = scenario;
	experiment->workload = workload_create(
		&scenario->workload, scenario->host_count, port_rate_bps(build_host_port(build, 0)),
		scenario->seed, scenario->trace_file, error, error_bytes);
	if (!experiment->workload) {
		blame_workload(scenario, error, error_bytes);
		free(experiment);
		return NULL;
	}
	experiment->routes = ideal_routes_create(build);
	experiment->backend = build_backend(build);
	experiment->driver =
		flow_driver_create(build->sim, experiment->workload, &scenario->posting,
				   experiment->backend, ideal_routes_find, experiment->routes);
	const char *trouble = experiment->backend->ops->trouble(experiment->backend);
	if (trouble) {
		snprintf(error, error_bytes, "%s", trouble);
		scenario_blame(scenario, "workload", error, error_bytes);
		experiment_destroy(experiment);
		return NULL;
	}
	experiment->records = flow_driver_records(experiment->driver);
	experiment->arrived = take(experiment->workload->count, sizeof(*experiment->arrived));
	experiment->acked = take(experiment->workload->count, sizeof(*experiment->acked));
	experiment->samples = take(build->port_count, sizeof(*experiment->samples));
	for (uint32_t i = 0; i < build->port_count; i++) {
		if (is_recorded(scenario, build->ports[i]))
			begin_samples(&experiment->samples[experiment->sample_count++],
				      build->ports[i]);
	}
	if (scenario->record.series > 0) {
		experiment->series = tmpfile();
		if (!experiment->series) {
			snprintf(error, error_bytes, "no temporary file for series.csv");
			scenario_blame(scenario, "record.series", error, error_bytes);
			experiment_destroy(experiment);
			return NULL;
		}
		fprintf(experiment->series,
			"time_us,port,queue_bytes,input_bytes,rate_gbps,paused_us,"
			"pauses_received\n");
	}
	return experiment;
}

bool experiment_may_be_parallel(const struct experiment *experiment)
{
	const struct lp_assignment *assignment = experiment->build->assignment;
	return !assignment ||
	       workload_lookahead(experiment->workload, assignment->of,
				  experiment->scenario->posting.notification_latency) > 0;
}

void experiment_destroy(struct experiment *experiment)
{
	if (experiment->series)
		fclose(experiment->series);
	flow_driver_destroy(experiment->driver);
	experiment->backend->ops->destroy(experiment->backend);
	workload_destroy(experiment->workload);
	ideal_routes_destroy(experiment->routes);
	free(experiment->arrived);
	free(experiment->acked);
	free(experiment->queue_counts);
	for (uint32_t i = 0; i < experiment->sample_count; i++)
		end_samples(&experiment->samples[i]);
	free(experiment->samples);
	free(experiment);
}

uint64_t experiment_queue_bytes(const struct port *port)
{
	uint64_t bytes = 0;
	for (unsigned vl = 0; vl < port_vls(port); vl++)
		bytes += port_queued_bytes(port, vl);
	return bytes;
}

static void report_progress(const struct experiment *experiment, experiment_progress *progress,
			    void *context)
{
	uint32_t done = 0, flows = 0;
	for (uint32_t i = 0; i < experiment->workload->count; i++) {
		flows += !workload_is_barrier(&experiment->workload->flows[i]);
		done += experiment->records[i].status >= FLOW_done &&
			!workload_is_barrier(&experiment->workload->flows[i]);
	}
	progress(context, sim_now(experiment->build->sim), done, flows);
}

static sim_time earlier(sim_time one, sim_time other)
{
	return one < other ? one : other;
}

void experiment_run(struct experiment *experiment, experiment_progress *progress, void *context)
{
	struct sim *sim = experiment->build->sim;
	const struct scenario_run *run = &experiment->scenario->run;
	sim_time series = experiment->scenario->record.series, looked = 0, told = 0;
	sim_time until = run->until > 0 ? run->until : SIM_NEVER;
	sim_time measure_until = run->measure_until > 0 ? run->measure_until : SIM_NEVER;
	if (run->warm_up == 0)
		experiment_measure_begin(experiment);
	for (;;) {
		sim_time now = sim_now(sim), next = sim_next(sim), at;
		experiment->drained = next == SIM_NEVER;
		if (now >= until || (experiment->drained && (run->until == 0 || series == 0)))
			break;
		if (experiment->drained && flow_driver_finished(experiment->driver) &&
		    experiment->measuring)
			break;
		at = series > 0 ? now + series : (next > now ? next : now) + SLICE;
		at = earlier(at, until);
		if (!experiment->measuring)
			at = earlier(at, run->warm_up);
		if (!experiment->measured)
			at = earlier(at, measure_until);
		sim_run(sim, at);
		if (!experiment->measuring && at >= run->warm_up)
			experiment_measure_begin(experiment);
		if (series > 0)
			experiment_sample(experiment);
		if (!experiment->measured && at >= measure_until)
			experiment_measure_end(experiment);
		if (at - looked >= DEADLOCK_GAP) {
			looked = at;
			if (deadlock_find(experiment->build->topology, &experiment->deadlock))
				break;
		}
		if (progress && at - told >= SLICE) {
			told = at;
			report_progress(experiment, progress, context);
		}
	}
	if (experiment->deadlock.count == 0)
		deadlock_find(experiment->build->topology, &experiment->deadlock);
	experiment_measure_end(experiment);
	flow_driver_end(experiment->driver);
	experiment_collect(experiment);
}

sim_time experiment_ended(const struct experiment *experiment)
{
	return experiment->ended;
}

double experiment_flow_rate_bps(const struct experiment *experiment, uint32_t flow)
{
	return flow_driver_requester(experiment->driver, flow)
		       ? (double)flow_driver_rate_bps(experiment->driver, flow)
		       : (double)NAN;
}

double experiment_metric(const struct experiment *experiment, enum metric metric)
{
	return experiment->metrics[metric];
}

static double port_metric(const struct experiment *experiment, const struct port_sample *sample,
			  int which)
{
	double window = (double)(experiment->measured_until - experiment->measured_from);
	double rate = window > 0 ? (double)sample->bytes_measured * 8e3 / window : 0;
	switch ((enum port_metric)which) {
	case PORT_METRIC_queue_mean_bytes:
		return sample->count > 0 ? sample->queue_sum / (double)sample->count : (double)NAN;
	case PORT_METRIC_queue_p90_bytes:
		return sample->count > 0 ? gsl_rstat_quantile_get(sample->queue_p90) : (double)NAN;
	case PORT_METRIC_queue_p95_bytes:
		return sample->count > 0 ? gsl_rstat_quantile_get(sample->queue_p95) : (double)NAN;
	case PORT_METRIC_queue_p99_bytes:
		return sample->count > 0 ? gsl_rstat_quantile_get(sample->queue_p99) : (double)NAN;
	case PORT_METRIC_queue_packets:
		return sample->count > 0 ? sample->packets_sum / (double)sample->count
					 : (double)NAN;
	case PORT_METRIC_backlog_us:
		return sample->count > 0 ? (sample->queue_sum + sample->leaving_sum) * 8e6 /
						   ((double)sample->count *
						    (double)port_rate_bps(sample->port))
					 : (double)NAN;
	case PORT_METRIC_queue_max_bytes:
		return sample->count > 0 ? (double)sample->queue_max : (double)NAN;
	case PORT_METRIC_underused_us:
		return sample->count > 0 ? (double)sample->underused / (double)US : (double)NAN;
	case PORT_METRIC_rate_gbps:
		return rate;
	case PORT_METRIC_utilisation:
		return rate * 1e9 / (double)port_rate_bps(sample->port);
	case PORT_METRIC_pause_share:
		return window > 0 ? (double)sample->paused_measured / window : 0;
	case PORT_METRIC_COUNT:
		break;
	}
	return (double)NAN;
}

static double flow_metric(const struct experiment *experiment, uint32_t flow, int which)
{
	const struct flow_record *record = &experiment->records[flow];
	double window = (double)(experiment->measured_until - experiment->measured_from);
	switch ((enum flow_metric)which) {
	case FLOW_METRIC_goodput_gbps:
		return window > 0 ? (double)experiment->arrived[flow] * 8e3 / window : 0;
	case FLOW_METRIC_rate_gbps:
		return experiment_flow_rate_bps(experiment, flow) / 1e9;
	case FLOW_METRIC_fct_us:
		return record->status == FLOW_done ? (double)flow_fct(record) / (double)US
						   : (double)NAN;
	case FLOW_METRIC_slowdown:
		return record->status == FLOW_done ? flow_slowdown(record) : (double)NAN;
	case FLOW_METRIC_COUNT:
		break;
	}
	return (double)NAN;
}

/* Is the owner of that metric a recorded port, and sampled if the metric is of samples? */
static bool knows_port(const struct experiment *experiment, const char *owner, int metric,
		       char *error, size_t error_bytes)
{
	const struct scenario *scenario = experiment->build->scenario;
	bool is_sampled = metric < PORT_METRIC_rate_gbps; /* those before it are means of samples */
	if (experiment->sample_count == 0 || (is_sampled && scenario->record.series == 0)) {
		snprintf(error, error_bytes,
			 "%s comes from samples; expected record: {series: TIME}",
			 port_metric_list[metric].name);
		return false;
	}
	const char **names = calloc(experiment->sample_count, sizeof(*names));
	if (!names)
		abort();
	bool known = false;
	for (uint32_t i = 0; i < experiment->sample_count; i++) {
		names[i] = port_name(experiment->samples[i].port);
		known = known || strcmp(names[i], owner) == 0;
	}
	const char *near = yaml_suggest(owner, names, experiment->sample_count);
	if (!known)
		snprintf(error, error_bytes, "no recorded port \"%s\"%s%s%s", owner,
			 near ? "; did you mean \"" : "; expected one such as \"",
			 near ? near : names[0], near ? "\"?" : "\"");
	free(names);
	return known;
}

bool experiment_knows_metrics(const struct experiment *experiment, char *error, size_t error_bytes)
{
	const struct scenario *scenario = experiment->build->scenario;
	for (uint32_t i = 0; i < scenario->expectation_count; i++) {
		const char *name = scenario->expectations[i].metric;
		const char *dot = name ? strrchr(name, '.') : NULL;
		char owner[128], path[64];
		int metric = dot ? metric_index(port_metric_list, dot + 1) : -1;
		if (metric < 0)
			continue;
		snprintf(owner, sizeof(owner), "%.*s", (int)(dot - name), name);
		bool of_flow = strncmp(owner, "flow", 4) == 0 &&
			       metric_index(flow_metric_list, dot + 1) >= 0;
		if (of_flow || knows_port(experiment, owner, metric, error, error_bytes))
			continue;
		snprintf(path, sizeof(path), "expect.%u.metric", i);
		return scenario_blame(scenario, path, error, error_bytes);
	}
	return true;
}

bool experiment_find(const struct experiment *experiment, const char *name, double *value,
		     char *error, size_t error_bytes)
{
	const char *dot = strrchr(name, '.');
	char owner[128], *end;
	int index;
	*value = (double)NAN;
	if (!dot) {
		index = metric_index(metric_list, name);
		*value = index >= 0 ? experiment->metrics[index] : (double)NAN;
	} else {
		snprintf(owner, sizeof(owner), "%.*s", (int)(dot - name), name);
		if (strncmp(owner, "flow", 4) == 0 &&
		    (index = metric_index(flow_metric_list, dot + 1)) >= 0) {
			unsigned long flow = strtoul(owner + 4, &end, 10);
			if (*end == '\0' && end != owner + 4 && flow < experiment->workload->count)
				*value = flow_metric(experiment, (uint32_t)flow, index);
		}
		index = metric_index(port_metric_list, dot + 1);
		for (uint32_t i = 0; index >= 0 && i < experiment->sample_count; i++) {
			if (strcmp(port_name(experiment->samples[i].port), owner) == 0)
				*value = port_metric(experiment, &experiment->samples[i], index);
		}
	}
	if (!isnan(*value))
		return true;
	snprintf(error, error_bytes,
		 "there is no value: no such flow or port, a flow that is not done, a port that is "
		 "not "
		 "recorded, or no record: {series: ...}");
	return false;
}
