/* SPDX-License-Identifier: Apache-2.0 */
/*
 * experiment_measure: samples and measures queues, pauses and rates of ports, and bytes of flows,
 * from run.warm_up to run.measure_until.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "hcasim/run/experiment_state.h"
#include "hcasim/schema/endpoint_device.h"

#define QUEUE_STEP UINT64_C(1000) /* bytes */
#define UNDERUSED  0.9            /* share of a port's rate */
/* packets: twice the maximum number that one ACK acknowledges (ack_interval) */
#define ACK_OVERDUE 128
#define FLOWS_READ  1024u /* at a time */
#define WIDE        0.03  /* share of the hosts: HPCC, SIGCOMM 2019 (row D-15) */

static uint64_t queue_packets(const struct port *port)
{
	uint64_t packets = 0;
	for (unsigned vl = 0; vl < port_vls(port); vl++)
		packets += port_queued(port, vl);
	return packets;
}

static uint64_t input_bytes(const struct port *port)
{
	uint64_t bytes = 0;
	for (unsigned vl = 0; vl < port_vls(port); vl++)
		bytes += port_input_used(port, vl);
	return bytes;
}

sim_time experiment_paused_time(const struct port *port)
{
	sim_time time = 0;
	for (unsigned vl = 0; vl < port_vls(port); vl++)
		time += port_paused_time(port, vl);
	return time;
}

static void count_queue(struct experiment *experiment, uint64_t queue)
{
	uint64_t place = queue / QUEUE_STEP, rooms = experiment->queue_rooms;
	if (place >= rooms) {
		experiment->queue_rooms = 2 * (place + 1);
		experiment->queue_counts =
			realloc(experiment->queue_counts,
				experiment->queue_rooms * sizeof(*experiment->queue_counts));
		if (!experiment->queue_counts)
			abort();
		for (uint64_t i = rooms; i < experiment->queue_rooms; i++)
			experiment->queue_counts[i] = 0;
	}
	experiment->queue_counts[place]++;
	experiment->queue_samples++;
}

/* Writes one line, and updates means and maxima. */
static void sample_port(struct experiment *experiment, struct port_sample *sample, sim_time now)
{
	const struct port *port = sample->port;
	const struct port_counters *counters = port_counters(port);
	uint64_t queue = experiment_queue_bytes(port), out = port_bytes_out(port);
	sim_time paused = experiment_paused_time(port), interval = now - experiment->sampled_at;
	wire_check_window(&sample->excess, port_rate_bps(port), experiment->sampled_at, now,
			  out - sample->bytes_out);
	if (queue > sample->queue_max)
		sample->queue_max = queue;
	if (now > experiment->scenario->run.warm_up && !experiment->measured) {
		double sent = (double)(out - sample->bytes_out) * 8e12;

		if (sent < UNDERUSED * (double)port_rate_bps(port) * (double)interval)
			sample->underused += interval;
		sample->queue_sum += (double)queue;
		sample->queue_squares += (double)queue * (double)queue;
		sample->packets_sum += (double)queue_packets(port);
		sample->leaving_sum += (double)port_leaving_bytes(port);
		gsl_rstat_quantile_add((double)queue, sample->queue_p90);
		gsl_rstat_quantile_add((double)queue, sample->queue_p95);
		gsl_rstat_quantile_add((double)queue, sample->queue_p99);
		sample->count++;
		count_queue(experiment, queue);
	}
	fprintf(experiment->series, "%.6f,%s,%" PRIu64 ",%" PRIu64 ",%.6f,%.6f,%" PRIu64 "\n",
		(double)now / (double)US, port_name(port), queue, input_bytes(port),
		(double)(out - sample->bytes_out) * 8e3 / (double)interval,
		(double)(paused - sample->paused) / (double)US,
		counters->pause_received - sample->pauses);
	sample->bytes_out = out;
	sample->paused = paused;
	sample->pauses = counters->pause_received;
}

/* Samples the number of paused hosts. */
static void sample_hosts(struct experiment *experiment)
{
	const struct build *build = experiment->build;
	uint64_t paused = 0, hosts = experiment->scenario->host_count;
	for (uint32_t i = 0; i < hosts; i++) {
		const struct port *port = build_host_port(build, i);
		bool stands = false;
		for (unsigned vl = 0; vl < port_vls(port); vl++)
			stands = stands || port_paused(port, vl);
		paused += stands;
	}
	if (paused > experiment->hosts_paused_max)
		experiment->hosts_paused_max = paused;
	experiment->samples_paused += paused > 0;
	experiment->samples_wide += (double)paused > WIDE * (double)hosts;
}

/* Makes a flow-level model update its counters. */
static void settle(const struct experiment *experiment)
{
	if (experiment->build->flows)
		flow_fabric_settle(experiment->build->flows);
}

void experiment_sample(struct experiment *experiment)
{
	settle(experiment);
	sim_time now = sim_now(experiment->build->sim);
	for (uint32_t i = 0; i < experiment->sample_count; i++)
		sample_port(experiment, &experiment->samples[i], now);
	if (experiment->queues)
		queue_record_sample(experiment->queues, now,
				    now > experiment->scenario->run.warm_up &&
					    !experiment->measured);
	if (experiment->flow_series)
		flow_series_sample(experiment->flow_series, now);
	if (experiment->measuring && !experiment->measured)
		sample_hosts(experiment);
	experiment->sampled_at = now;
}

static sim_time paused_all(const struct experiment *experiment)
{
	sim_time sum = 0;
	for (uint32_t i = 0; i < experiment->build->port_count; i++)
		sum += experiment_paused_time(experiment->build->ports[i]);
	return sum;
}

static uint32_t mtu_of(const struct experiment *experiment, uint32_t flow)
{
	return port_mtu(
		build_host_port(experiment->build, experiment->workload->flows[flow].source));
}

struct flow_bytes {
	uint64_t arrived, acked;
};

static bool is_counted(const struct experiment *experiment, uint32_t flow)
{
	return !workload_is_barrier(&experiment->workload->flows[flow]) &&
	       flow_driver_first_flow(experiment->driver, flow) == flow;
}

/* Writes the bytes of the queue pairs of flows from `from` on, of all ranks. */
static void read_bytes(const struct experiment *experiment, uint32_t from, uint32_t count,
		       struct flow_bytes *bytes)
{
	for (uint32_t i = 0; i < count; i++) {
		bytes[i] = (struct flow_bytes){0};
		if (!is_counted(experiment, from + i))
			continue;
		bytes[i].arrived = flow_driver_arrived_bytes(experiment->driver, from + i);
		bytes[i].acked = flow_driver_acked_bytes(experiment->driver, from + i);
	}
	sim_sum(experiment->build->sim, &bytes->arrived, 2 * (size_t)count);
}

static void take_bytes(struct experiment *experiment, uint32_t flow, const struct flow_bytes *bytes)
{
	if (workload_is_barrier(&experiment->workload->flows[flow]))
		return;
	uint32_t first = flow_driver_first_flow(experiment->driver, flow);
	if (first < flow) { /* of the same queue pair */
		experiment->arrived[flow] = experiment->arrived[first];
		experiment->acked[flow] = experiment->acked[first];
		return;
	}
	uint64_t arrived = bytes->arrived - experiment->arrived[flow];
	uint64_t acked = bytes->acked - experiment->acked[flow];
	/* a queue pair whose ACKs stop arriving makes no progress, for example in a pause storm */
	bool unheard = experiment->measured && acked == 0 &&
		       arrived > (uint64_t)ACK_OVERDUE * mtu_of(experiment, flow);
	experiment->arrived[flow] = unheard ? 0 : arrived;
	experiment->acked[flow] = acked;
}

/* Subtracts the values at the start of the measurement from the current ones. */
static void take_counts(struct experiment *experiment)
{
	struct flow_bytes bytes[FLOWS_READ];
	uint32_t count = experiment->workload->count;
	settle(experiment);
	for (uint32_t from = 0; from < count; from += FLOWS_READ) {
		uint32_t part = count - from < FLOWS_READ ? count - from : FLOWS_READ;
		read_bytes(experiment, from, part, bytes);
		for (uint32_t i = 0; i < part; i++)
			take_bytes(experiment, from + i, &bytes[i]);
	}
	for (uint32_t i = 0; i < experiment->sample_count; i++) {
		struct port_sample *sample = &experiment->samples[i];
		sample->bytes_measured = port_bytes_out(sample->port) - sample->bytes_measured;
		sample->paused_measured =
			experiment_paused_time(sample->port) - sample->paused_measured;
	}
	experiment->paused_all = paused_all(experiment) - experiment->paused_all;
}

void experiment_measure_begin(struct experiment *experiment)
{
	experiment->measuring = true;
	experiment->measured_from = sim_now(experiment->build->sim);
	take_counts(experiment);
}

void experiment_measure_end(struct experiment *experiment)
{
	if (experiment->measured)
		return;
	if (!experiment->measuring)
		experiment_measure_begin(experiment);
	experiment->measured = true;
	experiment->measured_until = experiment->counted_until = sim_now(experiment->build->sim);
	take_counts(experiment);
}

double experiment_queue_quantile(const struct experiment *experiment, double share)
{
	uint64_t below = 0, place = (uint64_t)(share * (double)experiment->queue_samples);
	for (uint64_t i = 0; i < experiment->queue_rooms; i++) {
		below += experiment->queue_counts[i];
		if (below > place)
			return (double)(i * QUEUE_STEP);
	}
	return experiment->queue_samples > 0 ? (double)((experiment->queue_rooms - 1) * QUEUE_STEP)
					     : (double)NAN;
}
