/* SPDX-License-Identifier: Apache-2.0 */
/* trial: see trial.h. Checks are in trial_check.c, what is written in trial_write.c. */
#include "hcasim/run/trial.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hcasim/run/trial_state.h"
#include "hcasim/schema/endpoint_device.h"
#include "switch/switch.h"

#define SLICE        (100 * US)
#define DEADLOCK_GAP (1 * MS)

static void *take(size_t count, size_t bytes)
{
	void *memory = calloc(count + 1, bytes);
	if (memory == NULL)
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
	while (param->name != NULL &&
	       !(strlen(param->name) == length && strncmp(param->name, error, length) == 0))
		param++;
	snprintf(path, sizeof(path), "workload.%s",
		 param->name != NULL            ? param->name
		 : scenario->trace_file != NULL ? "trace"
						: "pattern");
	scenario_blame(scenario, path, error, error_bytes);
}

struct trial *trial_create(const struct build *build, char *error, size_t error_bytes)
{
	const struct scenario *scenario = build->scenario;
	if (scenario->record.series > 0 && !finds_ports(build, error, error_bytes))
		return NULL;
	struct trial *trial = take(1, sizeof(*trial));
	trial->build = build;
	trial->scenario = scenario;
	trial->workload = workload_create(&scenario->workload, scenario->host_count,
					  port_rate_bps(build_host_port(build, 0)), scenario->seed,
					  scenario->trace_file, error, error_bytes);
	if (trial->workload == NULL) {
		blame_workload(scenario, error, error_bytes);
		free(trial);
		return NULL;
	}
	trial->ways = ways_create(build);
	trial->carrier = build_carrier(build);
	trial->player = player_create(build->sim, trial->workload, &scenario->play, trial->carrier,
				      ways_find, trial->ways);
	const char *trouble = trial->carrier->ops->trouble(trial->carrier);
	if (trouble != NULL) {
		snprintf(error, error_bytes, "%s", trouble);
		scenario_blame(scenario, "workload", error, error_bytes);
		trial_destroy(trial);
		return NULL;
	}
	trial->records = player_records(trial->player);
	trial->arrived = take(trial->workload->count, sizeof(*trial->arrived));
	trial->acked = take(trial->workload->count, sizeof(*trial->acked));
	trial->samples = take(build->port_count, sizeof(*trial->samples));
	for (uint32_t i = 0; i < build->port_count; i++) {
		if (is_recorded(scenario, build->ports[i]))
			begin_samples(&trial->samples[trial->sample_count++], build->ports[i]);
	}
	if (scenario->record.series > 0) {
		trial->series = tmpfile();
		if (trial->series == NULL) {
			snprintf(error, error_bytes, "no temporary file for series.csv");
			scenario_blame(scenario, "record.series", error, error_bytes);
			trial_destroy(trial);
			return NULL;
		}
		fprintf(trial->series, "time_us,port,queue_bytes,input_bytes,rate_gbps,paused_us,"
				       "pauses_received\n");
	}
	return trial;
}

bool trial_divides(const struct trial *trial)
{
	const struct division *division = trial->build->division;
	return division == NULL ||
	       workload_lookahead(trial->workload, division->of, trial->scenario->play.notice) > 0;
}

void trial_destroy(struct trial *trial)
{
	if (trial->series != NULL)
		fclose(trial->series);
	player_destroy(trial->player);
	trial->carrier->ops->destroy(trial->carrier);
	workload_destroy(trial->workload);
	ways_destroy(trial->ways);
	free(trial->arrived);
	free(trial->acked);
	free(trial->queue_counts);
	for (uint32_t i = 0; i < trial->sample_count; i++)
		end_samples(&trial->samples[i]);
	free(trial->samples);
	free(trial);
}

uint64_t trial_queue_bytes(const struct port *port)
{
	uint64_t bytes = 0;
	for (unsigned lane = 0; lane < port_lanes(port); lane++)
		bytes += port_queued_bytes(port, lane);
	return bytes;
}

static void report_progress(const struct trial *trial, trial_progress *progress, void *context)
{
	uint32_t done = 0, flows = 0;
	for (uint32_t i = 0; i < trial->workload->count; i++) {
		flows += !workload_is_barrier(&trial->workload->flows[i]);
		done += trial->records[i].status >= FLOW_done &&
			!workload_is_barrier(&trial->workload->flows[i]);
	}
	progress(context, sim_now(trial->build->sim), done, flows);
}

static sim_time earlier(sim_time one, sim_time other)
{
	return one < other ? one : other;
}

void trial_run(struct trial *trial, trial_progress *progress, void *context)
{
	struct sim *sim = trial->build->sim;
	const struct scenario_run *run = &trial->scenario->run;
	sim_time series = trial->scenario->record.series, looked = 0, told = 0;
	sim_time until = run->until > 0 ? run->until : SIM_NEVER;
	sim_time measure_until = run->measure_until > 0 ? run->measure_until : SIM_NEVER;
	if (run->warm_up == 0)
		trial_measure_begin(trial);
	for (;;) {
		sim_time now = sim_now(sim), next = sim_next(sim), at;
		trial->drained = next == SIM_NEVER;
		if (now >= until || (trial->drained && (run->until == 0 || series == 0)))
			break;
		if (trial->drained && player_finished(trial->player) && trial->measuring)
			break;
		at = series > 0 ? now + series : (next > now ? next : now) + SLICE;
		at = earlier(at, until);
		if (!trial->measuring)
			at = earlier(at, run->warm_up);
		if (!trial->measured)
			at = earlier(at, measure_until);
		sim_run(sim, at);
		if (!trial->measuring && at >= run->warm_up)
			trial_measure_begin(trial);
		if (series > 0)
			trial_sample(trial);
		if (!trial->measured && at >= measure_until)
			trial_measure_end(trial);
		if (at - looked >= DEADLOCK_GAP) {
			looked = at;
			if (deadlock_find(trial->build->topology, &trial->deadlock))
				break;
		}
		if (progress != NULL && at - told >= SLICE) {
			told = at;
			report_progress(trial, progress, context);
		}
	}
	if (trial->deadlock.count == 0)
		deadlock_find(trial->build->topology, &trial->deadlock);
	trial_measure_end(trial);
	player_end(trial->player);
	trial_collect(trial);
}

sim_time trial_ended(const struct trial *trial)
{
	return trial->ended;
}

double trial_flow_rate_bps(const struct trial *trial, uint32_t flow)
{
	return player_requester(trial->player, flow) != NULL
		       ? (double)player_rate_bps(trial->player, flow)
		       : (double)NAN;
}

double trial_metric(const struct trial *trial, enum metric metric)
{
	return trial->metrics[metric];
}

static double port_metric(const struct trial *trial, const struct port_sample *sample, int which)
{
	double window = (double)(trial->measured_until - trial->measured_from);
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

static double flow_metric(const struct trial *trial, uint32_t flow, int which)
{
	const struct flow_record *record = &trial->records[flow];
	double window = (double)(trial->measured_until - trial->measured_from);
	switch ((enum flow_metric)which) {
	case FLOW_METRIC_goodput_gbps:
		return window > 0 ? (double)trial->arrived[flow] * 8e3 / window : 0;
	case FLOW_METRIC_rate_gbps:
		return trial_flow_rate_bps(trial, flow) / 1e9;
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
static bool knows_port(const struct trial *trial, const char *owner, int metric, char *error,
		       size_t error_bytes)
{
	const struct scenario *scenario = trial->build->scenario;
	bool is_sampled = metric < PORT_METRIC_rate_gbps; /* those before it are means of samples */
	if (trial->sample_count == 0 || (is_sampled && scenario->record.series == 0)) {
		snprintf(error, error_bytes,
			 "%s comes from samples; expected record: {series: TIME}",
			 port_metric_list[metric].name);
		return false;
	}
	const char **names = calloc(trial->sample_count, sizeof(*names));
	if (names == NULL)
		abort();
	bool known = false;
	for (uint32_t i = 0; i < trial->sample_count; i++) {
		names[i] = port_name(trial->samples[i].port);
		known = known || strcmp(names[i], owner) == 0;
	}
	const char *near = yaml_suggest(owner, names, trial->sample_count);
	if (!known)
		snprintf(error, error_bytes, "no recorded port \"%s\"%s%s%s", owner,
			 near != NULL ? "; did you mean \"" : "; expected one such as \"",
			 near != NULL ? near : names[0], near != NULL ? "\"?" : "\"");
	free(names);
	return known;
}

bool trial_knows_metrics(const struct trial *trial, char *error, size_t error_bytes)
{
	const struct scenario *scenario = trial->build->scenario;
	for (uint32_t i = 0; i < scenario->expectation_count; i++) {
		const char *name = scenario->expectations[i].metric;
		const char *dot = name != NULL ? strrchr(name, '.') : NULL;
		char owner[128], path[64];
		int metric = dot != NULL ? metric_index(port_metric_list, dot + 1) : -1;
		if (metric < 0)
			continue;
		snprintf(owner, sizeof(owner), "%.*s", (int)(dot - name), name);
		bool of_flow = strncmp(owner, "flow", 4) == 0 &&
			       metric_index(flow_metric_list, dot + 1) >= 0;
		if (of_flow || knows_port(trial, owner, metric, error, error_bytes))
			continue;
		snprintf(path, sizeof(path), "expect.%u.metric", i);
		return scenario_blame(scenario, path, error, error_bytes);
	}
	return true;
}

bool trial_find(const struct trial *trial, const char *name, double *value, char *error,
		size_t error_bytes)
{
	const char *dot = strrchr(name, '.');
	char owner[128], *end;
	int index;
	*value = (double)NAN;
	if (dot == NULL) {
		index = metric_index(metric_list, name);
		*value = index >= 0 ? trial->metrics[index] : (double)NAN;
	} else {
		snprintf(owner, sizeof(owner), "%.*s", (int)(dot - name), name);
		if (strncmp(owner, "flow", 4) == 0 &&
		    (index = metric_index(flow_metric_list, dot + 1)) >= 0) {
			unsigned long flow = strtoul(owner + 4, &end, 10);
			if (*end == '\0' && end != owner + 4 && flow < trial->workload->count)
				*value = flow_metric(trial, (uint32_t)flow, index);
		}
		index = metric_index(port_metric_list, dot + 1);
		for (uint32_t i = 0; index >= 0 && i < trial->sample_count; i++) {
			if (strcmp(port_name(trial->samples[i].port), owner) == 0)
				*value = port_metric(trial, &trial->samples[i], index);
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
