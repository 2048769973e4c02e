/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_end: see tcp_end.h.
 */
#include "hca/endpoint/tcp_end.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/wire/tcp_packet.h"
#include "hca/endpoint/connection_cache.h"
#include "hca/endpoint/connection_memory.h"
#include "hca/endpoint/iwarp_end.h"
#include "hca/endpoint/iwarp_read.h"

#define PORT_FIRST      1024u /* first port of the side that opens */
#define PORTS           64512u
#define PORT_SERVICE    5001u
#define OPENING_MAX     8
#define HASH_MULTIPLIER 2654435761u
#define PRIORITY_FLOW   16 /* tcp.priority */

/* Segments between two ends that are opened without packets. */
struct tcp_opening {
	struct {
		struct tcp_end *to;
		struct tcp_segment segment;
	} queue[OPENING_MAX];
	unsigned count;
};

static struct tcp_end *peer_end(const struct tcp_end *end)
{
	return peer_of(end->qp)->tcp;
}

/* ---- sending ---- */

/* Returns the message with this byte of the stream. */
static struct endpoint_message *message_at(const struct endpoint_qp *qp, uint64_t offset)
{
	struct endpoint_message *message = oldest_message(qp);
	struct endpoint_message *response =
		qp->tcp->iwarp ? iwarp_read_response_at(qp, offset) : NULL;

	if (qp->tcp->writing && offset >= qp->tcp->writing->first_psn)
		return qp->tcp->writing;
	if (response)
		return response;
	while (offset >= message->first_psn + message->packets)
		message = message->next;
	return message;
}

static struct packet *make_packet(struct tcp_end *end, const struct tcp_segment *segment)
{
	struct endpoint_qp *qp = end->qp;
	struct endpoint_hca *ep = qp->ep;
	struct packet *packet = packet_new(ep->pool);

	packet->path = qp->path;
	packet->vl = qp->vl;
	packet->ingress = segment->payload_bytes ? SOURCE_REQUESTS : SOURCE_RESPONSES;
	packet->hop_limit = qp->path->hop_limit;
	packet->sent_at = endpoint_now(ep);
	packet->serial = ++ep->serial;
	packet->ecn = segment->ecn;
	packet->payload_bytes = segment->payload_bytes;
	tcp_packet_set(packet, &segment->header);
	packet->dest_qp = qp->peer_number;
	packet->wire_bytes = packet_wire_bytes(packet);
	return packet;
}

static void send_packet(struct tcp_end *end, struct packet *packet)
{
	departure_pay_host(end->qp, packet->wire_bytes);
	port_send(end->qp->ep->port, packet);
}

static void send_data(struct tcp_end *end, const struct tcp_segment *segment)
{
	struct endpoint_qp *qp = end->qp;
	struct endpoint_hca *ep = qp->ep;
	struct endpoint_message *message;
	struct packet *packet = make_packet(end, segment);
	uint32_t payload_bytes = segment->payload_bytes;
	bool ends;

	if (end->iwarp && segment->offset < end->iwarp->startup_bytes) {
		iwarp_end_fill(qp, NULL, segment->offset, packet);
		send_packet(end, packet);
		return;
	}
	message = message_at(qp, segment->offset);
	packet->tag = message->tag;
	ends = segment->offset + segment->payload_bytes == message->first_psn + message->packets;
	if (ends) {
		packet->tcp.ends_message = true;
		packet->tcp.flags |= TCP_PSH;
	}
	if (end->iwarp) {
		iwarp_end_fill(qp, message, segment->offset, packet);
		payload_bytes = packet->tcp.ddp_bytes;
	}
	if (!message->packets_sent++) {
		message->started_at = packet->sent_at;
		trace(&ep->block, TRACE_MESSAGE_START, message->tag, qp->number,
		      segment->header.sequence);
	}
	message->packets_retransmitted += segment->retransmission;
	ep->count.data_packets_sent += message->operation != ENDPOINT_READ;
	ep->count.data_bytes_sent += payload_bytes;
	ep->count.packets_retransmitted += segment->retransmission;
	send_packet(end, packet);
	if (ends && message->operation == ENDPOINT_READ_RESPONSE)
		iwarp_read_responded(qp, message);
}

static void wait_for_room(struct tcp_end *end, struct packet *packet)
{
	packet->next = NULL;
	if (end->waiting)
		end->waiting_last->next = packet;
	else
		end->waiting = packet;
	end->waiting_last = packet;
	end->wants = true;
}

static void put_on_opening(struct tcp_end *end, const struct tcp_segment *segment)
{
	struct tcp_opening *opening = end->opening;

	assert(opening->count < OPENING_MAX);
	opening->queue[opening->count].to = peer_end(end);
	opening->queue[opening->count++].segment = *segment;
}

/* Returns true if the next segment waits for the context of its connection. */
static bool waits_for_context(const struct tcp_end *end)
{
	return end->iwarp && end->qp->ep->cache && !connection_cache_allows(end->qp);
}

static bool transmit(void *context, const struct tcp_segment *segment)
{
	struct tcp_end *end = context;

	if (end->opening) {
		put_on_opening(end, segment);
		return true;
	}
	if (!segment->payload_bytes) {
		struct packet *packet = make_packet(end, segment);

		if (!end->waiting && departure_has_room(end->qp))
			send_packet(end, packet);
		else
			wait_for_room(end, packet);
		return true;
	}
	if ((!end->granted && (end->waiting || !departure_has_room(end->qp))) ||
	    waits_for_context(end)) {
		end->wants = true;
		return false;
	}
	end->granted = false;
	send_data(end, segment);
	if (!departure_has_room(end->qp)) {
		end->wants = true;
		tcp_hold(end->connection);
	}
	return true;
}

/* Takes the next message to write. Read Responses come first, so that two ends that both wait for
 * responses do not block each other. */
static struct endpoint_message *take_unwritten(struct tcp_end *end)
{
	struct endpoint_message *message = end->iwarp ? iwarp_read_take_response(end->qp) : NULL;

	if (message)
		return message;
	message = end->unwritten;
	if (!message || (end->iwarp && !iwarp_read_may_write(end->qp, message)))
		return NULL;
	end->unwritten = message == end->qp->newest ? NULL : message->next;
	return message;
}

/* Takes the next message. Returns false if there is none. */
static bool write_message(struct tcp_end *end)
{
	struct endpoint_message *message = take_unwritten(end);

	if (!message)
		return false;
	end->writing = message;
	if (end->iwarp)
		iwarp_end_written(end->qp, message);
	else
		tcp_write(end->connection, endpoint_now(end->qp->ep), message->packets);
	return true;
}

/* Writes the next message when earlier ones are sent, so that its last byte ends a segment. */
static void write_next(struct tcp_end *end)
{
	if (end->iwarp && !iwarp_end_may_write(end->qp))
		return;
	while (tcp_unsent(end->connection) == 0)
		if (!(end->iwarp && iwarp_end_write_rest(end->qp)) && !write_message(end))
			return;
}

/* Updates the state after each call of the connection. */
static void settle(struct tcp_end *end)
{
	if (tcp_state(end->connection) >= TCP_STATE_ESTABLISHED)
		write_next(end);
	connection_memory_count(end);
	if (end->wants)
		departure_consider(end->qp);
}

void tcp_end_grant(struct endpoint_qp *qp)
{
	struct tcp_end *end = qp->tcp;
	struct packet *packet = end->waiting;

	if (packet) {
		end->waiting = packet->next;
		packet->next = NULL;
		send_packet(end, packet);
		return;
	}
	end->wants = false;
	end->granted = true;
	tcp_resume(end->connection, endpoint_now(qp->ep));
	end->granted = false;
	write_next(end);
	connection_memory_count(end);
}

void tcp_end_continue(struct endpoint_qp *qp)
{
	settle(qp->tcp);
}

void tcp_end_posted(struct endpoint_qp *qp)
{
	struct tcp_end *end = qp->tcp;

	if (!end->unwritten)
		end->unwritten = qp->newest;
	if (tcp_state(end->connection) == TCP_STATE_CLOSED) {
		if (end->iwarp)
			end->iwarp->initiator = true;
		tcp_connect(end->connection, endpoint_now(qp->ep));
	}
	settle(end);
}

/* ---- receiving ---- */

/* Inserts a mark after all marks with an earlier end. */
static void add_mark(struct tcp_end *end, struct tcp_end_mark mark)
{
	uint32_t place = end->mark_count;

	if (end->mark_count == end->mark_capacity) {
		end->mark_capacity = end->mark_capacity ? 2 * end->mark_capacity : 2;
		end->marks = realloc(end->marks, end->mark_capacity * sizeof(end->marks[0]));
		assert(end->marks);
	}
	while (place > 0 && end->marks[place - 1].end > mark.end) {
		end->marks[place] = end->marks[place - 1];
		place--;
	}
	end->marks[place] = mark;
	end->mark_count++;
}

static void receive(void *context, uint64_t offset, uint32_t bytes, const uint8_t *payload)
{
	struct tcp_end *end = context;
	struct endpoint_hca *ep = end->qp->ep;
	const struct packet *packet = end->input;
	uint32_t last = packet->tcp.sequence + packet->payload_bytes;

	/* the receive window may cut off the end of the segment */
	bool whole = (uint32_t)(offset + bytes) + 1 + tcp_peer_initial(end->connection) == last;
	uint32_t payload_bytes = bytes;

	(void)payload;
	if (end->iwarp) /* data counts when the end of its segment arrives */
		payload_bytes = whole ? packet->tcp.ddp_bytes : 0;
	if (end->iwarp && iwarp_read_mark(packet) == READ_RESPONSE)
		end->iwarp->reads.arrived += payload_bytes;
	else
		end->arrived += payload_bytes;
	ep->count.data_packets_received += payload_bytes > 0;
	ep->count.data_bytes_received += payload_bytes;
	if (packet->tcp.ends_message && whole)
		add_mark(end, (struct tcp_end_mark){offset + bytes, packet->tag,
						    end->iwarp ? iwarp_read_mark(packet) : 0});
}

/* Reads all bytes in order, as an application that reads at once. */
static void take_bytes(struct tcp_end *end)
{
	struct endpoint_hca *ep = end->qp->ep;
	uint64_t bytes = tcp_readable(end->connection);
	uint32_t count = 0;

	end->received += bytes;
	tcp_read(end->connection, endpoint_now(ep), bytes);
	while (count < end->mark_count && end->marks[count].end <= end->received) {
		const struct tcp_end_mark *mark = &end->marks[count++];

		if (mark->read) {
			iwarp_read_arrived(end->qp, mark);
			continue;
		}
		ep->count.rx_sends++;
		if (ep->user)
			ep->user->delivered(ep->user, end->qp, mark->tag, 0);
	}
	if (!count)
		return;
	end->mark_count -= count;
	memmove(end->marks, end->marks + count, end->mark_count * sizeof(end->marks[0]));
}

static void take_oldest(struct tcp_end *end)
{
	struct endpoint_qp *qp = end->qp;
	const struct endpoint_message *message = oldest_message(qp);

	if (message == end->writing)
		end->writing = NULL;
	if (message == qp->newest)
		qp->newest = NULL;
	else
		qp->newest->next = message->next;
}

static bool is_complete(const struct tcp_end *end, const struct endpoint_message *message,
			uint64_t acknowledged)
{
	return message->first_psn + message->packets <= acknowledged &&
	       (message->operation != ENDPOINT_READ || iwarp_read_has_response(end->qp, message));
}

static struct endpoint_message *oldest_written(const struct tcp_end *end)
{
	struct endpoint_message *message = oldest_message(end->qp);

	return message == end->unwritten ? NULL : message;
}

static void complete_acknowledged(struct tcp_end *end)
{
	struct endpoint_qp *qp = end->qp;
	uint64_t acknowledged = tcp_acknowledged(end->connection);
	struct endpoint_message *message;

	if (end->iwarp && iwarp_read_release(qp, acknowledged, end->writing))
		end->writing = NULL;
	while ((message = oldest_written(end)) && is_complete(end, message, acknowledged)) {
		qp->acked_bytes = message->first_byte +
				  (message->operation == ENDPOINT_READ ? 0 : message->bytes);
		qp->unacked_psn = message->first_psn + message->packets;
		take_oldest(end);
		endpoint_complete(qp, message, ENDPOINT_OK);
	}
	if (message && acknowledged > message->first_psn) {
		acknowledged -= message->first_psn;
		qp->acked_bytes = message->first_byte +
				  (end->iwarp ? iwarp_end_payload_before(qp, message, acknowledged)
					      : acknowledged);
	}
}

static void fail(struct tcp_end *end)
{
	struct endpoint_qp *qp = end->qp;
	enum endpoint_status status = ENDPOINT_RETRY_EXCEEDED;
	struct endpoint_message *message;

	qp->flags |= QP_FAILED;
	end->unwritten = NULL;
	if (end->iwarp && iwarp_read_release(qp, UINT64_MAX, end->writing))
		end->writing = NULL;
	while ((message = oldest_message(qp))) {
		take_oldest(end);
		endpoint_complete(qp, message, status);
		status = ENDPOINT_FLUSHED;
	}
}

static void notify(void *context, unsigned events)
{
	struct tcp_end *end = context;

	if (events & TCP_ACKNOWLEDGED)
		complete_acknowledged(end);
	if (events & TCP_READABLE)
		take_bytes(end);
	if (events & TCP_READABLE && end->iwarp) /* Read Responses complete READs */
		complete_acknowledged(end);
	if (events & (TCP_RESET | TCP_TIMED_OUT))
		fail(end);
}

void tcp_end_input(struct endpoint_qp *qp, struct packet *packet)
{
	struct tcp_end *end = qp->tcp;
	struct tcp_segment segment = {.ecn = packet->ecn, .payload_bytes = packet->payload_bytes};

	tcp_packet_header(packet, &segment.header);
	qp->marks += packet->ecn == ECN_CE;
	qp->ep->count.ecn_marked_packets += packet->ecn == ECN_CE;
	end->input = packet;
	tcp_input(end->connection, endpoint_now(qp->ep), &segment);
	end->input = NULL;
	packet_free(qp->ep->pool, packet);
	settle(end);
}

/* ---- time ---- */

static void set_timer(void *context, sim_time at)
{
	struct tcp_end *end = context;

	end->timer_at = at;
	if (event_pending(&end->timer)) {
		if (event_time(&end->timer) <= at && at != SIM_NEVER)
			return; /* the event checks the time when it fires */
		sim_cancel(&end->timer);
	}
	if (at != SIM_NEVER)
		sim_schedule_at(&end->timer, at);
}

static void timer_fires(struct event *event)
{
	struct tcp_end *end = container_of(event, struct tcp_end, timer);
	sim_time now = endpoint_now(end->qp->ep);

	if (end->timer_at > now) {
		set_timer(end, end->timer_at);
		return;
	}
	end->timer_at = SIM_NEVER;
	tcp_timer(end->connection, now);
	settle(end);
}

/* ---- creation and destruction ---- */

static const struct tcp_host tcp_host = {transmit, receive, set_timer, notify};

/* Returns the payload of a full segment of either end, after the SYNs. */
static uint32_t segment_payload(const struct endpoint_tcp_params *one,
				const struct endpoint_tcp_params *two)
{
	uint64_t mtu = one->mtu < two->mtu ? one->mtu : two->mtu;
	bool timestamps = one->timestamps && two->timestamps;

	return (uint32_t)mtu - TCP_END_IP_BYTES - TCP_HEADER_BYTES -
	       (timestamps ? TCP_TIMESTAMP_BYTES : 0);
}

/* FPDUs of iWARP have lengths that are multiples of four. */
static uint16_t mss_of(const struct tcp_end *end)
{
	uint64_t mss = end->host->params->mtu - TCP_END_IP_BYTES - TCP_HEADER_BYTES;

	return (uint16_t)(end->iwarp ? mss & ~UINT64_C(3) : mss);
}

static void end_init(struct endpoint_qp *qp, uint16_t local_port, uint16_t remote_port,
		     const struct endpoint_hca *initiator)
{
	struct endpoint_hca *ep = qp->ep;
	struct tcp_end *end = sim_arena(ep->block.sim, sizeof(*end));
	bool iwarp = initiator->params->transport == ENDPOINT_IWARP;

	qp->tcp = end;
	end->qp = qp;
	end->host = ep->tcp;
	end->timer_at = SIM_NEVER;
	event_init(&end->timer, &ep->block, timer_fires);
	if (iwarp)
		iwarp_end_init(qp, segment_payload(ep->tcp->params, peer_of(qp)->ep->tcp->params),
			       !initiator->tcp->params->handshake);
	end->connection = tcp_create(&(struct tcp_setup){
		.params = (const struct tcp_params *)(const void *)(iwarp ? &end->host->of_iwarp
									  : end->host->params),
		.congestion = ep->congestion,
		.host = &tcp_host,
		.context = end,
		.local_port = local_port,
		.remote_port = remote_port,
		.mss = mss_of(end),
		.initial_sequence = qp->number * HASH_MULTIPLIER,
		.line_rate_bps = port_rate_bps(ep->port),
		.totals = (struct tcp_counts *)(void *)&end->host->count,
	});
	end->host->count.connections++;
}

/* Performs a handshake of both ends now, without simulated time. */
static void open_now(struct tcp_end *one, struct tcp_end *two, sim_time now)
{
	struct tcp_opening opening = {.count = 0};

	one->opening = two->opening = &opening;
	tcp_connect(one->connection, now);
	for (unsigned i = 0; i < opening.count; i++)
		tcp_input(opening.queue[i].to->connection, now, &opening.queue[i].segment);
	one->opening = two->opening = NULL;
}

struct endpoint_qp *tcp_end_create_pair(struct endpoint_hca *ep, struct endpoint_hca *other,
					unsigned service_level)
{
	struct endpoint_qp *one, *two;
	uint32_t number = endpoint_next_qp_number(ep) - FIRST_QP_NUMBER;
	uint16_t port = (uint16_t)(PORT_FIRST + number % PORTS);
	uint16_t service = (uint16_t)(PORT_SERVICE + number / PORTS);

	assert(ep->tcp && other->tcp);
	if (ep->tcp->params->priority != PRIORITY_FLOW)
		service_level = (unsigned)ep->tcp->params->priority;
	one = connect_tcp_pair(ep, other, service_level, port, service);
	two = peer_of(one);
	end_init(one, port, service, ep);
	end_init(two, service, port, ep);
	tcp_listen(two->tcp->connection, endpoint_now(other));
	if (!ep->tcp->params->handshake)
		open_now(one->tcp, two->tcp, endpoint_now(ep));
	return one;
}

void tcp_end_destroy(struct endpoint_qp *qp)
{
	struct tcp_end *end = qp->tcp;

	sim_cancel(&end->timer);
	while (end->waiting) {
		struct packet *packet = end->waiting;

		end->waiting = packet->next;
		packet_free(qp->ep->pool, packet);
	}
	tcp_destroy(end->connection);
	free(end->marks);
}

/* clang-format off */
#define ROW(...) PARAM_ROW(struct endpoint_tcp_params, __VA_ARGS__)
const struct param endpoint_tcp_param_list[] = { TCP_PARAMS(ROW) ENDPOINT_TCP_PARAMS(ROW) { 0 } };

static const struct block_type endpoint_tcp_type = {
	.name     = "endpoint_tcp",
	.params   = endpoint_tcp_param_list,
	.counters = (const struct counter[]){ ENDPOINT_TCP_COUNTERS(COUNTER_ENTRY) { 0 } },
};
/* clang-format on */

_Static_assert(offsetof(struct endpoint_tcp_params, time_wait) ==
		       offsetof(struct tcp_params, time_wait),
	       "the engine's parameters come first");
_Static_assert(offsetof(struct endpoint_tcp_counters, refused) ==
		       offsetof(struct tcp_counts, refused),
	       "the engine's counters come first");

void tcp_end_init_host(struct endpoint_hca *ep, const struct endpoint_tcp_params *params)
{
	struct endpoint_tcp *tcp = sim_arena(ep->block.sim, sizeof(*tcp));
	char name[256];

	snprintf(name, sizeof(name), "%s.tcp", ep->block.name);
	block_init(&tcp->block, ep->block.sim, &endpoint_tcp_type, name, params, &tcp->count);
	tcp->params = params;
	tcp->of_iwarp = *params;
	tcp->of_iwarp.nagle = TCP_NAGLE_OFF; /* RFC 5044 3.2 */
	ep->tcp = tcp;
}

void tcp_end_destroy_host(struct endpoint_hca *ep)
{
	if (ep->tcp)
		block_fini(&ep->tcp->block);
}
