/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow: the endpoint HCA in a fabric that is a flow model (fabric/flow). A message is one transfer.
 * The latencies of host and transport are the same as with packets. ACKs and requests take their
 * latency but no bandwidth.
 *
 *     write, send   queue of the requester --transfer--> arrived --ACK's latency--> complete
 *     read          request's latency --> queue of the responder --transfer--> complete
 *     atomic        request's latency --> atomic --> response's latency --> complete
 *
 * The messages of a queue pair are transferred one at a time, in order. There are no losses, marks,
 * windows or pauses. Congestion control is not used, because the flow model shares the links
 * itself.
 */
#include <stdlib.h>

#include "fabric/flow/flow_fabric.h"
#include "hca/endpoint/endpoint_state.h"

#define PREAMBLE_BYTES 8
#define GAP_BYTES      12

struct flow_message {
	struct flow_transfer transfer; /* first member */
	struct event event;
	struct endpoint_message *message;
	struct endpoint_qp *source;           /* queue pair that sends the data */
	struct flow_message *after;           /* next in the queue of the source */
	struct flow_message *next, *previous; /* list of all messages of the HCA */
};

static const uint8_t data_opcodes[][4] = {
	[ENDPOINT_WRITE] = {RC_WRITE_FIRST, RC_WRITE_MIDDLE, RC_WRITE_LAST, RC_WRITE_ONLY},
	[ENDPOINT_SEND] = {RC_SEND_FIRST, RC_SEND_MIDDLE, RC_SEND_LAST, RC_SEND_ONLY},
	[ENDPOINT_READ] = {RC_READ_RESP_FIRST, RC_READ_RESP_MIDDLE, RC_READ_RESP_LAST,
			   RC_READ_RESP_ONLY},
};

/* ---- bytes and routes ---- */

static uint64_t wire_bytes(const struct endpoint_qp *qp, uint8_t opcode, uint64_t payload_bytes)
{
	const struct packet packet = {
		.path = qp->path, .opcode = opcode, .payload_bytes = (uint32_t)payload_bytes};

	return packet_wire_bytes(&packet);
}

static uint64_t message_wire_bytes(const struct flow_message *flow)
{
	const struct endpoint_qp *qp = flow->source;
	const uint8_t *opcodes = data_opcodes[flow->message->operation];
	uint64_t bytes = flow->message->bytes, mtu = qp->ep->mtu_bytes;
	uint64_t packets = flow->transfer.packets;

	if (packets == 1)
		return wire_bytes(qp, opcodes[3], bytes);
	return wire_bytes(qp, opcodes[0], mtu) + (packets - 2) * wire_bytes(qp, opcodes[1], mtu) +
	       wire_bytes(qp, opcodes[2], bytes - (packets - 1) * mtu);
}

static bool on_ethernet(const struct endpoint_qp *qp)
{
	return qp->path->link_layer == LINK_ETHERNET;
}

/* Returns the route. build_create() has checked that it exists: see endpoint_set_flows(). */
static struct topology_route route_of(const struct endpoint_qp *qp)
{
	struct topology_route route;
	char error[256];
	bool there = topology_trace_route(flow_fabric_topology(qp->ep->flows), qp->path, &route,
					  error, sizeof(error));

	assert(there);
	return route;
}

/* Returns the latency of one packet without data from the queue pair to its peer. */
static sim_time travel(const struct endpoint_qp *qp, uint8_t opcode)
{
	const struct topology_route route = route_of(qp);
	uint64_t bytes = wire_bytes(qp, opcode, 0) + (on_ethernet(qp) ? PREAMBLE_BYTES : 0);

	return (sim_time)((double)bytes * 8 * (double)SEC / (double)route.rate_bps) + route.latency;
}

/* ---- the queue of a source ---- */

static struct flow_queue *queue_of(const struct endpoint_qp *qp)
{
	struct endpoint_hca *ep = qp->ep;
	uint32_t index = qp->number - FIRST_QP_NUMBER;

	if (index >= ep->flow_queue_count) {
		ep->flow_queues =
			realloc(ep->flow_queues, ep->qp_count * sizeof(ep->flow_queues[0]));
		assert(ep->flow_queues);
		for (uint32_t i = ep->flow_queue_count; i < ep->qp_count; i++)
			ep->flow_queues[i] = (struct flow_queue){0};
		ep->flow_queue_count = ep->qp_count;
	}
	return &ep->flow_queues[index];
}

static void transfer_ended(struct flow_transfer *transfer);

static void begin_first(struct endpoint_qp *qp)
{
	struct flow_message *flow = queue_of(qp)->head;
	struct flow_transfer *transfer = &flow->transfer;
	uint64_t bytes = message_wire_bytes(flow);

	transfer->route = route_of(qp);
	transfer->bytes = bytes;
	transfer->link_bytes = bytes;
	if (on_ethernet(qp))
		transfer->link_bytes +=
			transfer->packets * PREAMBLE_BYTES + (transfer->packets - 1) * GAP_BYTES;
	transfer->ended = transfer_ended;
	if (!message_is_read_or_atomic(flow->message)) {
		flow->message->started_at = endpoint_now(qp->ep);
		qp->sent_bytes += flow->message->bytes;
	}
	flow_fabric_begin(qp->ep->flows, transfer);
}

static void queue_push(struct flow_message *flow)
{
	struct flow_queue *queue = queue_of(flow->source);

	flow->after = NULL;
	if (queue->head)
		queue->tail->after = flow;
	else
		queue->head = flow;
	queue->tail = flow;
	if (queue->head == flow)
		begin_first(flow->source);
}

/* ---- stages of a message ---- */

static void then(struct flow_message *flow, void (*fire)(struct event *), sim_time delay)
{
	event_init(&flow->event, &flow->message->qp->ep->block, fire);
	sim_schedule(&flow->event, delay);
}

static void complete(struct event *event)
{
	struct flow_message *flow = container_of(event, struct flow_message, event);
	struct endpoint_message *message = flow->message;
	struct endpoint_qp *qp = message->qp;

	if (!message_is_read_or_atomic(message))
		qp->acked_bytes += message->bytes;
	flow->next->previous = flow->previous;
	flow->previous->next = flow->next;
	pool_give(&qp->ep->flow_pool, flow);
	endpoint_complete(qp, message, ENDPOINT_OK);
}

/* Handles the arrival of all data at the destination. */
static void arrive(struct event *event)
{
	struct flow_message *flow = container_of(event, struct flow_message, event);
	struct endpoint_qp *destination = peer_of(flow->source);
	struct endpoint_hca *ep = destination->ep;
	const struct endpoint_message *message = flow->message;

	ep->count.data_packets_received += flow->transfer.packets;
	ep->count.data_bytes_received += message->bytes;
	if (message->operation == ENDPOINT_READ) {
		complete(event);
		return;
	}
	if (message->operation == ENDPOINT_WRITE)
		ep->count.rx_write_requests++;
	else
		ep->count.rx_sends++;
	then(flow, complete,
	     travel(destination, RC_ACK) + flow->source->ep->params->receive_latency);
	if (ep->user && ep->user->delivered && message->tag)
		ep->user->delivered(ep->user, destination, message->tag,
				    PSN_OF(message->first_psn + message->packets - 1));
}

static void transfer_ended(struct flow_transfer *transfer)
{
	struct flow_message *flow = (struct flow_message *)(void *)transfer;
	struct endpoint_qp *source = flow->source;
	struct flow_queue *queue = queue_of(source);

	if (flow->message->operation != ENDPOINT_READ)
		flow->message->packets_sent = transfer->packets;
	source->ep->count.data_packets_sent += transfer->packets;
	source->ep->count.data_bytes_sent += flow->message->bytes;
	queue->head = flow->after;
	if (queue->head)
		begin_first(source);
	then(flow, arrive,
	     transfer->route.latency + slot_ep(slot_peer(source->slot))->params->receive_latency);
}

static void respond_read(struct event *event)
{
	struct flow_message *flow = container_of(event, struct flow_message, event);

	flow->source->ep->count.rx_read_requests++;
	queue_push(flow);
}

static void respond_atomic(struct event *event)
{
	struct flow_message *flow = container_of(event, struct flow_message, event);

	flow->source->ep->count.rx_atomic_requests++;
	then(flow, complete,
	     travel(flow->source, RC_ATOMIC_ACK) + flow->message->qp->ep->params->receive_latency);
}

void flow_post(struct endpoint_qp *qp, struct endpoint_message *message)
{
	struct endpoint_hca *ep = qp->ep;
	const struct endpoint_params *responder = slot_ep(slot_peer(qp->slot))->params;
	struct flow_message *flow = pool_take(&ep->flow_pool), *head = ep->flow_messages;
	bool read_or_atomic = message_is_read_or_atomic(message);

	flow->message = message;
	flow->source = read_or_atomic ? peer_of(qp) : qp;
	flow->transfer.packets = message->packets;
	flow->next = head->next;
	flow->previous = head;
	head->next->previous = flow;
	head->next = flow;
	event_init(&flow->event, &ep->block, complete);
	message->packets_sent = read_or_atomic; /* the request packet */
	if (read_or_atomic)
		message->started_at = endpoint_now(ep);
	if (message->operation == ENDPOINT_READ)
		then(flow, respond_read,
		     travel(qp, RC_READ_REQUEST) + responder->receive_latency +
			     responder->read_latency);
	else if (message->operation == ENDPOINT_ATOMIC)
		then(flow, respond_atomic,
		     travel(qp, RC_FETCH_ADD) + responder->receive_latency +
			     responder->atomic_latency);
	else
		queue_push(flow);
}

uint64_t flow_acked_bytes(const struct endpoint_qp *qp)
{
	const struct flow_queue *queue = queue_of(qp);
	const struct flow_message *first = queue->head;

	if (!first || message_is_read_or_atomic(first->message))
		return qp->acked_bytes;
	return qp->acked_bytes +
	       (uint64_t)(flow_transfer_progress(&first->transfer) * (double)first->message->bytes);
}

uint64_t flow_packets_sent(const struct endpoint_message *message)
{
	const struct flow_message *first = queue_of(message->qp)->head;

	if (!first || first->message != message || message_is_read_or_atomic(message))
		return message->packets_sent;
	return (uint64_t)(flow_transfer_progress(&first->transfer) *
			  (double)first->transfer.packets);
}

/* ---- creation and destruction ---- */

void endpoint_set_flows(struct endpoint_hca *ep, struct flow_fabric *flows)
{
	assert(!ep->flows && !ep->qp_count);
	ep->flows = flows;
	pool_init(&ep->flow_pool, sizeof(struct flow_message), 0);
	ep->flow_messages = calloc(1, sizeof(*ep->flow_messages));
	assert(ep->flow_messages);
	ep->flow_messages->next = ep->flow_messages->previous = ep->flow_messages;
}

void flow_destroy(struct endpoint_hca *ep)
{
	struct flow_message *head = ep->flow_messages;

	if (!ep->flows)
		return;
	for (struct flow_message *flow = head->next; flow != head; flow = flow->next)
		sim_cancel(&flow->event);
	pool_fini(&ep->flow_pool);
	free(head);
	free(ep->flow_queues);
}
