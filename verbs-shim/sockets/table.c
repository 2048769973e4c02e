/* SPDX-License-Identifier: Apache-2.0 */
/* table: see state.h and sockets.h. */
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "hca/device/hca.h"
#include "verbs-shim/sockets/state.h"

#define LOOKS  64  /* events of one epoll_wait() */
#define QUEUES 128 /* Linux mlx5: MLX5E_MAX_NUM_CHANNELS */

/* clang-format off */
#define SOCKET_ROW(...) PARAM_ROW(struct socket_params, __VA_ARGS__)
const struct param socket_param_list[] = {SOCKET_PARAMS(SOCKET_ROW) {.name = NULL}};
/* clang-format on */

static const struct block_type sockets_type = {.name = "sockets", .params = socket_param_list};

static socklen_t name_of(uint32_t number, struct sockaddr_un *name)
{
	*name = (struct sockaddr_un){.sun_family = AF_UNIX};
	int length = snprintf(name->sun_path + 1, sizeof(name->sun_path) - 1,
			      SHIM_SOCKET_NAME "%x:%x", (unsigned)getpid(), number);

	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

static int pair_type(bool datagram)
{
	return datagram ? SOCK_SEQPACKET : SOCK_STREAM;
}

static bool make_pair(const struct sockets *sockets, uint32_t number, bool datagram, int ends[2])
{
	struct epoll_event watch = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.u32 = number};
	struct sockaddr_un name;
	int room = SHIM_SOCKET_ROOM / (datagram ? 1 : 2); /* Linux doubles it */

	if (socketpair(AF_UNIX, pair_type(datagram) | SOCK_CLOEXEC, 0, ends) != 0)
		return false;
	if (fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 &&
	    setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)) == 0 &&
	    setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)) == 0 &&
	    bind(ends[1], (struct sockaddr *)&name, name_of(number, &name)) == 0 &&
	    epoll_ctl(sockets->epoll, EPOLL_CTL_ADD, ends[0], &watch) == 0)
		return true;
	close(ends[0]);
	close(ends[1]);
	return false;
}

struct socket *socket_create(struct sockets *sockets, uint32_t host, uint64_t kind)
{
	uint32_t number = 0, family = (uint32_t)(kind & ~SHIM_SOCKET_DATAGRAM);
	bool datagram = kind & SHIM_SOCKET_DATAGRAM;
	struct socket *socket;
	int ends[2];

	while (number < SHIM_SOCKETS && sockets->table[number].used)
		number++;
	if (number == SHIM_SOCKETS || !make_pair(sockets, number, datagram, ends))
		return NULL;
	if (number >= sockets->highest)
		sockets->highest = number + 1;
	socket = &sockets->table[number];
	*socket = (struct socket){.sockets = sockets,
				  .record = socket->record,
				  .name = {number, ++sockets->serial},
				  .listener = {.number = NO_SOCKET},
				  .host = host,
				  .used = true,
				  .timer_at = SIM_NEVER,
				  .near = ends[0],
				  .far = ends[1]};
	event_init(&socket->timer, &sockets->block, stream_timer);
	*socket->record =
		(struct shim_socket){.state = SOCKET_IDLE, .family = family, .datagram = datagram};
	memset(socket->record->local.ip + 10, family == AF_INET ? 0xff : 0, 2);
	if (family == AF_INET6) /* Linux sets it for IPv4 sockets only */
		(void)shim_socket_keep_option(socket->record, IPPROTO_IP, IP_MULTICAST_ALL, 0);
	return socket;
}

struct socket *socket_find(struct sockets *sockets, struct socket_name name)
{
	struct socket *socket;

	if (name.number >= SHIM_SOCKETS)
		return NULL;
	socket = &sockets->table[name.number];
	return socket->used && socket->name.serial == name.serial ? socket : NULL;
}

void socket_ready(const struct socket *socket)
{
	socket->sockets->services->ready(socket->sockets->context, socket->host,
					 socket->name.number);
}

void socket_wake(const struct socket *socket, enum shim_wake wake)
{
	shim_watches_wake(socket->sockets->watches, socket->record, wake);
	socket_ready(socket);
}

static void socket_free(struct socket *socket)
{
	ports_close(socket);
	stream_close(socket);
	byte_ring_free(&socket->unacked);
	byte_ring_free(&socket->unread);
	membership_end(socket);
	if (socket->near >= 0)
		close(socket->near);
	if (socket->far >= 0)
		close(socket->far);
	socket->used = false;
	if (socket->record->family == AF_PACKET)
		taps_update(socket->sockets->hosts[socket->host]);
	shim_watches_forget(socket->sockets->watches, socket->record);
	*socket->record = (struct shim_socket){.state = SOCKET_FREE};
}

/* Returns true if a descriptor of the far end remains. The function tests whether the name of the
 * far end is in use, because poll() also reports a hang-up after a shutdown() of both
 * directions. Linux compares names of sockets of the same type only. */
static bool is_open(const struct socket *end)
{
	struct sockaddr_un name;
	socklen_t length = name_of(end->name.number, &name);
	int probe = socket(AF_UNIX, pair_type(end->record->datagram) | SOCK_CLOEXEC, 0);
	bool open = probe < 0 || bind(probe, (struct sockaddr *)&name, length) != 0;

	if (probe >= 0)
		close(probe);
	return open;
}

static void find_gone(struct socket *socket)
{
	struct pollfd near = {.fd = socket->near};

	if (socket->gone || socket->far >= 0 || socket->embryo)
		return;
	if (socket->near < 0 || (poll(&near, 1, 0) > 0 && near.revents & POLLHUP))
		socket->gone = !is_open(socket);
	if (!socket->gone)
		return;
	shim_watches_forget(socket->sockets->watches, socket->record);
	stream_orphan(socket);
}

/* Returns true if the connection no longer needs its socket. */
static bool is_over(const struct socket *socket)
{
	enum tcp_state state = TCP_STATE_CLOSED;

	if (socket->connection)
		state = tcp_state(socket->connection);
	return state == TCP_STATE_CLOSED || state == TCP_STATE_TIME_WAIT ||
	       state == TCP_STATE_SYN_SENT;
}

void socket_free_if_done(struct socket *socket)
{
	const struct shim_socket *record = socket->record;

	if (!socket->used || !socket->gone)
		return;
	if (record->state == SOCKET_LISTENING)
		connect_unlisten(socket);
	if (!is_over(socket))
		return;
	socket_free(socket);
}

static void moved(struct socket *socket)
{
	socket->record->announced = 0;
	find_gone(socket);
	if (socket->record->datagram) {
		if (socket->record->family == AF_PACKET)
			taps_push(socket);
		else
			datagram_take(socket);
		socket_free_if_done(socket);
		return;
	}
	stream_take(socket);
	stream_push(socket);
	stream_settle(socket);
}

void sockets_look(struct sockets *sockets)
{
	struct epoll_event events[LOOKS];
	int count;

	do {
		count = epoll_wait(sockets->epoll, events, LOOKS, 0);
		for (int i = 0; i < count; i++) {
			struct socket *socket = &sockets->table[events[i].data.u32];

			if (socket->used && !socket->record->announced)
				moved(socket);
		}
	} while (count == LOOKS);
}

static int64_t give(struct socket *socket, int *far)
{
	*far = socket->far;
	socket->far = -1;
	socket->embryo = false;
	return socket->name.number;
}

int64_t sockets_call(struct sockets *sockets, uint32_t host, enum shim_socket_call call,
		     uint32_t number, uint64_t value, int *far)
{
	struct socket *socket = NULL, *accepted;

	*far = -1;
	if (call == SOCKET_CREATE) {
		if ((value & ~SHIM_SOCKET_DATAGRAM) == AF_PACKET && !sockets->hosts[host]->netdev)
			return -EAFNOSUPPORT;
		socket = socket_create(sockets, host, value);
		return socket ? give(socket, far) : -ENFILE;
	}
	if (number < SHIM_SOCKETS && sockets->table[number].used)
		socket = &sockets->table[number];
	if (!socket)
		return -EBADF;
	switch (call) {
	case SOCKET_BIND:
		return ports_bind(socket, &socket->record->wanted, value != 0);
	case SOCKET_LISTEN:
		return connect_listen(socket, (uint32_t)value);
	case SOCKET_UNLISTEN:
		connect_unlisten(socket);
		return 0;
	case SOCKET_CONNECT:
		return socket->record->datagram ? datagram_connect(socket) : connect_begin(socket);
	case SOCKET_ROUTE:
		return datagram_route(socket);
	case SOCKET_DISCONNECT:
		datagram_disconnect(socket);
		return 0;
	case SOCKET_TAP:
		taps_update(sockets->hosts[host]);
		return 0;
	case SOCKET_FOLLOW:
		stream_follow(socket);
		return 0;
	case SOCKET_JOIN:
		return membership_join(socket, &socket->record->group);
	case SOCKET_LEAVE:
		return membership_leave(socket, &socket->record->group);
	case SOCKET_ACCEPT:
		accepted = connect_accept(socket);
		return accepted ? give(accepted, far) : -EAGAIN;
	case SOCKET_MOVED:
		moved(socket);
		return 0;
	default:
		return -EINVAL;
	}
}

/* The names are in the order of enum socket_congestion. */
static const char *const congestion_names[CONGESTION_ALL] = {"cubic", "newreno", "dctcp"};

static void init_congestion(struct congestion *congestion, const char *name)
{
	char error[128];
	bool known = congestion_init(congestion, name, error, sizeof(error));

	(void)known;
	assert(known);
}

struct sockets *sockets_create(struct sim *sim, const struct socket_params *params, uint32_t cores,
			       struct shim_socket *records, struct shim_watches *watches,
			       struct endpoints *endpoints, const struct socket_services *services,
			       void *context)
{
	struct sockets *sockets = calloc(1, sizeof(*sockets));

	assert(sockets);
	block_init(&sockets->block, sim, &sockets_type, "sockets", params, NULL);
	random_init(&sockets->chance, &sockets->block, "reports");
	sockets->sim = sim;
	sockets->params = params;
	sockets->services = services;
	sockets->context = context;
	sockets->watches = watches;
	sockets->endpoints = endpoints;
	sockets->cores = cores;
	sockets->queues = params->queues   ? (uint32_t)params->queues
			  : cores < QUEUES ? cores
					   : QUEUES;
	(void)rss_read_key(params->rss_key.text, sockets->rss_key);
	sockets->epoll = epoll_create1(EPOLL_CLOEXEC);
	assert(sockets->epoll >= 0);
	for (unsigned i = 0; i < CONGESTION_ALL; i++)
		init_congestion(&sockets->congestion[i], congestion_names[i]);
	for (uint32_t i = 0; i < SHIM_SOCKETS; i++)
		sockets->table[i].record = &records[i];
	return sockets;
}

void sockets_add_host(struct sockets *sockets, const char *name, const uint8_t ipv4[4],
		      struct hca *hca)
{
	size_t bytes = (sockets->host_count + 1) * sizeof(*sockets->hosts);
	struct socket_host *host = calloc(1, sizeof(*host));
	const struct port *port = hca_port(hca);

	sockets->hosts = realloc(sockets->hosts, bytes);
	assert(sockets->hosts && host);
	host->sockets = sockets;
	host->number = sockets->host_count;
	host->rate_bps = port_rate_bps(port);
	memcpy(host->ipv4, ipv4, sizeof(host->ipv4));
	network_init_host(host);
	softirq_init_host(host, name);
	if (port_link_layer(port) == LINK_ETHERNET)
		frames_init_host(host, hca);
	sockets->hosts[sockets->host_count++] = host;
}

void sockets_destroy(struct sockets *sockets)
{
	if (!sockets)
		return;
	sockets->ends = true;
	for (uint32_t i = 0; i < sockets->highest; i++)
		if (sockets->table[i].used)
			socket_free(&sockets->table[i]);
	for (uint32_t i = 0; i < sockets->host_count; i++) {
		struct socket_host *host = sockets->hosts[i];

		network_fini_host(host);
		frames_fini_host(host);
		softirq_fini_host(host);
		free(host->closed);
		free(host);
	}
	free(sockets->hosts);
	for (unsigned i = 0; i < CONGESTION_ALL; i++)
		congestion_fini(&sockets->congestion[i]);
	close(sockets->epoll);
	block_fini(&sockets->block);
	free(sockets);
}
