/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream: see state.h. Bytes of a program wait in three places: in its pair, in `unacked` until the
 * peer has acknowledged them, and at the receiver in `unread` until its pair has room. Events of a
 * connection are handled after the call in which it reports them.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "verbs-shim/sockets/state.h"

#define HASH_MULTIPLIER 2654435761u

static sim_time now(const struct socket *socket)
{
	return sim_now(socket->sockets->sim);
}

/* ---- the connection ---- */

static bool transmit(void *context, const struct tcp_segment *segment)
{
	struct socket *socket = context;
	struct sockets *sockets = socket->sockets;

	if (segment->payload_bytes) {
		if (!network_has_room(socket))
			return false;
		byte_ring_get(&socket->unacked, segment->offset, sockets->scratch,
			      segment->payload_bytes);
	}
	network_send(sockets, &socket->flow, segment, sockets->scratch);
	if (!network_has_room(socket))
		tcp_hold(socket->connection);
	return true;
}

static void receive(void *context, uint64_t offset, uint32_t bytes, const uint8_t *payload)
{
	struct socket *socket = context;

	byte_ring_put(&socket->unread, offset, payload, bytes);
}

static void set_timer(void *context, sim_time at)
{
	struct socket *socket = context;

	socket->timer_at = at;
	if (event_pending(&socket->timer)) {
		if (event_time(&socket->timer) <= at && at != SIM_NEVER)
			return; /* the event checks the time when it fires */
		sim_cancel(&socket->timer);
	}
	if (at != SIM_NEVER)
		sim_schedule_at(&socket->timer, at);
}

static void notify(void *context, unsigned events)
{
	struct socket *socket = context;

	socket->events |= events;
}

static const struct tcp_host tcp_host = {transmit, receive, set_timer, notify};

/* Returns the value of an option in seconds, or `time` if it is not set. A negative value is 0. */
static sim_time seconds(const struct shim_socket *record, int option, sim_time time)
{
	int32_t value = shim_socket_option_value(record, IPPROTO_TCP, option, INT32_MIN);

	if (value == INT32_MIN)
		return time;
	return value < 0 ? 0 : (sim_time)value * SEC;
}

/* The program may change its options at any time. */
static void follow_options(struct socket *socket)
{
	const struct socket_params *params = socket->sockets->params;
	const struct shim_socket *record = socket->record;

	socket->tcp.receive_buffer =
		record->receive_buffer ? record->receive_buffer : params->receive_buffer;
	socket->tcp.nagle = shim_socket_option_value(record, IPPROTO_TCP, TCP_NODELAY, 0)
				    ? TCP_NAGLE_OFF
				    : TCP_NAGLE_MINSHALL;
	socket->flow.hop_limit =
		(uint8_t)shim_socket_option_value(record, IPPROTO_IP, IP_TTL, SHIM_TTL_DEFAULT);
	socket->tcp.keepalive = shim_socket_option_value(record, SOL_SOCKET, SO_KEEPALIVE, 0);
	socket->tcp.keepalive_idle = seconds(record, TCP_KEEPIDLE, socket->tcp.keepalive_idle);
	socket->tcp.keepalive_interval =
		seconds(record, TCP_KEEPINTVL, socket->tcp.keepalive_interval);
	socket->tcp.keepalive_probes = (uint64_t)shim_socket_option_value(
		record, IPPROTO_TCP, TCP_KEEPCNT, (int32_t)socket->tcp.keepalive_probes);
	socket->tcp.fin_timeout = seconds(record, TCP_LINGER2, socket->tcp.fin_timeout);
	socket->tcp.user_timeout =
		(sim_time)shim_socket_option_value(record, IPPROTO_TCP, TCP_USER_TIMEOUT, 0) * MS;
}

static const struct congestion *congestion_of(const struct socket *socket)
{
	static const char *const names[CONGESTION_ALL] = {
		[CONGESTION_CUBIC] = "cubic",
		[CONGESTION_NEWRENO] = "reno",
		[CONGESTION_DCTCP] = "dctcp",
	};
	const struct sockets *sockets = socket->sockets;

	for (unsigned i = 0; i < CONGESTION_ALL; i++)
		if (strcmp(socket->record->congestion, names[i]) == 0)
			return &sockets->congestion[i];
	return &sockets->congestion[sockets->params->congestion];
}

void stream_open(struct socket *socket)
{
	const struct sockets *sockets = socket->sockets;
	const struct shim_socket *record = socket->record;

	socket->carrier = network_carrier(sockets, socket->host, socket->peer_host);
	params_default(tcp_param_list, &socket->tcp);
	socket->tcp.ecn = sockets->params->ecn; /* the same choices */
	socket->tcp.rto_min = sockets->params->rto_min;
	ports_add_flow(socket);
	follow_options(socket);
	socket->connection = tcp_create(&(struct tcp_setup){
		.params = &socket->tcp,
		.congestion = congestion_of(socket),
		.host = &tcp_host,
		.context = socket,
		.local_port = record->local.port,
		.remote_port = record->peer.port,
		.mss = network_mss(sockets, socket->carrier),
		.initial_sequence = (uint32_t)socket->name.serial * HASH_MULTIPLIER,
		.line_rate_bps = sockets->hosts[socket->host]->rate_bps,
	});
}

void stream_close(struct socket *socket)
{
	sim_cancel(&socket->timer);
	network_stop_waiting(socket);
	if (!socket->connection)
		return;
	ports_remove_flow(socket);
	tcp_destroy(socket->connection);
	socket->connection = NULL;
}

/* ---- sending ---- */

static uint64_t send_room(const struct socket *socket)
{
	uint64_t room = socket->record->send_buffer ? socket->record->send_buffer
						    : socket->sockets->params->send_buffer;
	uint64_t held = socket->unacked.end - socket->unacked.first;

	return held < room ? room - held : 0;
}

/* Returns the bytes that the program has written to the pair. */
static uint64_t waiting(const struct socket *socket)
{
	int bytes = 0;

	return ioctl(socket->near, FIONREAD, &bytes) == 0 ? (uint64_t)bytes : 0;
}

/* Returns true if the program can write again. As in Linux, three quarters of the buffer must be
 * free. */
static bool has_room(const struct socket *socket)
{
	return waiting(socket) <= SHIM_SOCKET_ROOM / 4;
}

/* The program writes no more. */
static void finish(struct socket *socket)
{
	socket->finished = true;
	if (socket->gone && (socket->record->aborts || tcp_readable(socket->connection)))
		connect_reset(socket);
	else
		tcp_shutdown(socket->connection, now(socket));
}

/* Reads from the pair. Returns the result of the last read(). */
static ssize_t read_pair(struct socket *socket)
{
	struct sockets *sockets = socket->sockets;
	ssize_t got = 1;
	uint64_t room;

	while (got > 0 && (room = send_room(socket)) > 0) {
		size_t most = room < sizeof(sockets->scratch) ? room : sizeof(sockets->scratch);

		got = read(socket->near, sockets->scratch, most);
		if (got > 0)
			byte_ring_put(&socket->unacked, socket->unacked.end, sockets->scratch,
				      (uint32_t)got);
	}
	return got;
}

/* Returns true if the program closed the far end before it read all data. RFC 2525 2.17. */
static bool was_unread(const struct socket *socket)
{
	char byte;

	return read(socket->near, &byte, 1) < 0 && errno == ECONNRESET;
}

/* Linux: epoll learns of room if a call found none before. */
static void notify_room(struct socket *socket)
{
	if (socket->record->no_space)
		socket_wake(socket, WAKE_OUTPUT);
	else
		socket_ready(socket);
	socket->record->no_space = 0;
}

void stream_take(struct socket *socket)
{
	uint64_t before = socket->unacked.end, taken;
	ssize_t got;

	if (socket->record->state != SOCKET_CONNECTED || socket->embryo || socket->near < 0)
		return;
	if (socket->finished) {
		if (socket->gone && !socket->record->over &&
		    (socket->record->aborts || was_unread(socket)))
			connect_reset(socket);
		return;
	}
	follow_options(socket);
	if (socket->record->sends_urgent)
		tcp_urge(socket->connection, socket->unacked.end + waiting(socket));
	got = read_pair(socket);
	taken = socket->unacked.end - before;
	socket->record->bytes_sent += taken;
	if (taken)
		tcp_write(socket->connection, now(socket), taken);
	if (got == 0)
		finish(socket);
	else if (got < 0 && errno == ECONNRESET) /* the program closed before it read all data */
		connect_reset(socket);
	if (taken && has_room(socket))
		notify_room(socket);
}

static void acknowledged(struct socket *socket)
{
	byte_ring_drop(&socket->unacked, tcp_acknowledged(socket->connection));
	stream_take(socket);
}

void stream_follow(struct socket *socket)
{
	if (!socket->connection)
		return;
	follow_options(socket);
	tcp_resume(socket->connection, now(socket));
	stream_settle(socket);
}

void stream_orphan(struct socket *socket)
{
	if (!socket->connection)
		return;
	follow_options(socket);
	tcp_orphan(socket->connection, now(socket));
}

void stream_resume(struct socket *socket)
{
	if (socket->record->datagram) {
		datagram_take(socket);
		return;
	}
	tcp_resume(socket->connection, now(socket));
	stream_settle(socket);
}

/* ---- receiving ---- */

/* Returns the bytes that went into the pair. */
static uint64_t push_bytes(struct socket *socket)
{
	uint64_t left = tcp_readable(socket->connection), pushed = 0;

	while (left > 0) {
		uint64_t part = left;
		const uint8_t *bytes = byte_ring_front(&socket->unread, &part);
		ssize_t put = socket->reader_ended ? (ssize_t)part
						   : send(socket->near, bytes, part,
							  MSG_DONTWAIT | MSG_NOSIGNAL);

		if (put < 0 && errno == EAGAIN) {
			socket->record->stalled = 1;
			break;
		}
		if (put < 0) {
			socket->reader_ended = true; /* after shutdown() of reading, data is lost */
			continue;
		}
		byte_ring_drop(&socket->unread, socket->unread.first + (uint64_t)put);
		left -= (uint64_t)put;
		pushed += (uint64_t)put;
	}
	return pushed;
}

static void push_end(struct socket *socket)
{
	shutdown(socket->near, SHUT_WR);
	socket->record->reset |= socket->reset_came;
	socket->end_pushed = true;
}

void stream_push(struct socket *socket)
{
	uint64_t pushed;
	bool ended;

	if (!socket->connection || socket->near < 0 || socket->record->reset)
		return;
	socket->record->stalled = 0;
	pushed = push_bytes(socket);
	socket->record->bytes_received += pushed;
	ended = !socket->record->stalled && !socket->end_pushed &&
		(socket->fin_came || socket->reset_came);
	if (ended)
		push_end(socket);
	if (!pushed && !ended)
		return;
	follow_options(socket);
	if (pushed)
		tcp_read(socket->connection, now(socket), pushed);
	if (ended || !shim_socket_is_low(socket->record))
		socket_wake(socket, ended ? WAKE_STATE : WAKE_INPUT);
	else
		socket_ready(socket);
}

void stream_input(struct socket *socket, const struct tcp_segment *segment, uint32_t packets)
{
	if (socket->carrier == CARRIER_LOOPBACK) /* no core has processed it yet */
		shim_socket_owe(socket->record, segment->payload_bytes, packets);
	follow_options(socket);
	tcp_input(socket->connection, now(socket), segment);
	stream_settle(socket);
}

/* ---- events ---- */

void stream_timer(struct event *event)
{
	struct socket *socket = container_of(event, struct socket, timer);

	if (socket->record->datagram) {
		datagram_timer(socket);
		return;
	}
	if (socket->timer_at > now(socket)) {
		set_timer(socket, socket->timer_at);
		return;
	}
	socket->timer_at = SIM_NEVER;
	follow_options(socket);
	tcp_timer(socket->connection, now(socket));
	stream_settle(socket);
}

/* ---- sockets that wait for their readers ---- */

static bool is_stuck(const struct socket *socket)
{
	return socket->used && socket->connection && tcp_stuck(socket->connection);
}

bool sockets_are_stuck(struct sockets *sockets)
{
	bool other_events;

	for (uint32_t i = 0; i < sockets->highest; i++)
		if (is_stuck(&sockets->table[i]))
			sim_cancel(&sockets->table[i].timer);
	other_events = sim_next(sockets->sim) < SIM_NEVER;
	for (uint32_t i = 0; i < sockets->highest; i++)
		if (is_stuck(&sockets->table[i]))
			set_timer(&sockets->table[i], sockets->table[i].timer_at);
	return !other_events;
}

void sockets_report_stuck(struct sockets *sockets, FILE *out,
			  const char *(*name_of)(void *context, uint32_t host))
{
	for (uint32_t i = 0; i < sockets->highest; i++) {
		const struct socket *socket = &sockets->table[i];

		if (is_stuck(socket) && socket->unacked.end > socket->unacked.first)
			fprintf(out,
				"hcasim:   %s: %lu bytes of port %u wait until a program on %s "
				"reads from port %u\n",
				name_of(sockets->context, socket->host),
				socket->unacked.end - socket->unacked.first,
				socket->record->local.port,
				name_of(sockets->context, socket->peer_host),
				socket->record->peer.port);
	}
}

/* ---- urgent data ---- */

/* Linux: tcp_check_urg(). A read at the earlier mark has not skipped its byte. */
static void urgent_announced(struct socket *socket)
{
	const struct sockets *sockets = socket->sockets;
	struct shim_socket *record = socket->record;
	uint64_t taken = record->bytes_taken + record->urgent_holes;
	struct tcp_report report;
	bool inlined = shim_socket_option_value(record, SOL_SOCKET, SO_OOBINLINE, 0);

	tcp_report(socket->connection, &report);
	if (record->urgent && record->urgent_at == taken && !inlined && report.received != taken)
		record->urgent_holes++;
	record->urgent = URGENT_AWAITED;
	record->urgent_at = tcp_urgent(socket->connection);
	if (record->owner)
		sockets->services->signal(sockets->context, record->owner, SIGURG);
}

static void urgent_arrived(struct socket *socket)
{
	struct shim_socket *record = socket->record;
	uint8_t byte;

	byte_ring_get(&socket->unread, tcp_urgent(socket->connection), &byte, 1);
	record->urgent = URGENT_THERE;
	record->urgent_byte = byte;
	socket_wake(socket, WAKE_INPUT);
}

static void handle(struct socket *socket, unsigned events)
{
	if (events & TCP_URGENT_ANNOUNCED)
		urgent_announced(socket);
	if (events & TCP_URGENT_ARRIVED)
		urgent_arrived(socket);
	if (events & TCP_CONNECTED)
		connect_opened(socket);
	if (events & TCP_ACKNOWLEDGED)
		acknowledged(socket);
	if (events & TCP_PEER_CLOSED)
		socket->fin_came = true;
	if (events & (TCP_READABLE | TCP_PEER_CLOSED)) {
		bool bytes = tcp_readable(socket->connection) > 0;

		if (bytes && socket->gone)
			connect_reset(socket);
		else if (bytes && socket->finished && socket->record->shut == SHUT_BOTH &&
			 !socket->record->stalled)
			connect_refuse(socket);
		else
			stream_push(socket);
	}
	if (events & (TCP_RESET | TCP_TIMED_OUT))
		connect_lost(socket, events & TCP_RESET ? ECONNRESET : ETIMEDOUT);
}

static bool is_over(enum tcp_state state)
{
	return state == TCP_STATE_CLOSED || state == TCP_STATE_TIME_WAIT;
}

/* As Linux numbers states. A socket is closed when TIME_WAIT begins. */
static const uint8_t linux_states[TCP_STATE_COUNT] = {
	[TCP_STATE_CLOSED] = TCP_CLOSE,
	[TCP_STATE_LISTEN] = TCP_LISTEN,
	[TCP_STATE_SYN_SENT] = TCP_SYN_SENT,
	[TCP_STATE_SYN_RECEIVED] = TCP_SYN_RECV,
	[TCP_STATE_ESTABLISHED] = TCP_ESTABLISHED,
	[TCP_STATE_FIN_WAIT_1] = TCP_FIN_WAIT1,
	[TCP_STATE_FIN_WAIT_2] = TCP_FIN_WAIT2,
	[TCP_STATE_CLOSE_WAIT] = TCP_CLOSE_WAIT,
	[TCP_STATE_CLOSING] = TCP_CLOSING,
	[TCP_STATE_LAST_ACK] = TCP_LAST_ACK,
	[TCP_STATE_TIME_WAIT] = TCP_CLOSE,
};

static void show(struct socket *socket)
{
	struct shim_socket *record = socket->record;
	struct tcp_report report;
	uint32_t before = record->tcp_state;
	bool over = is_over(tcp_state(socket->connection));

	if (over && !record->over) {
		record->held &= record->bound;
		socket->reuse = record->reuse;
		socket->reuse_port = record->reuse_port;
	}
	record->over = over;
	record->tcp_state = linux_states[tcp_state(socket->connection)];
	if (record->tcp_state != before && (over || record->tcp_state == TCP_FIN_WAIT2))
		socket_wake(socket, WAKE_STATE);
	record->ended = socket->fin_came;
	if (tcp_state(socket->connection) == TCP_STATE_CLOSED) /* both ends may connect again */
		ports_remove_flow(socket);
	tcp_report(socket->connection, &report);
	record->segment_bytes = report.mss;
	record->round_trip_ns = report.srtt / NS;
	record->window_bytes = report.cwnd_bytes;
	record->retransmissions = (uint32_t)report.counts.retransmissions;
}

void stream_settle(struct socket *socket)
{
	while (socket->events) {
		unsigned events = socket->events;

		socket->events = 0;
		handle(socket, events);
	}
	if (socket->connection)
		show(socket);
	socket_free_if_done(socket);
}
