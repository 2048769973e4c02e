/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trial_measure: what of a run is sampled and measured: queues, pauses and rates of ports, bytes of flows, from
 * run.warm_up to run.measure_until.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "hcasim/run/trial_state.h"
#include "hcasim/schema/endpoint_device.h"

#define QUEUE_STEP  UINT64_C(1000) /* bytes */
#define UNDERUSED   0.9            /* of a port's rate */
#define ACK_OVERDUE 128            /* packets: twice what an ACK tells of at most, ack_interval */
#define WIDE        0.03           /* of the hosts: ground truth D-15 */

static uint64_t queue_packets(const struct port *port)
{
	uint64_t packets = 0;
	for (unsigned lane = 0; lane < port_lanes(port); lane++)
		packets += port_queued(port, lane);
	return packets;
}

static uint64_t input_bytes(const struct port *port)
{
	uint64_t bytes = 0;
	for (unsigned lane = 0; lane < port_lanes(port); lane++)
		bytes += port_input_used(port, lane);
	return bytes;
}

sim_time trial_paused_time(const struct port *port)
{
	sim_time time = 0;
	for (unsigned lane = 0; lane < port_lanes(port); lane++)
		time += port_paused_time(port, lane);
	return time;
}

static void count_queue(struct trial *trial, uint64_t queue)
{
	uint64_t place = queue / QUEUE_STEP, rooms = trial->queue_rooms;
	if (place >= rooms) {
		trial->queue_rooms = 2 * (place + 1);
		trial->queue_counts = realloc(trial->queue_counts,
					      trial->queue_rooms * sizeof(*trial->queue_counts));
		if (trial->queue_counts == NULL)
			abort();
		for (uint64_t i = rooms; i < trial->queue_rooms; i++)
			trial->queue_counts[i] = 0;
	}
	trial->queue_counts[place]++;
	trial->queue_samples++;
}

/* One line, and what means and maxima are made of. */
static void sample_port(struct trial *trial, struct port_sample *sample, sim_time now)
{
	const struct port *port = sample->port;
	const struct port_counters *counters = port_counters(port);
	uint64_t queue = trial_queue_bytes(port), out = port_bytes_out(port);
	sim_time paused = trial_paused_time(port), interval = now - trial->sampled_at;
	if (queue > sample->queue_max)
		sample->queue_max = queue;
	if (now > trial->scenario->run.warm_up && !trial->measured) {
		double sent = (double)(out - sample->bytes_out) * 8e12;

		if (sent < UNDERUSED * (double)port_rate_bps(port) * (double)interval)
			sample->underused += interval;
		sample->queue_sum += (double)queue;
		sample->packets_sum += (double)queue_packets(port);
		sample->leaving_sum += (double)port_leaving_bytes(port);
		gsl_rstat_quantile_add((double)queue, sample->queue_p90);
		gsl_rstat_quantile_add((double)queue, sample->queue_p95);
		gsl_rstat_quantile_add((double)queue, sample->queue_p99);
		sample->count++;
		count_queue(trial, queue);
	}
	fprintf(trial->series, "%.6f,%s,%" PRIu64 ",%" PRIu64 ",%.6f,%.6f,%" PRIu64 "\n",
		(double)now / (double)US, port_name(port), queue, input_bytes(port),
		(double)(out - sample->bytes_out) * 8e3 / (double)interval,
		(double)(paused - sample->paused) / (double)US,
		counters->pause_received - sample->pauses);
	sample->bytes_out = out;
	sample->paused = paused;
	sample->pauses = counters->pause_received;
}

/* How many hosts are paused, now. */
static void sample_hosts(struct trial *trial)
{
	const struct build *build = trial->build;
	uint64_t paused = 0, hosts = trial->scenario->host_count;
	for (uint32_t i = 0; i < hosts; i++) {
		const struct port *port = build_host_port(build, i);
		bool stands = false;
		for (unsigned lane = 0; lane < port_lanes(port); lane++)
			stands = stands || port_paused(port, lane);
		paused += stands;
	}
	if (paused > trial->hosts_paused_max)
		trial->hosts_paused_max = paused;
	trial->samples_paused += paused > 0;
	trial->samples_wide += (double)paused > WIDE * (double)hosts;
}

/* A flow model has what it carried counted when it is asked. */
static void settle(const struct trial *trial)
{
	if (trial->build->flows != NULL)
		flow_fabric_settle(trial->build->flows);
}

void trial_sample(struct trial *trial)
{
	settle(trial);
	sim_time now = sim_now(trial->build->sim);
	for (uint32_t i = 0; i < trial->sample_count; i++)
		sample_port(trial, &trial->samples[i], now);
	if (trial->measuring && !trial->measured)
		sample_hosts(trial);
	trial->sampled_at = now;
}

static sim_time paused_all(const struct trial *trial)
{
	sim_time sum = 0;
	for (uint32_t i = 0; i < trial->build->port_count; i++)
		sum += trial_paused_time(trial->build->ports[i]);
	return sum;
}

static uint32_t mtu_of(const struct trial *trial, uint32_t flow)
{
	return port_mtu(build_host_port(trial->build, trial->workload->flows[flow].source));
}

/* What has been counted so far, less what had been when measuring began. */
static void take_counts(struct trial *trial)
{
	settle(trial);
	for (uint32_t i = 0; i < trial->workload->count; i++) {
		if (player_requester(trial->player, i) == NULL)
			continue;
		uint64_t arrived = player_arrived_bytes(trial->player, i) - trial->arrived[i];
		uint64_t acked = player_acked_bytes(trial->player, i) - trial->acked[i];
		/* whose ACKs do not come any more gets nothing done, as in a storm */
		bool unheard = trial->measured && acked == 0 &&
			       arrived > (uint64_t)ACK_OVERDUE * mtu_of(trial, i);
		trial->arrived[i] = unheard ? 0 : arrived;
		trial->acked[i] = acked;
	}
	for (uint32_t i = 0; i < trial->sample_count; i++) {
		struct port_sample *sample = &trial->samples[i];
		sample->bytes_measured = port_bytes_out(sample->port) - sample->bytes_measured;
		sample->paused_measured = trial_paused_time(sample->port) - sample->paused_measured;
	}
	trial->paused_all = paused_all(trial) - trial->paused_all;
}

void trial_measure_begin(struct trial *trial)
{
	trial->measuring = true;
	trial->measured_from = sim_now(trial->build->sim);
	take_counts(trial);
}

void trial_measure_end(struct trial *trial)
{
	if (trial->measured)
		return;
	if (!trial->measuring)
		trial_measure_begin(trial);
	trial->measured = true;
	trial->measured_until = sim_now(trial->build->sim);
	take_counts(trial);
}

double trial_queue_quantile(const struct trial *trial, double share)
{
	uint64_t below = 0, place = (uint64_t)(share * (double)trial->queue_samples);
	for (uint64_t i = 0; i < trial->queue_rooms; i++) {
		below += trial->queue_counts[i];
		if (below > place)
			return (double)(i * QUEUE_STEP);
	}
	return trial->queue_samples > 0 ? (double)((trial->queue_rooms - 1) * QUEUE_STEP) : 0;
}
