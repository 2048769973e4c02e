/* SPDX-License-Identifier: Apache-2.0 */
/* experiment: see experiment.h. Checks are in experiment_check.c, output is in
 * experiment_write.c. */
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

/* Checks that each pattern of series_ports matches a port. */
static bool finds_ports(const struct build *build, char *error, size_t error_bytes)
{
	const struct scenario *scenario = build->scenario;
	for (uint32_t i = 0; i < build->port_count; i++) {
		if (is_recorded(scenario, build->ports[i]))
			return true;
	}
	snprintf(error, error_bytes,
		 "record: no port matches %s; expected names such as %s, with * for any text",
		 scenario->series_ports[0], port_name(build->ports[build->port_count - 1]));
	return scenario_blame(scenario, "record.series_ports", error, error_bytes);
}

/* Only a run that samples needs quantiles. */
static void begin_samples(struct port_sample *sample, struct port *port, bool is_sampled)
{
	sample->port = port;
	if (!is_sampled)
		return;
	sample->queue_p90 = gsl_rstat_quantile_alloc(0.90);
	sample->queue_p95 = gsl_rstat_quantile_alloc(0.95);
	sample->queue_p99 = gsl_rstat_quantile_alloc(0.99);
}

static void end_samples(struct port_sample *sample)
{
	if (!sample->queue_p90)
		return;
	gsl_rstat_quantile_free(sample->queue_p90);
	gsl_rstat_quantile_free(sample->queue_p95);
	gsl_rstat_quantile_free(sample->queue_p99);
}

/* Returns false, with the reason at record.series_flows, if one of the flows cannot be recorded. */
static bool begin_flow_series(struct experiment *experiment, char *error, size_t error_bytes)
{
	const struct scenario *scenario = experiment->scenario;
	const uint32_t *flows = scenario->series_flows;
	uint32_t count = experiment->workload->count;
	for (uint32_t i = 0; i < scenario->series_flow_count; i++) {
		bool exists = flows[i] < count;
		if (exists && flow_driver_requester(experiment->driver, flows[i]))
			continue;
		snprintf(error, error_bytes,
			 exists ? "flow %u is a barrier" : "no flow %u; the last one is %u",
			 flows[i], count - 1);
		scenario_blame(scenario, "record.series_flows", error, error_bytes);
		return false;
	}
	if (scenario->series_flow_count == 0)
		return true;
	experiment->flow_series =
		flow_series_create(experiment->driver, flows, scenario->series_flow_count);
	if (experiment->flow_series)
		return true;
	snprintf(error, error_bytes, "no temporary file for flow_series.csv");
	scenario_blame(scenario, "record.series_flows", error, error_bytes);
	return false;
}

static bool begin_queues(struct experiment *experiment, char *error, size_t error_bytes)
{
	if (!experiment->scenario->record.queues)
		return true;
	experiment->queues = queue_record_create();
	if (!experiment->queues) {
		snprintf(error, error_bytes, "no temporary file for queue_series.csv");
		return scenario_blame(experiment->scenario, "record.queues", error, error_bytes);
	}
	for (uint32_t i = 0; i < experiment->sample_count; i++)
		queue_record_add(experiment->queues, experiment->samples[i].port);
	return true;
}

struct experiment *experiment_create(const struct build *build, char *error, size_t error_bytes)
{
	const struct scenario *scenario = build->scenario;
	if (scenario->record.series > 0 && !finds_ports(build, error, error_bytes))
		return NULL;
	struct experiment *experiment = take(1, sizeof(*experiment));
	experiment->build = build;
	experiment->scenario = scenario;
	experiment->workload = experiment_workloads_create(build, error, error_bytes);
	if (!experiment->workload) {
		free(experiment);
		return NULL;
	}
	experiment->routes = ideal_routes_create(build);
	experiment->backend = build_backend(build);
	struct flow_driver_part parts[WORKLOAD_PARTS_MAX];
	experiment_workloads_parts(scenario, parts);
	experiment->driver =
		flow_driver_create(build->sim, experiment->workload, parts, experiment->backend,
				   ideal_routes_find, experiment->routes);
	experiment->workload_names = experiment_workloads_names(scenario);
	const char *trouble = experiment->backend->ops->trouble(experiment->backend);
	if (trouble) {
		snprintf(error, error_bytes, "%s", trouble);
		scenario_blame(scenario, "workload", error, error_bytes);
		experiment_destroy(experiment);
		return NULL;
	}
	experiment->records = flow_driver_records(experiment->driver);
	for (uint32_t i = 0; i < experiment->workload->count; i++)
		experiment->flows += !workload_is_barrier(&experiment->workload->flows[i]);
	experiment->arrived = take(experiment->workload->count, sizeof(*experiment->arrived));
	experiment->acked = take(experiment->workload->count, sizeof(*experiment->acked));
	experiment->samples = take(build->port_count, sizeof(*experiment->samples));
	for (uint32_t i = 0; i < build->port_count; i++) {
		if (is_recorded(scenario, build->ports[i]))
			begin_samples(&experiment->samples[experiment->sample_count++],
				      build->ports[i], scenario->record.series > 0);
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
	if (begin_queues(experiment, error, error_bytes) &&
	    begin_flow_series(experiment, error, error_bytes))
		return experiment;
	experiment_destroy(experiment);
	return NULL;
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
	fast_forward_destroy(experiment->forward);
	flow_series_destroy(experiment->flow_series);
	queue_record_destroy(experiment->queues);
	if (experiment->series)
		fclose(experiment->series);
	flow_driver_destroy(experiment->driver);
	experiment->backend->ops->destroy(experiment->backend);
	workload_destroy(experiment->workload);
	ideal_routes_destroy(experiment->routes);
	free(experiment->arrived);
	free(experiment->acked);
	free(experiment->queue_counts);
	free(experiment->workload_metrics);
	free(experiment->storage_metrics);
	free(experiment->workload_names);
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

uint32_t experiment_flows_done(const struct experiment *experiment, uint32_t *flows)
{
	*flows = experiment->flows;
	return flow_driver_ended(experiment->driver);
}

static void report_progress(const struct experiment *experiment, experiment_progress *progress,
			    void *context)
{
	uint32_t flows;
	uint64_t done = experiment_flows_done(experiment, &flows);
	sim_sum(experiment->build->sim, &done, 1);
	progress(context, sim_now(experiment->build->sim), (uint32_t)done, flows);
}

static sim_time earlier(sim_time one, sim_time other)
{
	return one < other ? one : other;
}

/* Chooses the end of the next slice. Returns false if the run is over. */
static bool choose_slice(struct experiment *experiment)
{
	struct sim *sim = experiment->build->sim;
	const struct scenario_run *run = &experiment->scenario->run;
	sim_time series = experiment->scenario->record.series;
	sim_time until = run->until > 0 ? run->until : SIM_NEVER;
	sim_time now = sim_now(sim), next = sim_next(sim), at;
	experiment->drained = next == SIM_NEVER;
	if (now >= until || (experiment->drained && (run->until == 0 || series == 0)))
		return false;
	if (experiment->drained && experiment->measuring &&
	    ranks_agree(sim_ranks(sim), flow_driver_finished(experiment->driver)))
		return false;
	at = series > 0 ? now + series : (next > now ? next : now) + SLICE;
	at = earlier(at, until);
	if (!experiment->measuring)
		at = earlier(at, run->warm_up);
	if (!experiment->measured && run->measure_until > 0)
		at = earlier(at, run->measure_until);
	experiment->slice_end = at;
	return true;
}

/* Returns true if something looks at the state of the whole fabric at the end of the slice. */
static bool is_looked_at(const struct experiment *experiment)
{
	const struct scenario_run *run = &experiment->scenario->run;
	sim_time at = experiment->slice_end;
	return experiment->scenario->record.series > 0 || at - experiment->looked >= DEADLOCK_GAP ||
	       (!experiment->measuring && at >= run->warm_up) ||
	       (!experiment->measured && run->measure_until > 0 && at >= run->measure_until);
}

/* Looks at the fabric between two slices. Returns false if it finds a deadlock, which ends the
 * run. */
static bool end_slice(struct experiment *experiment, experiment_progress *progress, void *context)
{
	const struct scenario_run *run = &experiment->scenario->run;
	sim_time at = experiment->slice_end;
	if (is_looked_at(experiment))
		sim_share(experiment->build->sim);
	if (!experiment->measuring && at >= run->warm_up)
		experiment_measure_begin(experiment);
	if (experiment->scenario->record.series > 0)
		experiment_sample(experiment);
	if (!experiment->measured && run->measure_until > 0 && at >= run->measure_until)
		experiment_measure_end(experiment);
	if (at - experiment->looked >= DEADLOCK_GAP) {
		experiment->looked = at;
		if (deadlock_find(experiment->build->topology, &experiment->deadlock))
			return false;
	}
	if (progress && at - experiment->reported >= SLICE) {
		experiment->reported = at;
		report_progress(experiment, progress, context);
	}
	experiment->slice_end = 0;
	return true;
}

bool experiment_advance(struct experiment *experiment, sim_time until,
			experiment_progress *progress, void *context)
{
	struct sim *sim = experiment->build->sim;
	if (!experiment->begun && experiment->scenario->run.warm_up == 0)
		experiment_measure_begin(experiment);
	if (!experiment->begun)
		experiment->forward = fast_forward_create(experiment->build, experiment->driver,
							  until != SIM_NEVER);
	experiment->begun = true;
	while (!experiment->over) {
		if (experiment->slice_end == 0 && !choose_slice(experiment)) {
			experiment_stop(experiment);
			break;
		}
		if (experiment->slice_end > until) {
			if (until > sim_now(sim))
				sim_run(sim, until);
			break;
		}
		fast_forward_run(experiment->forward, experiment->slice_end);
		sim_run(sim, experiment->slice_end);
		if (!end_slice(experiment, progress, context))
			experiment_stop(experiment);
	}
	return !experiment->over;
}

/* Returns the packets in queues, buffers and links. */
static uint64_t packets_left(const struct build *build)
{
	const struct ranks *ranks = sim_ranks(build->sim);
	uint64_t left;
	if (!ranks)
		return packet_pool_in_use(build->pool);
	left = packet_pool_in_use_alone(build->pools[ranks->rank]);
	sim_sum(build->sim, &left, 1);
	return left;
}

void experiment_stop(struct experiment *experiment)
{
	if (experiment->over)
		return;
	experiment->over = true;
	sim_share(experiment->build->sim);
	experiment->packets_left = packets_left(experiment->build);
	if (experiment->deadlock.count == 0)
		deadlock_find(experiment->build->topology, &experiment->deadlock);
	fast_forward_end(experiment->forward);
	experiment_measure_end(experiment);
	flow_driver_end(experiment->driver);
	experiment_collect(experiment);
}

sim_time experiment_ended(const struct experiment *experiment)
{
	return experiment->ended;
}

sim_time experiment_worked(const struct experiment *experiment)
{
	return experiment->worked;
}

sim_time experiment_window(const struct experiment *experiment)
{
	return experiment->measured_until - experiment->measured_from;
}

double experiment_flow_rate_bps(const struct experiment *experiment, uint32_t flow)
{
	struct backend_sender sender;
	if (!flow_driver_requester(experiment->driver, flow))
		return (double)NAN;
	flow_driver_sender(experiment->driver, flow, &sender);
	return (double)sender.rate_bps;
}

double experiment_metric(const struct experiment *experiment, enum metric metric)
{
	return experiment->metrics[metric];
}

/* Returns the standard deviation of the samples. */
static double queue_sd(const struct port_sample *sample)
{
	double count = (double)sample->count, mean = sample->queue_sum / count;
	double sum = sample->queue_squares - count * mean * mean;
	if (sample->count < 2)
		return (double)NAN;
	return sum > 0 ? sqrt(sum / (count - 1)) : 0;
}

sim_time experiment_sent_until(const struct experiment *experiment, const struct port *port)
{
	sim_time last = port_busy_until(port);
	if (port_is_aside(port) || last > experiment->counted_until)
		last = experiment->counted_until;
	return last > experiment->measured_until ? last : experiment->measured_until;
}

static double port_metric(const struct experiment *experiment, const struct port_sample *sample,
			  int which)
{
	double window = (double)(experiment->measured_until - experiment->measured_from);
	double sent = (double)(experiment_sent_until(experiment, sample->port) -
			       experiment->measured_from);
	double rate = window > 0 ? (double)sample->bytes_measured * 8e3 / sent : (double)NAN;
	switch ((enum port_metric)which) {
	case PORT_METRIC_queue_mean_bytes:
		return sample->count > 0 ? sample->queue_sum / (double)sample->count : (double)NAN;
	case PORT_METRIC_queue_sd_bytes:
		return queue_sd(sample);
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
		return window > 0 ? (double)sample->paused_measured / window : (double)NAN;
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
		return window > 0 ? (double)experiment->arrived[flow] * 8e3 / window : (double)NAN;
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

/* Returns true if the metric's owner is a recorded port. Metrics of samples also need sampling. */
static bool knows_port(const struct experiment *experiment, const char *owner, int metric,
		       char *error, size_t error_bytes)
{
	const struct scenario *scenario = experiment->build->scenario;
	/* metrics before it are means of samples */
	bool is_sampled = metric < PORT_METRIC_rate_gbps;
	if (experiment->sample_count == 0 || (is_sampled && scenario->record.series == 0)) {
		snprintf(error, error_bytes, "%s needs samples; set record: {series: TIME}",
			 metric_port_list[metric].name);
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

/* Returns true for the names of flows: flow0, flow1 ... */
static bool is_flow(const char *owner)
{
	return strncmp(owner, "flow", 4) == 0 && owner[4] != '\0' &&
	       owner[4 + strspn(owner + 4, "0123456789")] == '\0';
}

bool experiment_knows_metrics(const struct experiment *experiment, char *error, size_t error_bytes)
{
	const struct scenario *scenario = experiment->build->scenario;
	for (uint32_t i = 0; i < scenario->expectation_count; i++) {
		const char *name = scenario->expectations[i].metric;
		const char *dot = name ? strrchr(name, '.') : NULL;
		char owner[128], path[64];
		snprintf(path, sizeof(path), "expect.%u.metric", i);
		if (name && metric_index(metric_storage_list, dot ? dot + 1 : name) >= 0) {
			if (!experiment_storage_knows(experiment, name, dot, error, error_bytes))
				return scenario_blame(scenario, path, error, error_bytes);
			continue;
		}
		if (!dot)
			continue;
		int of_port = metric_index(metric_port_list, dot + 1);
		int of_workload = metric_index(metric_workload_list, dot + 1);
		snprintf(owner, sizeof(owner), "%.*s", (int)(dot - name), name);
		if (is_flow(owner) && metric_index(metric_flow_list, dot + 1) >= 0)
			continue;
		if (of_workload >= 0 &&
		    experiment_workloads_find(scenario, owner) != EXPERIMENT_NO_WORKLOAD)
			continue;
		if (of_port >= 0 ? knows_port(experiment, owner, of_port, error, error_bytes)
				 : of_workload < 0 ||
					   experiment_workloads_knows(scenario, owner, dot + 1,
								      error, error_bytes))
			continue;
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
		index = metric_index(metric_storage_list, name);
		if (index >= 0)
			*value = experiment_storage_metric(experiment, EXPERIMENT_NO_WORKLOAD,
							   (enum storage_metric)index);
	} else {
		snprintf(owner, sizeof(owner), "%.*s", (int)(dot - name), name);
		uint32_t workload = experiment_workloads_find(experiment->scenario, owner);
		index = metric_index(metric_workload_list, dot + 1);
		if (workload != EXPERIMENT_NO_WORKLOAD && index >= 0)
			*value = experiment->workload_metrics[workload][index];
		index = metric_index(metric_storage_list, dot + 1);
		if (workload != EXPERIMENT_NO_WORKLOAD && index >= 0)
			*value = experiment_storage_metric(experiment, workload,
							   (enum storage_metric)index);
		if (is_flow(owner) && (index = metric_index(metric_flow_list, dot + 1)) >= 0) {
			unsigned long flow = strtoul(owner + 4, &end, 10);
			if (*end == '\0' && end != owner + 4 && flow < experiment->workload->count)
				*value = flow_metric(experiment, (uint32_t)flow, index);
		}
		index = metric_index(metric_port_list, dot + 1);
		for (uint32_t i = 0; index >= 0 && i < experiment->sample_count; i++) {
			if (strcmp(port_name(experiment->samples[i].port), owner) == 0)
				*value = port_metric(experiment, &experiment->samples[i], index);
		}
	}
	if (!isnan(*value))
		return true;
	snprintf(error, error_bytes,
		 "no value: no such flow or port, an incomplete flow, no flow of this kind after "
		 "run.warm_up, a port that is not recorded, or no record: {series: ...}");
	return false;
}
