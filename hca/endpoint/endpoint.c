/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint: see endpoint.h. This file has the interfaces: posts and completions, packets from the
 * port, creation and destruction.
 */
#include "hca/endpoint/endpoint.h"

#include <stdio.h>
#include <stdlib.h>

#include "fabric/port_params.h"
#include "hca/endpoint/cc_extension.h"
#include "hca/endpoint/connection_cache.h"
#include "hca/endpoint/endpoint_carry.h"
#include "hca/endpoint/endpoint_fold.h"
#include "hca/endpoint/iwarp_end.h"
#include "hca/endpoint/tcp_end.h"

void endpoint_post(struct endpoint_qp *qp, struct endpoint_message *message)
{
	struct endpoint_hca *ep = qp->ep;

	assert(message->done &&
	       (message->bytes <= UINT32_MAX || message->operation < ENDPOINT_READ));
	assert(!qp->is_tcp || (message->bytes && (message->operation <= ENDPOINT_SEND ||
						  tcp_end_may_read(qp, message))));
	if (!qp->cc && !qp->is_tcp)
		connect_state_init(qp);
	message->qp = qp;
	message->posted_at = endpoint_now(ep);
	message->packets_sent = message->packets_retransmitted = 0;
	ep->count.messages_posted++;
	delay_line_push(&ep->doorbells, &message->item, ep->params->send_latency);
}

static uint64_t psns_of(const struct endpoint_hca *ep, const struct endpoint_message *message)
{
	if (message->operation == ENDPOINT_ATOMIC || message->bytes <= ep->mtu_bytes)
		return 1;
	return (message->bytes + ep->mtu_bytes - 1) / ep->mtu_bytes;
}

/* Passes a message to the transport, after the latency of the host. */
static void enqueue(struct delay_line *line, struct delay_item *item)
{
	struct endpoint_message *message = container_of(item, struct endpoint_message, item);
	struct endpoint_qp *qp = message->qp;
	struct endpoint_message *last = qp->newest;

	(void)line;
	if (qp->flags & QP_FAILED) {
		endpoint_complete(qp, message, ENDPOINT_FLUSHED);
		return;
	}
	message->packets = qp->is_tcp ? tcp_end_stream_bytes(qp, message->operation, message->bytes)
				      : psns_of(qp->ep, message);
	if (qp->ep->flows) {
		flow_post(qp, message);
		return;
	}
	message->first_psn = last ? last->first_psn + last->packets : qp->unacked_psn;
	message->first_byte = qp->acked_bytes;
	if (last)
		message->first_byte =
			last->first_byte + (message_is_read_or_atomic(last) ? 0 : last->bytes);
	message->next = last ? last->next : message;
	if (last)
		last->next = message;
	qp->newest = message;
	if (qp->is_tcp) {
		tcp_end_posted(qp);
		return;
	}
	if (!qp->sending)
		qp->sending = message;
	if (!last) {
		qp->ep->active_qps++;
		departure_begin(qp);
	}
	if (message_is_read_or_atomic(message))
		qp->flags |= QP_READS;
	else if (__builtin_expect(qp->cc->extension != NULL, 0))
		cc_extension_post(qp, message->bytes);
	departure_consider(qp);
}

void endpoint_complete(struct endpoint_qp *qp, struct endpoint_message *message,
		       enum endpoint_status status)
{
	struct endpoint_hca *ep = qp->ep;

	message->status = status;
	message->done_at = endpoint_now(ep) + ep->params->complete_latency;
	if (status == ENDPOINT_OK)
		ep->count.messages_completed++;
	else
		ep->count.messages_failed++;
	delay_line_push_at(&ep->completions, &message->item, message->done_at);
}

static void complete(struct delay_line *line, struct delay_item *item)
{
	struct endpoint_message *message = container_of(item, struct endpoint_message, item);

	(void)line;
	trace(&message->qp->ep->block, TRACE_MESSAGE_COMPLETE, message->tag, message->qp->number,
	      message->bytes);
	message->done(message);
}

/* ---- packets from the port ---- */

void endpoint_packet_line_append(struct packet_line *line, struct packet *packet)
{
	packet->next = NULL;
	if (line->head)
		line->tail->next = packet;
	else
		line->head = packet;
	line->tail = packet;
}

void endpoint_packet_line_push(struct packet_line *line, struct packet *packet)
{
	endpoint_packet_line_append(line, packet);
	if (!event_pending(&line->event) && line->head == packet)
		sim_schedule_at(&line->event, packet->tail_at);
}

static void packet_line_fire(struct event *event)
{
	struct packet_line *line = container_of(event, struct packet_line, event);
	struct packet *packet = line->head;

	line->head = packet->next;
	if (line->head)
		sim_schedule_at(event, line->head->tail_at);
	line->handle(line->ep, packet);
}

static void packet_line_init(struct packet_line *line, struct endpoint_hca *ep,
			     void (*handle)(struct endpoint_hca *, struct packet *))
{
	*line = (struct packet_line){.ep = ep, .handle = handle};
	event_init(&line->event, &ep->block, packet_line_fire);
}

static void send_late(struct endpoint_hca *ep, struct packet *packet)
{
	port_send_at(ep->port, packet, endpoint_now(ep));
}

static struct endpoint_qp *find_qp(const struct endpoint_hca *ep, const struct packet *packet)
{
	uint32_t index = packet->dest_qp - FIRST_QP_NUMBER;
	struct endpoint_slot *slot;

	assert(index < ep->qp_count);
	slot = slot_of(ep, index);
	return __builtin_expect(slot->where & SLOT_AT_REST, 0) ? rest_wake(slot) : slot_qp(slot);
}

static bool needs_context(const struct endpoint_hca *ep, const struct packet *packet)
{
	if (packet->damage)
		return false;
	return packet->kind != PACKET_TCP || find_qp(ep, packet)->tcp->iwarp;
}

/* Frees the input space at the rate of the host. Sets tail_at to the time at which the packet takes
 * effect. */
static void take_in(struct endpoint_hca *ep, struct packet *packet)
{
	sim_time in_memory_at = packet->tail_at;

	if (ep->receives_slowly) {
		sim_time took = (sim_time)packet->wire_bytes * 8 * SEC / ep->params->receive_rate;

		if (ep->host_receive_at + took > in_memory_at)
			in_memory_at = ep->host_receive_at + took;
		ep->host_receive_at = in_memory_at;
	}
	if (__builtin_expect(ep->cache != NULL, 0) && needs_context(ep, packet))
		in_memory_at = connection_cache_take(ep, packet, in_memory_at);
	port_release_at(ep->port, packet->vl, packet->wire_bytes, in_memory_at);
	packet->tail_at = in_memory_at + ep->params->receive_latency;
}

static bool is_refused(struct endpoint_hca *ep, const struct packet *packet)
{
	bool damaged = packet->damage & DAMAGE_ICRC;
	bool foreign = packet->damage & WRONG_MAC && packet->path->destination != ep->endpoint;

	ep->count.icrc_drops += damaged;
	ep->count.foreign_drops += !damaged && foreign;
	if (damaged)
		sim_note_loss(ep->block.sim, sim_now(ep->block.sim));
	return damaged || foreign;
}

static void receive(struct port_user *user, struct port *port, struct packet *packet)
{
	struct endpoint_hca *ep = container_of(user, struct endpoint_hca, port_user);

	(void)port;
	take_in(ep, packet);
	if (__builtin_expect(packet->damage, 0) && is_refused(ep, packet)) {
		packet_free(ep->pool, packet);
	} else if (packet->kind == PACKET_TCP) {
		endpoint_packet_line_push(&ep->arrived, packet);
	} else if (packet->kind == PACKET_RAW) {
		ep->count.stack_drops++;
		packet_free(ep->pool, packet);
	} else if (opcode_is_request(packet->opcode)) {
		responder_arrive(find_qp(ep, packet), packet);
	} else {
		packet->ingress = IS_RESPONSE;
		endpoint_packet_line_push(&ep->arrived, packet);
	}
}

static void receive_in_partition(struct port_user *user, struct port *port, struct packet *packet)
{
	struct endpoint_hca *ep = container_of(user, struct endpoint_hca, port_user);

	if (packet->kind != PACKET_DATA ||
	    pkey_matches(packet->pkey, endpoint_pkey(find_qp(ep, packet)))) {
		receive(user, port, packet);
		return;
	}
	port_release_at(port, packet->vl, packet->wire_bytes, packet->tail_at);
	ep->count.pkey_violations++;
	sim_note_loss(ep->block.sim, sim_now(ep->block.sim));
	packet_free(ep->pool, packet);
}

void endpoint_receives(struct endpoint_hca *ep)
{
	ep->port_user.receive = ep->partitioned ? receive_in_partition : receive;
}

static void act(struct endpoint_hca *ep, struct packet *packet)
{
	struct endpoint_qp *qp;

	if (__builtin_expect(ep->awake.to_examine != 0, 0))
		rest_some(ep);
	qp = find_qp(ep, packet);
	if (qp->is_tcp) {
		tcp_end_input(qp, packet);
	} else if (packet->ingress != IS_RESPONSE) {
		responder_act(qp, packet);
	} else if (packet->opcode == CNP_NOTIFY) {
		if (!cc_extension_control(qp, packet))
			notify_receive(qp);
		packet_free(ep->pool, packet);
		departure_consider(qp);
	} else {
		requester_act(qp, packet);
	}
}

/* Prefetches what each received packet uses. */
static void fetch_adapter(const struct event *event)
{
	struct port_user *user;
	const struct packet *packet = port_arriving(event, &user);
	const struct endpoint_hca *ep = container_of(user, struct endpoint_hca, port_user);

	__builtin_prefetch(&packet->payload, 1);
	__builtin_prefetch(&ep->mtu_bytes, 1);
	__builtin_prefetch(&ep->arrived, 1);
	__builtin_prefetch(&ep->chunks);
	__builtin_prefetch(&ep->count, 1);
}

/* Prefetches the queue pair of the packet. */
static void fetch_qp(const struct event *event)
{
	struct port_user *user;
	const struct packet *packet = port_arriving(event, &user);
	const struct endpoint_hca *ep = container_of(user, struct endpoint_hca, port_user);
	uint32_t index = packet->dest_qp - FIRST_QP_NUMBER;
	const struct endpoint_qp *qp;

	if (index >= ep->qp_count || slot_of(ep, index)->where & SLOT_AT_REST)
		return;
	qp = slot_qp(slot_of(ep, index));
	__builtin_prefetch(&qp->expected_psn, 1);
	__builtin_prefetch(&qp->next_ready, 1);
}

static const struct event_fetch arrival = {
	{port_fetch_arrival_port, port_fetch_arrival_packet, fetch_adapter, fetch_qp}};
static const struct event_fetch departure = {{port_fetch_departure_port, port_fetch_departure_queue,
					      port_fetch_departure_packet,
					      port_fetch_departure_packet}};

static void room(struct port_user *user, struct port *port, unsigned vl)
{
	(void)port, (void)vl;
	departure_fill(container_of(user, struct endpoint_hca, port_user));
}

/* ---- queries ---- */

struct port *endpoint_port(struct endpoint_hca *ep)
{
	return ep->port;
}

struct sim *endpoint_sim(const struct endpoint_hca *ep)
{
	return ep->block.sim;
}

uint32_t endpoint_number(const struct endpoint_hca *ep)
{
	return ep->endpoint;
}

uint32_t endpoint_qp_number(const struct endpoint_qp *qp)
{
	return qp->number;
}

uint32_t endpoint_next_qp_number(const struct endpoint_hca *ep)
{
	return FIRST_QP_NUMBER + ep->qp_count;
}

struct endpoint_qp *endpoint_peer(const struct endpoint_qp *qp)
{
	return peer_of(qp);
}

struct endpoint_hca *endpoint_of(const struct endpoint_qp *qp)
{
	return qp->ep;
}

const struct path *endpoint_path(const struct endpoint_qp *qp)
{
	return qp->path;
}

uint64_t endpoint_packets_sent(const struct endpoint_message *message)
{
	return message->qp->ep->flows ? flow_packets_sent(message) : message->packets_sent;
}

bool endpoint_failed(const struct endpoint_qp *qp)
{
	return qp->flags & QP_FAILED;
}

uint64_t endpoint_rate_bps(struct endpoint_qp *qp)
{
	uint64_t line = port_rate_bps(qp->ep->port);

	if (qp->is_tcp)
		return tcp_end_rate_bps(qp, line);
	if (!qp->cc)
		return line;
	congestion_settle(qp->cc->congestion, cc_of(qp), endpoint_now(qp->ep));
	return cc_of(qp)->rate_bps < line ? cc_of(qp)->rate_bps : line;
}

uint64_t endpoint_cwnd_bytes(struct endpoint_qp *qp)
{
	struct tcp_report report;

	if (qp->is_tcp) {
		tcp_report(qp->tcp->connection, &report);
		return report.cwnd_bytes;
	}
	if (!qp->cc)
		return CWND_UNLIMITED;
	congestion_settle(qp->cc->congestion, cc_of(qp), endpoint_now(qp->ep));
	return cc_of(qp)->cwnd_bytes;
}

const void *endpoint_gauges(const struct endpoint_qp *qp, const struct congestion_gauge **gauges)
{
	const struct congestion *congestion = connect_congestion(qp);

	*gauges = qp->is_tcp ? NULL : congestion->ops->gauges;
	return qp->cc && *gauges ? qp->cc->state : NULL;
}

sim_time endpoint_rtt(const struct endpoint_qp *qp)
{
	struct tcp_report report;

	if (qp->is_tcp) {
		tcp_report(qp->tcp->connection, &report);
		return report.srtt;
	}
	return qp->cc ? qp->cc->rtt : 0;
}

uint64_t endpoint_acked_bytes(const struct endpoint_qp *qp)
{
	if (qp->ep->flows)
		return flow_acked_bytes(qp);
	if (qp->is_tcp)
		return qp->acked_bytes + tcp_end_read_bytes(qp);
	return qp->acked_bytes + (qp->cc ? qp->cc->response_bytes : 0);
}

uint64_t endpoint_inflight_bytes(const struct endpoint_qp *qp)
{
	struct tcp_report report;

	if (qp->is_tcp) {
		tcp_report(qp->tcp->connection, &report);
		return report.in_flight_bytes;
	}
	return qp->sent_bytes - qp->acked_bytes;
}

uint32_t endpoint_cnps(const struct endpoint_qp *qp)
{
	return qp->cnps;
}

uint32_t endpoint_marks(const struct endpoint_qp *qp)
{
	return qp->marks;
}

const struct endpoint_counters *endpoint_counters(const struct endpoint_hca *ep)
{
	return &ep->count;
}

/* ---- creation and destruction ---- */

void endpoint_attach(struct endpoint_hca *ep, struct endpoints *endpoints, uint32_t number)
{
	assert(!ep->qp_count);
	ep->endpoints = endpoints;
	ep->endpoint = number;
	ep->partitioned = endpoints_get(endpoints, number)->partitions != &partitions_default;
	endpoint_receives(ep);
}

void endpoint_set_tcp(struct endpoint_hca *ep, const struct endpoint_tcp_params *params)
{
	tcp_end_init_host(ep, params);
}

void endpoint_set_connections(struct endpoint_hca *ep,
			      const struct connection_memory_params *memory,
			      const struct connection_cache_params *cache)
{
	assert(!ep->qp_count);
	ep->memory = memory;
	if (cache->entries)
		connection_cache_init(ep, cache);
}

const struct endpoint_tcp_counters *endpoint_tcp_counters(const struct endpoint_hca *ep)
{
	return ep->tcp ? &ep->tcp->count : NULL;
}

void endpoint_set_iwarp(struct endpoint_hca *ep)
{
	iwarp_end_init_host(ep);
}

const struct endpoint_iwarp_counters *endpoint_iwarp_counters(const struct endpoint_hca *ep)
{
	return ep->iwarp ? &ep->iwarp->count : NULL;
}

bool endpoint_tcp_segment(const struct endpoint_qp *qp, enum endpoint_operation operation,
			  uint64_t *bytes, struct packet *segment)
{
	if (!qp->is_tcp)
		return false;
	tcp_end_segment(qp, segment);
	if (operation == ENDPOINT_READ)
		operation = ENDPOINT_READ_RESPONSE;
	*bytes = tcp_end_stream_bytes(qp, operation, *bytes);
	return true;
}

const struct tcp_connection *endpoint_tcp_connection(const struct endpoint_qp *qp)
{
	return qp->is_tcp ? qp->tcp->connection : NULL;
}

void endpoint_set_user(struct endpoint_hca *ep, struct endpoint_user *user)
{
	ep->user = user;
}

/* clang-format off */
#define ROW(...) PARAM_ROW(struct endpoint_params, __VA_ARGS__)
const struct param endpoint_param_list[] = { ENDPOINT_PARAMS(ROW) { 0 } };

static const struct block_type endpoint_type = {
	.name         = "endpoint",
	.params       = endpoint_param_list,
	.counters     = (const struct counter[]){ ENDPOINT_COUNTERS(COUNTER_ENTRY) { 0 } },
	.trace_points = (const struct trace_point[]){ ENDPOINT_TRACE(TRACE_ENTRY) { 0 } },
	.fold         = endpoint_fold,
	.carry        = endpoint_carry,
};
/* clang-format on */

struct endpoint_hca *endpoint_create(struct sim *sim, const char *name,
				     const struct endpoint_params *params,
				     const struct port_params *port_params,
				     enum link_layer link_layer, struct packet_pool *pool,
				     const struct congestion *congestion)
{
	struct endpoint_hca *ep = sim_arena(sim, sizeof(*ep));
	struct port_params port_own = *port_params;
	char port_name[256];
	int length = snprintf(port_name, sizeof(port_name), "%s.port", name);

	assert(length > 0 && (size_t)length < sizeof(port_name));
	block_init(&ep->block, sim, &endpoint_type, name, params, &ep->count);
	ep->port_user = (struct port_user){.receive = receive, .room = room};
	if (params->grant_at == GRANT_FREE)
		port_own.transmit_depth = 1; /* only ACKs wait there */
	ep->port = port_create(sim, port_name, &port_own, link_layer, pool, &ep->port_user);
	port_set_sources(ep->port, SOURCES);
	port_set_fetch(ep->port, &arrival, &departure);
	ep->pool = pool;
	ep->params = params;
	ep->congestion = congestion;
	ep->link_layer = link_layer;
	ep->mtu_bytes = (uint32_t)port_params->mtu;
	ep->cwnd_room = params->cwnd_fill == FILL_WHOLE ? ep->mtu_bytes : 1;
	ep->gap_bytes = link_layer == LINK_ETHERNET ? 20 : 0; /* preamble and gap */
	ep->ecn = link_layer == LINK_ETHERNET && params->notify != NOTIFY_NONE ? ECN_ECT0
									       : ECN_NOT_ECT;
	ep->sends_slowly = params->send_rate < port_rate_bps(ep->port) || params->ets_share < 1;
	ep->paces_departures = params->pace_from == PACE_DEPARTURE;
	ep->grants_when_free = params->grant_at == GRANT_FREE;
	ep->receives_slowly = params->receive_rate < port_rate_bps(ep->port);
	cc_extension_create_host(ep);
	departure_init(ep);
	timeout_init(ep);
	packet_line_init(&ep->arrived, ep, act);
	packet_line_init(&ep->naks, ep, send_late);
	packet_line_init(&ep->cnps, ep, send_late);
	stall_init(ep);
	read_recoveries_init(&ep->read_recoveries, params->read_recoveries);
	delay_line_init(&ep->doorbells, &ep->block, enqueue);
	delay_line_init(&ep->completions, &ep->block, complete);
	pool_init(&ep->response_pool, sizeof(struct response), 0);
	return ep;
}

static void packet_line_fini(struct packet_line *line)
{
	sim_cancel(&line->event);
	while (line->head) {
		struct packet *packet = line->head;

		line->head = packet->next;
		packet_free(line->ep->pool, packet);
	}
}

/* Frees the adapter with all packets in progress, because a run may end early. Messages belong to
 * their owners. */
void endpoint_destroy(struct endpoint_hca *ep)
{
	struct packet_line *lines[] = {&ep->arrived, &ep->naks, &ep->cnps, &ep->stalled};
	struct event *events[] = {&ep->pace, &ep->timeout, &ep->doorbells.event,
				  &ep->completions.event};

	for (unsigned i = 0; i < ARRAY_SIZE(lines); i++)
		packet_line_fini(lines[i]);
	for (unsigned i = 0; i < ARRAY_SIZE(events); i++)
		sim_cancel(events[i]);
	flow_destroy(ep);
	connect_destroy(ep);
	pool_fini(&ep->response_pool);
	deadline_heap_fini(&ep->departures);
	deadline_heap_fini(&ep->overdue);
	cnp_limiter_fini(&ep->cnp_limiter);
	read_recoveries_fini(&ep->read_recoveries);
	port_destroy(ep->port);
	tcp_end_destroy_host(ep);
	iwarp_end_destroy_host(ep);
	connection_cache_destroy(ep);
	cc_extension_destroy_host(ep);
	block_fini(&ep->block);
}
