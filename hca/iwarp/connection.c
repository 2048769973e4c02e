/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connection: TCP and MPA of a connection. Segments go to the transmit pipeline while the bytes in
 * it are below a limit; then connections wait and take turns. Received bytes wait until their FPDU
 * is complete and the queue pair takes it. Events of TCP are handled after the call in which it
 * reports them.
 */
#include "fabric/port.h"
#include "fabric/wire/tcp_packet.h"
#include "hca/iwarp/rnic_state.h"
#include "hca/port/receive.h"
#include "hca/port/transmit.h"

#define IP_BYTES        20u
#define HASH_MULTIPLIER 2654435761u

static const struct mpa_place no_markers;

static void settle(struct rnic_connection *connection);

static sim_time now(const struct rnic_connection *connection)
{
	return rnic_state_now(connection->rnic);
}

/* ---- segments ---- */

static void wait_for_room(struct rnic_connection *connection)
{
	struct rnic *rnic = connection->rnic;

	if (connection->waits)
		return;
	connection->waits = true;
	connection->waits_next = NULL;
	if (rnic->waiting)
		rnic->last_waiting->waits_next = connection;
	else
		rnic->waiting = connection;
	rnic->last_waiting = connection;
}

static bool transmit(void *context, const struct tcp_segment *segment)
{
	struct rnic_connection *connection = context;
	struct rnic *rnic = connection->rnic;
	struct packet *packet;

	if (segment->payload_bytes && rnic->inflight >= rnic->blocks.inflight_bytes) {
		wait_for_room(connection);
		return false;
	}
	packet = packet_new(rnic->blocks.packets);
	packet->path = connection->path;
	packet->vl = (uint8_t)port_vl(rnic->blocks.port, connection->path->service_level);
	packet->hop_limit = connection->path->hop_limit;
	packet->ecn = segment->ecn;
	packet->dest_qp = connection->number;
	packet->payload_bytes = segment->payload_bytes;
	if (segment->payload_bytes) {
		byte_ring_get(&connection->unacked, segment->offset, rnic->leaving,
			      segment->payload_bytes);
		packet->payload = packet_payload_of(rnic->blocks.packets, rnic->leaving,
						    segment->payload_bytes);
	}
	tcp_packet_set(packet, &segment->header);
	packet->wire_bytes = packet_wire_bytes(packet);
	rnic->count.segments_sent++;
	rnic->count.retransmissions += segment->retransmission;
	rnic->inflight += packet->wire_bytes;
	transmit_push(rnic->blocks.transmit, packet);
	return true;
}

static void left(struct offload *offload, uint32_t wire_bytes)
{
	struct rnic *rnic = container_of(offload, struct rnic, offload);

	rnic->inflight -= wire_bytes;
	while (rnic->waiting && rnic->inflight < rnic->blocks.inflight_bytes) {
		struct rnic_connection *connection = rnic->waiting;

		rnic->waiting = connection->waits_next;
		connection->waits = false;
		tcp_resume(connection->tcp, now(connection));
		settle(connection);
	}
}

static void receive(void *context, uint64_t offset, uint32_t bytes, const uint8_t *payload)
{
	struct rnic_connection *connection = context;

	byte_ring_put(&connection->unread, offset, payload, bytes);
}

static void set_timer(void *context, sim_time at)
{
	struct rnic_connection *connection = context;

	connection->timer_at = at;
	if (event_pending(&connection->timer)) {
		if (event_time(&connection->timer) <= at && at != SIM_NEVER)
			return; /* the event checks the time when it fires */
		sim_cancel(&connection->timer);
	}
	if (at != SIM_NEVER)
		sim_schedule_at(&connection->timer, at);
}

static void notify(void *context, unsigned events)
{
	struct rnic_connection *connection = context;

	connection->events |= events;
}

static const struct tcp_host tcp_host = {transmit, receive, set_timer, notify};

static void timer_fires(struct event *event)
{
	struct rnic_connection *connection = container_of(event, struct rnic_connection, timer);

	if (connection->timer_at > now(connection)) {
		set_timer(connection, connection->timer_at);
		return;
	}
	connection->timer_at = SIM_NEVER;
	tcp_timer(connection->tcp, now(connection));
	settle(connection);
}

/* ---- creation ---- */

static struct rnic_connection *make(struct rnic *rnic, const struct path *path, bool initiator)
{
	struct rnic_connection *connection = rnic_state_take(sizeof(*connection));
	uint16_t mss = (uint16_t)((rnic->params->mtu - IP_BYTES - TCP_HEADER_BYTES) & ~UINT64_C(3));

	connection->rnic = rnic;
	connection->path = path;
	connection->initiator = initiator;
	connection->number = ++rnic->connection_count;
	connection->timer_at = SIM_NEVER;
	event_init(&connection->timer, &rnic->block, timer_fires);
	connection->tcp = tcp_create(&(struct tcp_setup){
		.params = &rnic->tcp,
		.congestion = &rnic->congestion,
		.host = &tcp_host,
		.context = connection,
		.local_port = path->tcp_source_port,
		.remote_port = path->tcp_destination_port,
		.mss = mss,
		.initial_sequence = connection->number * HASH_MULTIPLIER,
		.line_rate_bps = port_rate_bps(rnic->blocks.port),
	});
	iwarp_table_add(connection);
	rnic->count.connections++;
	iwarp_count_state(rnic, (int64_t)rnic->params->context);
	return connection;
}

static void release(struct rnic_connection *connection)
{
	struct rnic *rnic = connection->rnic;
	struct rnic_connection **wait = &rnic->waiting;

	iwarp_table_remove(connection);
	rnic->last_waiting = NULL;
	for (; *wait; wait = *wait ? &(*wait)->waits_next : wait) {
		if (*wait == connection)
			*wait = connection->waits_next;
		if (!*wait)
			break;
		rnic->last_waiting = *wait;
	}
	if (connection->qp)
		connection->qp->connection = NULL;
	iwarp_count_state(rnic, -(int64_t)rnic->params->context);
	iwarp_count_held(rnic, -(int64_t)connection->held_bytes);
	sim_cancel(&connection->timer);
	tcp_destroy(connection->tcp);
	byte_ring_free(&connection->unacked);
	byte_ring_free(&connection->unread);
	free(connection);
}

static void release_if_done(struct rnic_connection *connection)
{
	if (connection->forgotten && !connection->handling &&
	    tcp_state(connection->tcp) == TCP_STATE_CLOSED)
		release(connection);
}

/* ---- the stream ---- */

/* Writes bytes to the stream, unless its end is sent. */
static void write_bytes(struct rnic_connection *connection, const uint8_t *bytes, uint32_t count)
{
	if (connection->shut)
		return;
	byte_ring_put(&connection->unacked, connection->unacked.end, bytes, count);
	tcp_write(connection->tcp, now(connection), count);
}

uint64_t iwarp_append(struct rnic_connection *connection, const uint8_t *ulpdu, uint32_t bytes)
{
	struct rnic *rnic = connection->rnic;
	uint8_t fpdu[2 * MPA_ULPDU_MAX / 4];
	uint32_t count = mpa_fpdu_bytes(no_markers, bytes);

	assert(count <= sizeof(fpdu));
	mpa_fpdu_build(no_markers, ulpdu, bytes, fpdu);
	rnic->count.fpdus_sent++;
	write_bytes(connection, fpdu, count);
	return connection->unacked.end;
}

bool iwarp_may_send(const struct rnic_connection *connection)
{
	return connection->phase == RNIC_OPERATION && !connection->shut &&
	       (connection->initiator || connection->peer_sent);
}

bool iwarp_has_room(const struct rnic_connection *connection, uint64_t taken, uint32_t bytes)
{
	uint64_t held = connection->unacked.end - connection->unacked.first + taken;

	return held == 0 || held + bytes <= connection->rnic->params->send_buffer;
}

void iwarp_shut(struct rnic_connection *connection)
{
	connection->closing = true;
	if (connection->shut || connection->phase == RNIC_CLOSED)
		return;
	connection->shut = true;
	tcp_shutdown(connection->tcp, now(connection));
}

/* ---- startup ---- */

static void begin_operation(struct rnic_connection *connection)
{
	static const struct rdmap_header header = {.opcode = RDMAP_WRITE, .last = true};
	uint8_t ulpdu[DDP_HEADER_MAX];

	connection->phase = RNIC_OPERATION;
	connection->fpdu_bytes = tcp_mss(connection->tcp) & ~3u;
	if (connection->qp)
		connection->qp->state = STATE_RTS;
	if (!connection->initiator)
		return;
	rdmap_header_build(&header, ulpdu); /* the RTR frame */
	iwarp_append(connection, ulpdu, rdmap_header_bytes(RDMAP_WRITE));
	if (connection->qp)
		iwarp_send_fetch(connection->qp);
}

static void lose(struct rnic_connection *connection)
{
	struct rnic *rnic = connection->rnic;
	bool asked = connection->initiator && connection->phase < RNIC_OPERATION;

	if (connection->phase == RNIC_CLOSED && connection->reported)
		return;
	connection->phase = RNIC_CLOSED;
	if (connection->qp)
		iwarp_complete_end(connection->qp, SIW_WC_WR_FLUSH_ERR);
	if (connection->reported || connection->forgotten)
		return;
	connection->reported = true;
	if (asked)
		rnic->user->replied(rnic->user, connection, NULL);
	else if (connection->context)
		rnic->user->closed(rnic->user, connection);
	else
		connection->forgotten = true; /* nobody knows it */
}

static void take_startup(struct rnic_connection *connection, const struct mpa_startup *startup)
{
	struct rnic *rnic = connection->rnic;

	if (startup->reply != connection->initiator || startup->markers) {
		tcp_abort(connection->tcp, now(connection));
		lose(connection);
		return;
	}
	if (!connection->initiator) {
		connection->phase = RNIC_ASKED;
		rnic->user->requested(rnic->user, connection, startup);
		return;
	}
	if (startup->reject) {
		connection->reported = true;
		iwarp_shut(connection);
	} else {
		begin_operation(connection);
	}
	rnic->user->replied(rnic->user, connection, startup);
}

/* Returns false if more bytes are needed. */
static bool read_startup(struct rnic_connection *connection, uint32_t there)
{
	uint8_t bytes[MPA_STARTUP_BYTES + MPA_PRIVATE_DATA_MAX];
	uint32_t count = there < sizeof(bytes) ? there : (uint32_t)sizeof(bytes);
	struct mpa_startup startup;
	enum parse_status status;

	if (connection->phase == RNIC_ASKED && !connection->initiator)
		return false; /* until it is accepted */
	byte_ring_get(&connection->unread, connection->unread.first, bytes, count);
	status = mpa_startup_parse(bytes, count, &startup);
	if (status == PARSE_TRUNCATED)
		return false;
	if (status != PARSE_OK) {
		tcp_abort(connection->tcp, now(connection));
		lose(connection);
		return false;
	}
	count = mpa_startup_bytes(&startup);
	byte_ring_drop(&connection->unread, connection->unread.first + count);
	tcp_read(connection->tcp, now(connection), count);
	take_startup(connection, &startup);
	return true;
}

/* Returns false if more bytes are needed, or the queue pair does not take the FPDU now. */
static bool read_fpdu(struct rnic_connection *connection, uint32_t there)
{
	struct rnic *rnic = connection->rnic;
	uint8_t length[MPA_LENGTH_BYTES], *fpdu = rnic->scratch;
	uint8_t *ulpdu = rnic->scratch + MPA_ULPDU_MAX;
	uint32_t ulpdu_bytes, count;
	size_t fpdu_bytes;

	if (there < MPA_LENGTH_BYTES)
		return false;
	byte_ring_get(&connection->unread, connection->unread.first, length, sizeof(length));
	count = mpa_fpdu_bytes(no_markers, (uint32_t)length[0] << 8 | length[1]);
	if (there < count)
		return false;
	assert(count <= MPA_ULPDU_MAX);
	byte_ring_get(&connection->unread, connection->unread.first, fpdu, count);
	if (mpa_fpdu_parse(no_markers, fpdu, count, ulpdu, &ulpdu_bytes, &fpdu_bytes) != PARSE_OK) {
		if (connection->qp)
			iwarp_receive_fail(connection->qp, RDMAP_LAYER_LLP, 0, 2);
		return false;
	}
	connection->peer_sent = true;
	if (connection->qp && !iwarp_receive(connection->qp, ulpdu, ulpdu_bytes))
		return false;
	rnic->count.fpdus_received++;
	byte_ring_drop(&connection->unread, connection->unread.first + count);
	tcp_read(connection->tcp, now(connection), count);
	return true;
}

static void read_stream(struct rnic_connection *connection)
{
	bool more = true;

	while (more && connection->phase != RNIC_CLOSED) {
		bool sent = connection->peer_sent;
		uint32_t there = (uint32_t)tcp_readable(connection->tcp);

		more = connection->phase == RNIC_OPERATION ? read_fpdu(connection, there)
							   : read_startup(connection, there);
		if (!sent && connection->peer_sent && connection->qp && !connection->initiator) {
			iwarp_send_fetch(connection->qp);
			iwarp_send_pump(connection->qp);
		}
	}
}

void iwarp_continue(struct rnic_connection *connection)
{
	connection->events |= TCP_READABLE;
	settle(connection);
}

/* ---- events of TCP ---- */

static void count_held(struct rnic_connection *connection)
{
	uint64_t bytes = connection->unacked.end - connection->unacked.first +
			 tcp_held_received(connection->tcp);

	iwarp_count_held(connection->rnic, (int64_t)(bytes - connection->held_bytes));
	connection->held_bytes = bytes;
}

static void close_when_idle(struct rnic_connection *connection)
{
	if (connection->closing && !connection->shut &&
	    (!connection->qp || connection->qp->state != STATE_RTS ||
	     iwarp_send_idle(connection->qp)))
		iwarp_shut(connection);
}

static void handle(struct rnic_connection *connection, unsigned events)
{
	if (events & TCP_CONNECTED && connection->initiator) {
		write_bytes(connection, connection->request, connection->request_bytes);
		connection->phase = RNIC_ASKED;
	}
	if (events & TCP_ACKNOWLEDGED) {
		byte_ring_drop(&connection->unacked, tcp_acknowledged(connection->tcp));
		if (connection->qp && connection->qp->state == STATE_RTS)
			iwarp_send_acknowledged(connection->qp);
	}
	if (events & (TCP_READABLE | TCP_PEER_CLOSED))
		read_stream(connection);
	if (events & TCP_PEER_CLOSED && tcp_readable(connection->tcp) == 0) {
		iwarp_shut(connection);
		lose(connection);
	}
	if (events & (TCP_RESET | TCP_TIMED_OUT))
		lose(connection);
}

static void settle(struct rnic_connection *connection)
{
	if (connection->handling)
		return;
	connection->handling = true;
	while (connection->events) {
		unsigned events = connection->events;

		connection->events = 0;
		handle(connection, events);
		close_when_idle(connection);
	}
	close_when_idle(connection);
	count_held(connection);
	connection->handling = false;
	release_if_done(connection);
}

/* ---- segments that arrive ---- */

static struct rnic_connection *find(struct rnic *rnic, const struct packet *packet)
{
	struct rnic_connection *connection = iwarp_table_find(rnic, packet->path);

	if (connection || (packet->tcp.flags & (TCP_SYN | TCP_ACK | TCP_RST)) != TCP_SYN ||
	    !rnic->user || !rnic->user->listens(rnic->user, packet->path->tcp_destination_port))
		return connection;
	connection = make(rnic, path_reverse(rnic->blocks.paths, packet->path), false);
	tcp_listen(connection->tcp, now(connection));
	return connection;
}

static bool arrived(struct offload *offload, struct packet *packet)
{
	struct rnic *rnic = container_of(offload, struct rnic, offload);
	struct tcp_segment segment = {.ecn = packet->ecn, .payload_bytes = packet->payload_bytes};
	struct rnic_connection *connection;

	if (packet->kind != PACKET_TCP)
		return false;
	connection = find(rnic, packet);
	if (!connection)
		return false;
	if (packet->damage) {
		rnic->count.damaged++;
		receive_done(rnic->blocks.receive, packet);
		return true;
	}
	tcp_packet_header(packet, &segment.header);
	if (packet->payload_bytes)
		packet_payload_copy(packet->payload, rnic->scratch, packet->payload_bytes);
	segment.payload = rnic->scratch;
	rnic->count.segments_received++;
	receive_done(rnic->blocks.receive, packet);
	tcp_input(connection->tcp, now(connection), &segment);
	settle(connection);
	return true;
}

/* ---- calls of the connection manager ---- */

static void bind_qp(struct rnic_connection *connection, uint32_t qpn)
{
	struct rnic_qp *qp = iwarp_qp(connection->rnic, qpn);

	if (!qp || qp->connection)
		return;
	connection->qp = qp;
	qp->connection = connection;
}

static void take_depths(struct rnic_connection *connection, const struct mpa_startup *startup)
{
	connection->ird = startup->ird;
	connection->ord = startup->ord;
}

struct rnic_connection *rnic_connect(struct rnic *rnic, const struct path *path, uint32_t qpn,
				     const struct mpa_startup *request)
{
	struct rnic_connection *connection = make(rnic, path, true);

	connection->request_bytes = mpa_startup_bytes(request);
	mpa_startup_build(request, connection->request);
	take_depths(connection, request);
	bind_qp(connection, qpn);
	tcp_connect(connection->tcp, now(connection));
	settle(connection);
	return connection;
}

static void write_reply(struct rnic_connection *connection, const struct mpa_startup *reply)
{
	uint8_t bytes[MPA_STARTUP_BYTES + MPA_PRIVATE_DATA_MAX];

	mpa_startup_build(reply, bytes);
	write_bytes(connection, bytes, mpa_startup_bytes(reply));
}

void rnic_accept(struct rnic_connection *connection, uint32_t qpn, const struct mpa_startup *reply)
{
	take_depths(connection, reply);
	bind_qp(connection, qpn);
	write_reply(connection, reply);
	begin_operation(connection);
	iwarp_continue(connection);
}

void rnic_reject(struct rnic_connection *connection, const struct mpa_startup *reply)
{
	write_reply(connection, reply);
	connection->forgotten = true;
	iwarp_shut(connection);
	settle(connection);
}

void rnic_disconnect(struct rnic_connection *connection)
{
	connection->closing = true;
	settle(connection);
}

void rnic_forget(struct rnic_connection *connection)
{
	connection->forgotten = true;
	connection->context = NULL;
	if (connection->phase < RNIC_OPERATION && !connection->shut)
		tcp_abort(connection->tcp, now(connection));
	else
		connection->closing = true;
	settle(connection);
}

const struct path *rnic_path(const struct rnic_connection *connection)
{
	return connection->path;
}

void rnic_set_context(struct rnic_connection *connection, void *context)
{
	connection->context = context;
}

void *rnic_context(const struct rnic_connection *connection)
{
	return connection->context;
}

void iwarp_connection_init(struct rnic *rnic)
{
	rnic->offload = (struct offload){arrived, left};
	transmit_set_offload(rnic->blocks.transmit, &rnic->offload);
	receive_set_offload(rnic->blocks.receive, &rnic->offload);
}

void iwarp_connection_fini(struct rnic *rnic)
{
	while (rnic->connections)
		release(rnic->connections);
}
