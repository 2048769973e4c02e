/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connect: see state.h. A listener counts connections from their SYN on. accept() finds them when
 * the handshake is complete.
 */
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "verbs-shim/sockets/state.h"

int connect_listen(struct socket *socket, uint32_t backlog)
{
	const struct socket_params *params = socket->sockets->params;
	struct shim_socket *record = socket->record;
	int result = 0;

	if (record->state != SOCKET_IDLE && record->state != SOCKET_LISTENING)
		return -EINVAL;
	if (!record->held) {
		struct shim_address any = record->local;

		any.port = 0;
		result = ports_bind(socket, &any, true);
	}
	if (result == 0 && record->state == SOCKET_IDLE && !ports_may_listen(socket))
		result = -EADDRINUSE;
	if (result != 0)
		return result;
	socket->backlog = backlog < params->backlog ? backlog : (uint32_t)params->backlog;
	record->state = SOCKET_LISTENING;
	return 0;
}

/* Returns true if another socket has a connection between the same ends. */
static bool is_taken(const struct socket *socket, uint32_t host)
{
	const struct shim_socket *record = socket->record;
	const struct flow flow = {.from_host = socket->host,
				  .to_host = host,
				  .source = record->local,
				  .destination = record->wanted};

	return ports_find_flow(socket->sockets, &flow) != NULL;
}

static int begin(struct socket *socket)
{
	struct sockets *sockets = socket->sockets;
	struct shim_socket *record = socket->record;
	struct shim_address before = record->local;
	uint32_t host = ports_host_of(sockets, socket->host, &record->wanted);
	int result = ports_may_reach(socket, &record->wanted);

	if (result != 0)
		return result;
	if (host == NO_SOCKET)
		return -ENETUNREACH;
	if (!network_reaches(sockets, socket->host, host))
		return -EHOSTUNREACH;
	if (ports_is_any(&record->wanted)) { /* Linux: this host */
		if (record->wanted.ip[10])
			record->wanted.ip[12] = 127;
		record->wanted.ip[15] = 1;
	}
	result = ports_bind_any(socket, &record->wanted);
	if (result != 0)
		return result == -EADDRINUSE ? -EADDRNOTAVAIL : result;
	if (is_taken(socket, host)) {
		record->local = before;
		return -EADDRNOTAVAIL;
	}
	record->peer = record->wanted;
	record->error = 0;
	socket->peer_host = host;
	record->state = SOCKET_CONNECTING;
	stream_open(socket);
	tcp_connect(socket->connection, sim_now(sockets->sim));
	return -EINPROGRESS;
}

/* Removes the plug of a nonblocking connect(): bytes that make the far end unwritable. */
static void pull_plug(struct socket *socket)
{
	char bytes[4096];

	while (read(socket->near, bytes, sizeof(bytes)) > 0)
		;
}

int connect_begin(struct socket *socket)
{
	int result = begin(socket);

	if (result != -EINPROGRESS)
		pull_plug(socket);
	return result;
}

static void fail(struct socket *socket, int error)
{
	struct shim_socket *record = socket->record;

	record->state = SOCKET_REFUSED;
	record->error = error;
	record->peer = (struct shim_address){.port = 0};
	record->held &= record->bound;
	pull_plug(socket);
	close(socket->near);
	socket->near = -1;
	socket_wake(socket, WAKE_STATE);
}

/* Linux: a connection has the options of its listener, priority 0, and for groups the TTL and the
 * interface of the SYN. */
static void inherit_options(const struct sockets *sockets, struct shim_socket *to,
			    const struct shim_socket *from, const struct flow *flow)
{
	const struct socket_host *host = sockets->hosts[flow->to_host];
	bool loopback = flow->from_host == flow->to_host &&
			memcmp(flow->destination.ip + 12, host->ipv4, sizeof(host->ipv4)) != 0;

	shim_socket_copy_options(to, from);
	for (uint32_t i = 0; i < to->option_count; i++)
		if (to->options[i].level == SOL_SOCKET && to->options[i].name == SO_PRIORITY)
			to->options[i].value = 0;
	if (flow->destination.ip[10]) /* by IPv4 */
		(void)shim_socket_keep_option(to, IPPROTO_IP, IP_MULTICAST_TTL, flow->hop_limit);
	if (to->family != AF_INET6)
		return;
	(void)shim_socket_keep_option(to, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, flow->hop_limit);
	(void)shim_socket_keep_option(to, IPPROTO_IPV6, IPV6_MULTICAST_IF,
				      loopback ? SHIM_INTERFACE_LO : SHIM_INTERFACE_ETH0);
}

/* Ends a connection that no program has, or that no program will have. */
static void drop_embryo(struct socket *socket)
{
	if (tcp_state(socket->connection) != TCP_STATE_TIME_WAIT)
		connect_reset(socket);
	socket->embryo = false;
	socket->gone = true;
}

static void arrived_syn(struct sockets *sockets, const struct flow *flow,
			const struct tcp_segment *segment, struct socket *listener)
{
	struct socket *socket;

	if (listener->handshakes + listener->waiting > listener->backlog)
		return; /* as in Linux: the SYN is dropped, and retransmitted later */
	socket = socket_create(sockets, flow->to_host, listener->record->family);
	if (!socket)
		return;
	inherit_options(sockets, socket->record, listener->record, flow);
	socket->record->shut = listener->record->shut; /* by a shutdown() before listen() */
	socket->record->silent_end = listener->record->silent_end;
	socket->record->bound_address = listener->record->bound_address;
	socket->record->state = SOCKET_CONNECTING;
	socket->record->local = flow->destination;
	socket->record->peer = flow->source;
	socket->embryo = true;
	socket->record->held = 1;
	socket->peer_host = flow->from_host;
	socket->listener = listener->name;
	listener->handshakes++;
	stream_open(socket);
	tcp_listen(socket->connection, sim_now(sockets->sim));
	stream_input(socket, segment, 0);
}

static struct flow reverse(const struct flow *flow)
{
	return (struct flow){.from_host = flow->to_host,
			     .to_host = flow->from_host,
			     .source = flow->destination,
			     .destination = flow->source,
			     .hop_limit = SHIM_TTL_DEFAULT};
}

/* Responds with a RST to a segment whose socket does not exist. */
static void respond(struct sockets *sockets, const struct flow *flow,
		    const struct tcp_segment *segment)
{
	const struct flow back = reverse(flow);
	struct tcp_segment reset;

	if (tcp_refuse(segment, &reset))
		network_send(sockets, &back, &reset, NULL);
}

void connect_arrived(struct sockets *sockets, const struct flow *flow,
		     const struct tcp_segment *segment, uint32_t packets)
{
	const struct flow own = reverse(flow);
	struct socket *socket = ports_find_flow(sockets, &own), *listener = NULL;
	unsigned flags = segment->header.flags;

	if ((flags & (TCP_SYN | TCP_ACK | TCP_RST)) == TCP_SYN)
		listener =
			ports_listener(sockets, flow->to_host, &flow->destination, &flow->source);
	if (socket && listener && tcp_state(socket->connection) == TCP_STATE_TIME_WAIT) {
		/* RFC 9293 3.10.7.4: a new connection takes the place */
		tcp_abort(socket->connection, sim_now(sockets->sim));
		stream_settle(socket);
		socket = NULL;
	}
	if (socket) {
		stream_input(socket, segment, packets);
		return;
	}
	if (listener)
		arrived_syn(sockets, flow, segment, listener);
	else
		respond(sockets, flow, segment);
}

/* Linux: a connection whose listener was shut for writing before listen() ends its direction at
 * once. */
static void end_at_once(struct socket *socket)
{
	if (!socket->record->silent_end)
		return;
	socket->record->silent_end = 0;
	socket->finished = true;
	tcp_shutdown(socket->connection, sim_now(socket->sockets->sim));
}

static void enter_backlog(struct socket *socket, struct socket *listener)
{
	listener->handshakes--;
	listener->waiting++;
	socket->accept_next = NULL;
	if (listener->accept_last)
		listener->accept_last->accept_next = socket;
	else
		listener->accept_first = socket;
	listener->accept_last = socket;
	(void)!write(listener->near, "", 1);
	socket_wake(listener, WAKE_INPUT);
}

void connect_opened(struct socket *socket)
{
	struct socket *listener = socket_find(socket->sockets, socket->listener);

	socket->record->state = SOCKET_CONNECTED;
	if (socket->embryo && listener) {
		enter_backlog(socket, listener);
		end_at_once(socket);
	} else if (socket->embryo) {
		drop_embryo(socket);
	} else {
		pull_plug(socket);
		socket_wake(socket, WAKE_STATE);
		stream_take(socket);
		if (memcmp(&socket->record->local, &socket->record->peer,
			   sizeof(struct shim_address)) == 0)
			end_at_once(socket); /* the socket is its own peer, as a listener's */
	}
}

void connect_lost(struct socket *socket, int error)
{
	struct shim_socket *record = socket->record;

	if (record->state == SOCKET_CONNECTING && !socket->embryo) {
		fail(socket, error == ECONNRESET ? ECONNREFUSED : error);
		return;
	}
	if (record->state == SOCKET_CONNECTING) {
		struct socket *listener = socket_find(socket->sockets, socket->listener);

		if (listener)
			listener->handshakes--;
		socket->embryo = false;
		socket->gone = true;
		return;
	}
	byte_ring_free(&socket->unacked);
	socket->finished = socket->reset_came = true;
	if (error == ECONNRESET && socket->fin_came)
		error = EPIPE;
	record->error = error;
	shutdown(socket->near, SHUT_RD);
	stream_push(socket);
	socket_wake(socket, WAKE_STATE);
}

struct socket *connect_accept(struct socket *listener)
{
	struct socket *socket = listener->accept_first;

	if (!socket)
		return NULL;
	listener->accept_first = socket->accept_next;
	if (!listener->accept_first)
		listener->accept_last = NULL;
	listener->waiting--;
	return socket;
}

void connect_reset(struct socket *socket)
{
	if (socket->record->reset)
		return;
	socket->finished = true;
	socket->record->reset = 1;
	tcp_abort(socket->connection, sim_now(socket->sockets->sim));
	byte_ring_free(&socket->unacked);
	byte_ring_free(&socket->unread);
}

void connect_refuse(struct socket *socket)
{
	if (socket->record->reset)
		return;
	connect_reset(socket);
	socket->record->error = ECONNRESET;
	socket_wake(socket, WAKE_STATE);
}

void connect_unlisten(struct socket *listener)
{
	struct socket *socket;

	listener->record->state = SOCKET_IDLE;
	listener->record->shut = listener->record->silent_end = 0;
	pull_plug(listener);
	listener->record->held &= listener->record->bound;
	while ((socket = connect_accept(listener))) {
		drop_embryo(socket);
		socket_free_if_done(socket);
	}
}
