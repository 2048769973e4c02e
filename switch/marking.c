/* SPDX-License-Identifier: Apache-2.0 */
/*
 * marking: congestion information that a switch writes to packets. ECN on Ethernet: RED on the
 * instantaneous queue (Floyd, Jacobson, ToN 1993), with the sharp end of DCQCN (SIGCOMM 2015),
 * where all packets beyond kmax are marked. FECN on InfiniBand: IBTA vol. 1, annex A10. In-band
 * telemetry for packets that request it: HPCC, SIGCOMM 2019.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "switch/switch_state.h"

/* Marks nothing if the queue is not above kmin: see marks_long_queues. */
static void ecn(struct switch_port *output, struct packet *packet)
{
	struct fabric_switch *sw = output->sw;
	const struct switch_ecn_params *params = &sw->params.ecn;
	uint64_t queue = port_queued_bytes(output->port, packet->vl);

	if (queue <= output->kmin || !(params->priorities & 1u << packet->vl))
		return;
	if (queue <= output->kmax &&
	    !random_chance(&output->chance, params->pmax * (double)(queue - output->kmin) /
						    (double)(output->kmax - output->kmin)))
		return;
	if (packet->ecn == ECN_ECT0 || packet->ecn == ECN_ECT1) {
		packet->ecn = ECN_CE;
		sw->count.ecn_marks++;
	} else if (packet->ecn == ECN_NOT_ECT) {
		sw->count.ecn_incapable++;
	}
}

/* Returns true if the VL has credits for the next packet and is thus the root of its congestion.
 * Otherwise the VL is a victim. */
static bool is_root(const struct switch_port *output, const struct packet *packet)
{
	return port_credits(output->port, packet->vl) * 64u >= packet->wire_bytes;
}

static void fecn(struct switch_port *output, struct packet *packet)
{
	struct fabric_switch *sw = output->sw;
	const struct switch_fecn_params *params = &sw->params.fecn;

	if (port_queued_bytes(output->port, packet->vl) <= output->fecn_threshold ||
	    packet->wire_bytes < params->packet_size * 64 || packet->kind != PACKET_DATA)
		return;
	if (!is_root(output, packet) && !output->marks_victims)
		return;
	if (output->fecn_passed++ < params->marking_rate)
		return;
	output->fecn_passed = 0;
	packet->ecn = ECN_CE;
	sw->count.ecn_marks++;
}

/* Returns the bytes that wait at the output. Packets in the switch's pipeline are queued but do not
 * wait yet. */
static uint64_t waiting_bytes(struct switch_port *output, unsigned vl, sim_time at)
{
	struct pipeline_count pipeline = pipeline_count(output->pipeline, vl, at);
	uint64_t bytes = port_queued_bytes(output->port, vl);
	uint64_t packets = port_queued(output->port, vl);

	assert(bytes >= pipeline.bytes && packets >= pipeline.packets);
	return bytes - pipeline.bytes + (packets - pipeline.packets) * output->gap_bytes;
}

/* Adds a telemetry record to a data packet. An ACK returns the records of the data packet. */
static void telemetry(struct switch_port *output, struct packet *packet, sim_time starts_at)
{
	const struct port_counters *counters = port_counters(output->port);
	struct telemetry *record = packet->telemetry;

	if (!record || record->complete)
		return;
	if (record->count == TELEMETRY_HOPS) {
		record->skipped++;
		return;
	}
	record->hops[record->count++] = (struct telemetry_hop){
		.at = starts_at,
		.sent_bytes = counters->bytes_sent + counters->packets_sent * output->gap_bytes,
		.rate_bps = port_rate_bps(output->port),
		.queue_bytes = (uint32_t)waiting_bytes(output, packet->vl, starts_at),
		.port = port_number(output->port),
	};
}

/* Marks the packet that a plug-in wants marked, if it can be marked. */
static void mark(struct switch_port *output, struct packet *packet)
{
	struct fabric_switch *sw = output->sw;

	if (packet->ecn == ECN_CE)
		return;
	if (sw->by_lid || packet->ecn != ECN_NOT_ECT) {
		packet->ecn = ECN_CE;
		sw->count.ecn_marks++;
	} else {
		sw->count.ecn_incapable++;
	}
}

void marking_arrive(struct switch_port *output, struct packet *packet)
{
	if (!output->sw->plugin_marks)
		ecn(output, packet);
	else if (plugins_mark_arrival(output, packet))
		mark(output, packet);
}

void marking_depart(struct switch_port *output, struct packet *packet, sim_time starts_at)
{
	struct fabric_switch *sw = output->sw;

	if (sw->plugin_marks) {
		if (plugins_mark_departure(output, packet, starts_at))
			mark(output, packet);
	} else if (sw->by_lid) {
		if (sw->params.fecn.threshold)
			fecn(output, packet);
	} else if (sw->params.ecn.mark == ECN_MARK_DEQUEUE) {
		ecn(output, packet);
	}
	if (sw->telemetry)
		telemetry(output, packet, starts_at);
}

bool switch_parse_mask(const char *text, struct port_set *ports)
{
	bool is_hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	size_t digits = strlen(text);

	*ports = (struct port_set){0};
	if (!digits)
		return true; /* no port is set */
	if (!is_hexadecimal) {
		char *end;

		errno = 0;
		ports->words[0] = strtoull(text, &end, 10);
		return isdigit((unsigned char)text[0]) && !*end && !errno;
	}
	for (unsigned i = 0; i < digits - 2; i++) {
		char digit[2] = {text[digits - 1 - i], 0};

		if (!isxdigit((unsigned char)digit[0]) || i >= PORT_SET_PORTS / 4)
			return false;
		ports->words[i / 16] |= strtoull(digit, NULL, 16) << i % 16 * 4;
	}
	return digits > 2;
}

static void set_thresholds(struct switch_port *output, uint64_t kmin, uint64_t kmax)
{
	output->kmin = kmin < UINT32_MAX ? (uint32_t)kmin : UINT32_MAX;
	output->kmax = kmax;
}

void marking_init(struct fabric_switch *sw)
{
	const struct switch_params *params = &sw->params;
	struct port_set victims;
	bool is_mask = switch_parse_mask(params->fecn.victim_mask.text, &victims);

	assert(is_mask);
	sw->telemetry = params->telemetry;
	sw->on_arrival = !sw->by_lid && params->ecn.mark == ECN_MARK_ENQUEUE;
	sw->marks =
		params->telemetry || sw->starvation ||
		(sw->by_lid ? params->fecn.threshold != 0 : params->ecn.mark == ECN_MARK_DEQUEUE);
	sw->plugin_marks = plugins_have(sw, PLUGIN_MARKING);
	sw->marks_long_queues = !sw->by_lid && !sw->telemetry && !sw->plugin_marks;
	if (sw->plugin_marks) {
		sw->on_arrival = plugins_mark_on_arrival(sw);
		sw->marks = true;
	}
	for (unsigned i = 0; i < sw->port_count; i++) {
		struct switch_port *output = &sw->ports[i];
		uint64_t buffer = port_params(output->port)->input_buffer;

		random_init_named(&output->chance, sim_seed(sw->block.sim), port_name(output->port),
				  "ecn");
		output->fecn_threshold = (uint32_t)(buffer * (16 - params->fecn.threshold) / 16);
		set_thresholds(output, params->ecn.kmin, params->ecn.kmax);
		output->marks_victims = port_set_has(&victims, i);
		output->pipeline = params->telemetry ? pipeline_create() : NULL;
		output->gap_bytes = params->telemetry_gaps ? port_gap_bytes(output->port) : 0;
	}
}

void marking_fini(struct fabric_switch *sw)
{
	for (unsigned i = 0; i < sw->port_count; i++)
		pipeline_destroy(sw->ports[i].pipeline);
}

void marking_start(struct fabric_switch *sw)
{
	const struct switch_ecn_params *params = &sw->params.ecn;

	for (unsigned i = 0; params->per_rate && i < sw->port_count; i++) {
		struct switch_port *output = &sw->ports[i];
		double share = (double)port_rate_bps(output->port) / (double)params->per_rate;

		set_thresholds(output, (uint64_t)((double)params->kmin * share),
			       (uint64_t)((double)params->kmax * share));
	}
}
