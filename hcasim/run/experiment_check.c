/* SPDX-License-Identifier: Apache-2.0 */
/*
 * experiment_check: rules that every run of every scenario must obey:
 *
 *   - Each block's rules on its own counters hold (sim/block.h). Lookups are hits, misses or
 *     merges. Credits come back. Bytes are the bytes of their TLPs. Every work request ends once.
 *   - A packet that left a port arrived at the other end, was counted as lost, or is in flight.
 *   - A packet that entered a switch left it, was counted as dropped, or is still in it. This rule
 *     does not apply to fidelity: flow.
 *   - The receiver accounted for all credits that its sender used.
 *   - If no events remain, queues, buffers and links are empty.
 *   - A lossless VL loses nothing, unless the scenario has faults or allows losses (run.loss).
 *   - The number of lost packets is the sum over the reasons.
 *   - No port sends, and no host receives, more than its link carries. This holds for the measured
 *     time, and for each row of series.csv.
 *   - Payload and the headers of its packets are no more than the bytes that the host received.
 *   - A limit of each queue pair stops no more queue pairs than have work.
 *   - No flow is faster than it would be alone.
 *   - No flow runs out of retries, unless the scenario expects it.
 *   - No deadlock occurs, unless the scenario expects it.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "hca/endpoint/endpoint.h"
#include "hcasim/run/bottleneck.h"
#include "hcasim/run/drops.h"
#include "hcasim/run/experiment_state.h"
#include "hcasim/schema/endpoint_device.h"
#include "switch/mirror.h"
#include "switch/switch.h"

#define LINES_MAX 20 /* maximum number of lines of one kind */

struct checker {
	const struct experiment *experiment;
	FILE *out;
	unsigned wrong;
};

__attribute__((format(printf, 2, 3))) static void report(struct checker *checker,
							 const char *format, ...)
{
	va_list values;
	if (checker->wrong++ >= LINES_MAX)
		return;
	va_start(values, format);
	vfprintf(checker->out, format, values);
	va_end(values);
	fputc('\n', checker->out);
}

/* Links without flow control may drop packets, and so may any link of a scenario with faults. */
uint64_t experiment_lossless_drops(const struct experiment *experiment)
{
	const struct build *build = experiment->build;
	uint64_t drops = 0;
	if (experiment->scenario->fault_count > 0)
		return 0;
	for (uint32_t i = 0; i < build->port_count; i++) {
		const struct port *port = build->ports[i];
		bool lossless = port_link_layer(port) == LINK_INFINIBAND ||
				port_params(port)->pfc_priorities != 0;
		drops += lossless ? port_counters(port)->overflow_drops : 0;
	}
	for (uint32_t i = 0; i < build->scenario->switch_count; i++)
		drops += switch_counters(build->switches[i])->headroom_drops;
	return drops;
}

/* Checks both directions together, because a port counts losses by faults on either side in one
 * counter. */
static void check_link(struct checker *checker, const struct port *one, const struct port *other)
{
	const struct port_counters *a = port_counters(one), *b = port_counters(other);
	uint64_t flying = port_flying_bytes(one) + port_flying_bytes(other);
	uint64_t lost = drops_on_link(one) + drops_on_link(other);
	if (lost == 0 &&
	    a->bytes_sent + b->bytes_sent != a->bytes_received + b->bytes_received + flying)
		report(checker,
		       "%s and %s: %" PRIu64 " bytes left, %" PRIu64 " arrived, %" PRIu64
		       " are in flight",
		       port_name(one), port_name(other), a->bytes_sent + b->bytes_sent,
		       a->bytes_received + b->bytes_received, flying);
	if (flying == 0 &&
	    a->packets_sent + b->packets_sent != a->packets_received + b->packets_received + lost)
		report(checker,
		       "%s and %s: %" PRIu64 " packets left, %" PRIu64 " arrived, %" PRIu64
		       " were lost",
		       port_name(one), port_name(other), a->packets_sent + b->packets_sent,
		       a->packets_received + b->packets_received, lost);
	/* credits lost with a link that goes down are restored when it comes up */
	if (flying == 0 && port_link_layer(one) == LINK_INFINIBAND && port_is_up(one) &&
	    a->credits_consumed + b->credits_consumed != a->credits_received + b->credits_received)
		report(checker, "%s and %s: %" PRIu64 " credits used, %" PRIu64 " accounted for",
		       port_name(one), port_name(other), a->credits_consumed + b->credits_consumed,
		       a->credits_received + b->credits_received);
}

static void check_switch(struct checker *checker, struct fabric_switch *sw,
			 const struct scenario_switch *device)
{
	const char *name = device->name;
	const struct switch_counters *counters = switch_counters(sw);
	uint64_t in = 0, out = 0, queued = 0;
	for (unsigned i = 0; i < switch_ports(sw); i++) {
		const struct port *port = switch_port(sw, i);
		in += port_counters(port)->packets_received;
		out += port_counters(port)->packets_sent;
		for (unsigned vl = 0; vl < port_vls(port); vl++)
			queued += port_queued(port, vl);
	}
	in += counters->control_packets_sent;
	if (device->params->conweave.reorder_memory == REORDER_APART)
		in -= counters->reorder_packets - counters->reorder_released;
	if (in + counters->copies !=
	    counters->packets_forwarded + drops_of_switch(sw) + counters->control_packets_received)
		report(checker,
		       "%s: %" PRIu64 " packets arrived or were created, %" PRIu64
		       " copies were created, %" PRIu64 " forwarded, %" PRIu64
		       " processed by the switch, %" PRIu64 " dropped",
		       name, in, counters->copies, counters->packets_forwarded,
		       counters->control_packets_received, drops_of_switch(sw));
	if (device->params->conweave.reorder_memory == REORDER_SHARED)
		queued += counters->reorder_packets - counters->reorder_released;
	if (counters->packets_forwarded + mirror_copies(sw) != out + queued + counters->queue_drops)
		report(checker,
		       "%s: %" PRIu64 " packets forwarded or mirrored, %" PRIu64 " left, %" PRIu64
		       " wait, %" PRIu64 " were dropped in queues",
		       name, counters->packets_forwarded + mirror_copies(sw), out, queued,
		       counters->queue_drops);
}

static void check_empty(struct checker *checker)
{
	const struct build *build = checker->experiment->build;
	if (!checker->experiment->drained || checker->experiment->deadlock.count > 0)
		return;
	for (uint32_t i = 0; i < build->port_count; i++) {
		const struct port *port = build->ports[i];
		uint64_t kept = experiment_queue_bytes(port);
		for (unsigned vl = 0; vl < port_vls(port); vl++)
			kept += port_input_used(port, vl);
		if (kept > 0)
			report(checker, "%s: %" PRIu64 " bytes remain, and no events remain",
			       port_name(port), kept);
	}
	if (checker->experiment->packets_left > 0)
		report(checker, "%" PRIu64 " packets remain, and no events remain",
		       checker->experiment->packets_left);
}

/* Returns true if all HCAs are equal. The ideal time uses the parameters of the first HCA. It does
 * not apply if any HCA is detailed. */
static bool all_alike(const struct scenario *scenario)
{
	const struct endpoint_device *first = scenario->hosts[0].endpoint;

	if (scenario_has(scenario, FIDELITY_DETAILED))
		return true;
	for (uint32_t i = 1; i < scenario->host_count; i++) {
		if (memcmp(&first->endpoint, &scenario->hosts[i].endpoint->endpoint,
			   sizeof(first->endpoint)) != 0)
			return false;
	}
	return true;
}

static void check_flows(struct checker *checker)
{
	const struct experiment *experiment = checker->experiment;
	if (!all_alike(experiment->scenario))
		return;
	for (uint32_t i = 0; i < experiment->workload->count; i++) {
		const struct flow_record *record = &experiment->records[i];
		if (record->status == FLOW_done && flow_fct(record) + NS < record->ideal)
			report(checker,
			       "flow %u took %" PRIu64 " ps, less than the %" PRIu64
			       " ps of an idle fabric",
			       i, flow_fct(record), record->ideal);
	}
}

/* Returns true if the scenario bounds the number of failed flows. */
static bool expects_failures(const struct scenario *scenario)
{
	for (uint32_t i = 0; i < scenario->expectation_count; i++) {
		const char *metric = scenario->expectations[i].metric;
		if (metric && scenario->expectations[i].gated &&
		    (strcmp(metric, metric_list[METRIC_flows_failed].name) == 0 ||
		     strcmp(metric, metric_list[METRIC_flows_done].name) == 0 ||
		     strcmp(metric, "operations_failed") == 0))
			return true;
	}
	return scenario->run.failed != 0;
}

static void check_failed(struct checker *checker)
{
	const struct experiment *experiment = checker->experiment;
	const struct scenario *scenario = experiment->scenario;
	double failed = experiment->metrics[METRIC_flows_failed];
	if (failed == 0 || expects_failures(scenario))
		return;
	report(checker,
	       "%.0f of %.0f flows failed: they ran out of retries; if this is intended, expect "
	       "{metric: flows_failed, ..} or set run.failed: expected",
	       failed, experiment->metrics[METRIC_flows]);
	if (build_reroutes(scenario))
		report(checker,
		       "links go down, and switches route around them %.9g us later: "
		       "fabric.reroute_delay",
		       (double)scenario->fabric.reroute_delay / (double)US);
}

/* Checks the payload that came to each host, with a tolerance of one packet. */
static void check_goodput(struct checker *checker, sim_time window)
{
	const struct experiment *experiment = checker->experiment;
	uint32_t hosts = experiment->scenario->host_count;
	double *bytes = calloc(hosts + 1, sizeof(*bytes));
	bool *first = experiment_first_flows(experiment);
	if (!bytes)
		abort();
	for (uint32_t i = 0; i < experiment->workload->count; i++)
		if (first[i])
			bytes[experiment->workload->flows[i].destination] +=
				(double)experiment->arrived[i];
	for (uint32_t i = 0; i < hosts; i++) {
		const struct port *port = build_host_port(experiment->build, i);
		double most = wire_check_room(port_rate_bps(port), window) + port_mtu(port);
		if (bytes[i] > most)
			report(checker,
			       "%s: wire: %.0f bytes of payload arrived in %.3f us, over a link "
			       "that carries %.0f",
			       experiment->scenario->hosts[i].name, bytes[i],
			       (double)window / (double)US, most);
	}
	free(first);
	free(bytes);
}

static void report_excess(struct checker *checker, const struct port *port,
			  const struct wire_excess *excess)
{
	if (excess->windows > 0)
		report(checker,
		       "%s: wire: %" PRIu64 " bytes left from %.6f to %.6f us, by a link that "
		       "carries %.0f; %" PRIu64 " such windows",
		       port_name(port), excess->bytes, (double)excess->from / (double)US,
		       (double)excess->until / (double)US,
		       wire_check_room(port_rate_bps(port), excess->until - excess->from),
		       excess->windows);
}

static void check_rates(struct checker *checker)
{
	const struct experiment *experiment = checker->experiment;
	sim_time window = experiment->measured_until - experiment->measured_from;
	/* with fidelity: flow the shares never exceed the rate; failed flows continue to send after
	 * the last flow that succeeds */
	if (experiment->build->flows || experiment->metrics[METRIC_flows_failed] > 0)
		return;
	for (uint32_t i = 0; i < experiment->sample_count; i++) {
		const struct port_sample *sample = &experiment->samples[i];
		struct wire_excess excess = {0};
		wire_check_window(&excess, port_rate_bps(sample->port), experiment->measured_from,
				  experiment_sent_until(experiment, sample->port),
				  sample->bytes_measured);
		report_excess(checker, sample->port, &excess);
		report_excess(checker, sample->port, &sample->excess);
	}
	check_goodput(checker, window);
}

/* Checks that the payload of an adapter fits its packets. Loopback uses no wire. */
static void check_payload(struct checker *checker, const struct build *build, uint32_t host)
{
	const struct port *port = build_host_port(build, host);
	uint64_t payload, packets, bytes = port_counters(port)->bytes_received;
	if (build->endpoint_hcas[host]) {
		const struct endpoint_counters *count =
			endpoint_counters(build->endpoint_hcas[host]);
		payload = count->data_bytes_received;
		packets = count->data_packets_received;
	} else {
		payload = drops_counted(build, host, "receive.payload_bytes");
		packets = drops_counted(build, host, "receive.packets");
		bytes += drops_counted(build, host, "transmit.loopback_bytes");
	}
	if (payload + packets * wire_check_header_bytes(port_link_layer(port)) > bytes)
		report(checker,
		       "%s: wire: %" PRIu64 " bytes of payload in %" PRIu64
		       " packets of at least %" PRIu32 " bytes more came in %" PRIu64 " bytes",
		       build->scenario->hosts[host].name, payload, packets,
		       wire_check_header_bytes(port_link_layer(port)), bytes);
}

static void check_fabric(struct checker *checker, const struct build *build)
{
	for (uint32_t i = 0; i < build->scenario->host_count && !build->flows; i++)
		check_payload(checker, build, i);
	for (uint32_t i = 0; i < build->port_count; i += 2)
		check_link(checker, build->ports[i], build->ports[i + 1]);
	for (uint32_t i = 0; i < build->scenario->switch_count && !build->flows; i++)
		check_switch(checker, build->switches[i], &build->scenario->switches[i]);
	checker->wrong += blocks_check(build->sim, checker->out);
	checker->wrong += bottleneck_check(build->sim, checker->out);
}

unsigned experiment_check_build(const struct build *build, FILE *out)
{
	struct checker checker = {.out = out};
	check_fabric(&checker, build);
	return checker.wrong;
}

/* Checks that the sum over all reasons equals the sum of the tables. The tables have a column for
 * each reason. Drops in queues are counted by the port and by its switch. */
static void check_drops(struct checker *checker, const struct build *build)
{
	uint64_t queues = 0, again = 0, sum = 0;
	for (uint32_t i = 0; i < build->scenario->switch_count; i++) {
		struct fabric_switch *sw = build->switches[i];
		again += switch_counters(sw)->queue_drops;
		sum += drops_of_switch(sw);
		for (unsigned j = 0; j < switch_ports(sw); j++)
			queues += drops_in_queues(switch_port(sw, j));
	}
	if (queues != again)
		report(checker,
		       "%" PRIu64
		       " packets were dropped in queues of ports, switches count %" PRIu64,
		       queues, again);
	for (uint32_t i = 0; i < build->port_count; i++)
		sum += drops_of_port(build->ports[i]);
	for (uint32_t i = 0; i < build->scenario->host_count; i++)
		sum += drops_of_hca(build, i);
	double drops = checker->experiment->metrics[METRIC_drops];
	if ((double)sum != drops)
		report(checker, "%.0f packets were lost, %" PRIu64 " are counted by reason", drops,
		       sum);
}

unsigned experiment_check(const struct experiment *experiment, FILE *out)
{
	struct checker checker = {.experiment = experiment, .out = out};
	check_fabric(&checker, experiment->build);
	check_drops(&checker, experiment->build);
	check_empty(&checker);
	check_flows(&checker);
	check_failed(&checker);
	check_rates(&checker);
	const char *trouble = experiment->backend->ops->trouble(experiment->backend);
	if (trouble)
		report(&checker, "%s", trouble);
	uint64_t lossless = experiment_lossless_drops(experiment);
	if (lossless > 0 && experiment->scenario->run.loss == 0)
		report(&checker, "%" PRIu64 " packets were lost in lossless VLs", lossless);
	if (experiment->deadlock.count > 0 &&
	    experiment->scenario->run.deadlock != DEADLOCK_EXPECTED) {
		char text[1024];
		report(&checker, "deadlock: %s",
		       deadlock_print(&experiment->deadlock, text, sizeof(text)));
	}
	if (checker.wrong > LINES_MAX)
		fprintf(out, "and %u more\n", checker.wrong - LINES_MAX);
	return checker.wrong;
}
