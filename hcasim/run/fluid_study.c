/* SPDX-License-Identifier: Apache-2.0 */
/* fluid_study: see fluid_study.h. */
#include "hcasim/run/fluid_study.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hcasim/run/ideal_routes.h"
#include "hcasim/schema/endpoint_device.h"
#include "switch/switch_params.h"

#define STEP 1e-5 /* s, interval between points of the model */

/* Bytes of a middle packet beside its payload: RoCE v2 with preamble and gap; IBTA vol. 1, 5.2:
 * LRH, BTH, both CRCs. */
#define ROCE_OVERHEAD       82
#define INFINIBAND_OVERHEAD 26

enum fluid_kind { FLUID_DCQCN, FLUID_TIMELY };

struct fluid_study {
	const struct scenario *scenario;
	struct experiment *experiment;
	const struct port *port; /* that the flows share */
	uint32_t target;         /* host behind the port */
	enum fluid_kind kind;
	bool marks_leaving; /* the switch marks packets on dequeue */
	struct fluid_dcqcn dcqcn;
	struct fluid_timely timely;
	struct fluid_sample *samples;
	size_t count, capacity;
};

/* Returns a parameter of the algorithm, in seconds, bytes, bits per second or without a unit. */
static double value_of(const struct congestion *congestion, const char *name)
{
	for (const struct param *param = congestion->ops->params; param->name; param++) {
		const char *place = (const char *)congestion->params + param->offset;
		uint64_t whole;
		double ratio;
		if (strcmp(param->name, name) != 0)
			continue;
		if (param->kind == PARAM_FLAG)
			return *(const bool *)(const void *)place;
		memcpy(&whole, place, sizeof(whole));
		memcpy(&ratio, place, sizeof(ratio));
		if (param->kind == PARAM_RATIO)
			return ratio;
		return param->kind == PARAM_TIME ? (double)whole / (double)SEC : (double)whole;
	}
	assert(false);
	return 0;
}

static double seconds(sim_time time)
{
	return (double)time / (double)SEC;
}

/* Returns the switch at the other end of the host's link, or NULL. */
static const struct switch_params *switch_before(const struct scenario *scenario, uint32_t host)
{
	for (uint32_t i = 0; i < scenario->link_count; i++) {
		const struct scenario_node *ends = scenario->links[i].ends;
		for (unsigned side = 0; side < 2; side++) {
			const struct scenario_node *other = &ends[1 - side];
			if (!ends[side].is_switch && ends[side].number == host && other->is_switch)
				return scenario->switches[other->number].params;
		}
	}
	return NULL;
}

static struct fluid_port port_of(const struct fluid_study *study, const struct build *build)
{
	const struct scenario *scenario = study->scenario;
	uint32_t target = study->target;
	uint32_t sender = target == 0 ? 1 : 0, others = scenario->host_count - 1;
	uint64_t fan_in = scenario->workload.fan_in;
	const struct endpoint_params *endpoint = &scenario->hosts[target].endpoint->endpoint;
	struct ideal_routes *routes = ideal_routes_create(build);
	sim_time around = ideal_routes_find(routes, sender, target).latency +
			  ideal_routes_find(routes, target, sender).latency;
	ideal_routes_destroy(routes);
	bool ethernet = port_link_layer(study->port) == LINK_ETHERNET;
	return (struct fluid_port){
		.flows = fan_in > 0 && fan_in < others ? (unsigned)fan_in : others,
		.rate_bps = (double)port_rate_bps(study->port),
		.packet_bytes = (double)port_mtu(study->port) +
				(ethernet ? ROCE_OVERHEAD : INFINIBAND_OVERHEAD),
		.delay = seconds(around + 2 * endpoint->receive_latency),
		.start_bps = (double)port_rate_bps(build_host_port(build, sender)),
	};
}

static bool fill_dcqcn(struct fluid_study *study, const struct fluid_port *port,
		       const struct congestion *congestion, char *error, size_t error_bytes)
{
	const struct scenario *scenario = study->scenario;
	const struct switch_params *sw = switch_before(scenario, study->target);
	if (!sw || sw->ecn.mark == ECN_MARK_OFF) {
		snprintf(error, error_bytes,
			 "the switch before the target marks no packets; expected switch: {ecn: "
			 "{mark: dequeue, ..}}");
		return false;
	}
	study->kind = FLUID_DCQCN;
	study->marks_leaving = sw->ecn.mark == ECN_MARK_DEQUEUE;
	study->dcqcn = (struct fluid_dcqcn){
		.port = *port,
		.kmin_bytes = (double)sw->ecn.kmin,
		.kmax_bytes = (double)sw->ecn.kmax,
		.pmax = sw->ecn.pmax,
		.cnp_interval =
			seconds(scenario->hosts[study->target].endpoint->endpoint.cnp_interval),
		.gain = value_of(congestion, "gain"),
		.alpha_interval = value_of(congestion, "alpha_interval"),
		.timer = value_of(congestion, "timer"),
		.byte_counter_bytes = value_of(congestion, "byte_counter"),
		.stages = value_of(congestion, "stages"),
		.increase_bps = value_of(congestion, "increase"),
	};
	return true;
}

static bool fill_timely(struct fluid_study *study, const struct fluid_port *port,
			const struct congestion *congestion)
{
	study->kind = FLUID_TIMELY;
	study->timely = (struct fluid_timely){
		.port = *port,
		.patched = value_of(congestion, "patched") != 0,
		.rtt_low = value_of(congestion, "rtt_low"),
		.rtt_high = value_of(congestion, "rtt_high"),
		.rtt_min = value_of(congestion, "rtt_min"),
		.beta = value_of(congestion, "beta"),
		.alpha = value_of(congestion, "alpha"),
		.increase_bps = value_of(congestion, "increase"),
		.segment_bytes = value_of(congestion, "segment"),
	};
	study->timely.port.start_bps *= value_of(congestion, "start_share");
	return true;
}

static bool fill(struct fluid_study *study, const struct build *build, char *error,
		 size_t error_bytes)
{
	const struct scenario *scenario = study->scenario;
	const struct congestion *congestion = &scenario->hosts[0].endpoint->choice.congestion;
	const char *wrong = NULL;
	if (scenario->has_workloads)
		wrong = "the models support one workload; expected workload: {pattern: incast, ..}";
	else if (scenario->workload.pattern != PATTERN_incast || scenario->workload.count != 1)
		wrong = "the models support N flows into one port; expected workload: {pattern: "
			"incast, count: 1, ..}";
	else if (scenario->run.until == 0)
		wrong = "the run has no end; expected run: {until: TIME} or --until TIME";
	else if (build->flows)
		wrong = "fidelity: flow has no packets to compare with; expected fidelity: packet";
	if (wrong) {
		snprintf(error, error_bytes, "%s", wrong);
		return false;
	}
	if (!workload_find_target(&scenario->workload, scenario->workloads[0].host_names,
				  scenario->host_count, &study->target, error, error_bytes))
		return false;
	study->port = port_peer(build_host_port(build, study->target));
	const struct fluid_port port = port_of(study, build);
	if (strcmp(congestion->ops->name, "dcqcn") == 0)
		return fill_dcqcn(study, &port, congestion, error, error_bytes);
	if (strcmp(congestion->ops->name, "timely") == 0)
		return fill_timely(study, &port, congestion);
	snprintf(error, error_bytes,
		 "no fluid model of %s; expected congestion: dcqcn-.. or timely-..",
		 congestion->ops->name);
	return false;
}

struct fluid_study *fluid_study_create(const struct build *build, struct experiment *experiment,
				       char *error, size_t error_bytes)
{
	struct fluid_study *study = calloc(1, sizeof(*study));
	assert(study);
	if (scenario_has(build->scenario, FIDELITY_DETAILED)) {
		snprintf(error, error_bytes,
			 "the models do not support detailed HCAs; expected hosts: {.., hca: "
			 "{fidelity: endpoint}}");
		free(study);
		return NULL;
	}
	study->scenario = build->scenario;
	study->experiment = experiment;
	if (fill(study, build, error, error_bytes))
		return study;
	free(study);
	return NULL;
}

void fluid_study_sample(void *context, sim_time now, uint32_t flows_done, uint32_t flows)
{
	struct fluid_study *study = context;
	struct fluid_sample sample = {.time = seconds(now)};
	double sum = 0;
	(void)flows_done;
	if (study->count == study->capacity) {
		study->capacity = study->capacity > 0 ? 2 * study->capacity : 1024;
		study->samples = realloc(study->samples, study->capacity * sizeof(*study->samples));
		assert(study->samples);
	}
	for (unsigned vl = 0; vl < port_vls(study->port); vl++)
		sample.packet_queue_bytes += (double)port_queued_bytes(study->port, vl);
	for (uint32_t i = 0; i < flows; i++) {
		double rate = experiment_flow_rate_bps(study->experiment, i);
		sum += rate;
		if (i == 0 || rate < sample.packet_rate_least_bps)
			sample.packet_rate_least_bps = rate;
		if (rate > sample.packet_rate_most_bps)
			sample.packet_rate_most_bps = rate;
	}
	sample.packet_rate_bps = sum / flows;
	study->samples[study->count++] = sample;
}

static size_t solve(struct fluid_study *study, struct fluid_point **points)
{
	double until = seconds(study->scenario->run.until);
	return study->kind == FLUID_DCQCN ? fluid_model_dcqcn(&study->dcqcn, STEP, until, points)
					  : fluid_model_timely(&study->timely, STEP, until, points);
}

/* Returns the point at the time of the sample, or the last point. */
static struct fluid_point point_at(const struct fluid_sample *sample,
				   const struct fluid_point *points, size_t count)
{
	size_t place = (size_t)(sample->time / STEP + 0.5);
	return points[place < count ? place : count - 1];
}

void fluid_study_finish(struct fluid_study *study)
{
	struct fluid_point *points, *egress = NULL;
	size_t count = solve(study, &points);
	if (study->marks_leaving) {
		study->dcqcn.marks = FLUID_MARKS_LEAVING;
		count = solve(study, &egress);
	}
	for (size_t i = 0; i < study->count; i++) {
		struct fluid_sample *sample = &study->samples[i];
		struct fluid_point point = point_at(sample, points, count);
		sample->fluid_queue_bytes = point.queue_bytes;
		sample->fluid_rate_bps = point.rate_bps;
		sample->egress_queue_bytes = sample->egress_rate_bps = (double)NAN;
		if (!egress)
			continue;
		point = point_at(sample, egress, count);
		sample->egress_queue_bytes = point.queue_bytes;
		sample->egress_rate_bps = point.rate_bps;
	}
	free(egress);
	free(points);
}

const char *fluid_study_name(const struct fluid_study *study)
{
	if (study->kind == FLUID_DCQCN)
		return "DCQCN";
	return study->timely.patched ? "patched TIMELY" : "TIMELY";
}

const struct fluid_sample *fluid_study_samples(const struct fluid_study *study, size_t *count)
{
	*count = study->count;
	return study->samples;
}

void fluid_study_destroy(struct fluid_study *study)
{
	free(study->samples);
	free(study);
}
