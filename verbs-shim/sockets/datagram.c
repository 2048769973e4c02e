/* SPDX-License-Identifier: Apache-2.0 */
/*
 * datagram: see state.h. UDP, RFC 768. Each message in a pair is a struct shim_datagram and the
 * bytes of one datagram. A datagram that finds no receiver, or a full receive buffer, is lost.
 */
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fabric/groups.h"
#include "verbs-shim/sockets/state.h"

#define BUFFER_DEFAULT 212992 /* Linux: net.core.rmem_default */
#define SKB_BYTES      256    /* Linux: struct sk_buff */
#define TAIL_BYTES     320    /* Linux: struct skb_shared_info */
#define PAGE_BYTES     4096

/* Returns the bytes of a receive buffer that a datagram uses. It is the size of its socket buffer,
 * whose data area is a power of two, or whole pages. */
static uint32_t truesize(uint32_t bytes)
{
	uint32_t wanted = bytes + TAIL_BYTES, area = 512;

	while (area < wanted && area < PAGE_BYTES)
		area *= 2;
	if (area < wanted)
		area = (wanted + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	return area + SKB_BYTES;
}

/* ---- sending ---- */

int datagram_route(struct socket *socket)
{
	struct sockets *sockets = socket->sockets;
	struct shim_socket *record = socket->record;
	uint32_t host = ports_host_of(sockets, socket->host, &record->wanted);
	int result = ports_may_reach(socket, &record->wanted);

	if (!record->held) { /* as in Linux, also if the destination cannot be reached */
		struct shim_address any = record->local;
		int bound = ports_bind(socket, &any, true);

		if (bound != 0)
			return bound;
	}
	if (result != 0)
		return result;
	if (host == NO_SOCKET && !ports_has_many(sockets, record->wanted.ip))
		return -ENETUNREACH;
	if (ports_is_broadcast(sockets, record->wanted.ip) &&
	    !shim_socket_option_value(record, SOL_SOCKET, SO_BROADCAST, 0))
		return -EACCES;
	return host == NO_SOCKET || network_reaches(sockets, socket->host, host) ? 0
										 : -EHOSTUNREACH;
}

int datagram_connect(struct socket *socket)
{
	struct shim_socket *record = socket->record;
	int result = datagram_route(socket);

	if (result == 0)
		result = ports_bind_any(socket, &record->wanted);
	if (result != 0)
		return result;
	record->peer = record->wanted;
	record->state = SOCKET_CONNECTED;
	return 0;
}

void datagram_disconnect(struct socket *socket)
{
	struct shim_socket *record = socket->record;

	record->state = SOCKET_IDLE;
	record->peer = (struct shim_address){.port = 0};
	ports_forget(socket);
}

/* Sends to a group: to the members within the host, and by the interface. Returns true if the host
 * is a member. */
static bool send_to_group(const struct socket *socket, struct flow *flow, uint32_t bytes)
{
	struct sockets *sockets = socket->sockets;
	const struct shim_socket *record = socket->record;
	const uint8_t *data = sockets->datagram + sizeof(struct shim_datagram);
	bool six = flow->destination.ip[0] == 0xff;
	const struct endpoint *own = endpoints_get(sockets->endpoints, socket->host);
	int level = six ? IPPROTO_IPV6 : IPPROTO_IP;
	bool six_loops = record->family == AF_INET6; /* Linux: sk_mc_loop() */
	bool loops =
		shim_socket_option_value(record, six_loops ? IPPROTO_IPV6 : IPPROTO_IP,
					 six_loops ? IPV6_MULTICAST_LOOP : IP_MULTICAST_LOOP, 1);

	flow->hop_limit = (uint8_t)shim_socket_option_value(
		record, level, six ? IPV6_MULTICAST_HOPS : IP_MULTICAST_TTL, 1);
	flow->interface = (uint8_t)shim_socket_option_value(
		record, level, six ? IPV6_MULTICAST_IF : IP_MULTICAST_IF, SHIM_INTERFACE_ETH0);
	if (six) /* the link-local address */
		memcpy(flow->source.ip, own->gids[0].bytes, sizeof(flow->source.ip));
	flow->to_host = socket->host;
	loops = (loops || flow->interface == SHIM_INTERFACE_LO) &&
		membership_of_host(sockets, socket->host, flow->destination.ip, flow->interface);
	if (loops)
		network_send_datagram(sockets, flow, data, bytes);
	flow->to_host = NO_SOCKET;
	if (flow->hop_limit && flow->interface != SHIM_INTERFACE_LO)
		network_send_datagram(sockets, flow, data, bytes);
	return loops;
}

/* Sends to all hosts, as Linux does: also to the own one. */
static bool broadcast(const struct socket *socket, struct flow *flow, uint32_t bytes)
{
	struct sockets *sockets = socket->sockets;
	const uint8_t *data = sockets->datagram + sizeof(struct shim_datagram);

	flow->interface = SHIM_INTERFACE_ETH0;
	flow->to_host = socket->host;
	network_send_datagram(sockets, flow, data, bytes);
	flow->to_host = NO_SOCKET;
	network_send_datagram(sockets, flow, data, bytes);
	return true;
}

/* Returns true if a copy stays within the host. */
static bool send_one(struct socket *socket, const struct shim_datagram *head, uint32_t bytes)
{
	struct sockets *sockets = socket->sockets;
	uint32_t to = ports_host_of(sockets, socket->host, &head->address);
	struct flow flow = {.from_host = socket->host,
			    .to_host = to,
			    .source = socket->record->local,
			    .destination = head->address,
			    .hop_limit = (uint8_t)shim_socket_option_value(
				    socket->record, IPPROTO_IP, IP_TTL, SHIM_TTL_DEFAULT)};

	if (to == NO_SOCKET && !ports_has_many(sockets, head->address.ip))
		return false;
	ports_choose_source(socket, &head->address, &flow.source);
	if (group_has_gid(head->address.ip))
		return send_to_group(socket, &flow, bytes);
	if (to == NO_SOCKET)
		return broadcast(socket, &flow, bytes);
	network_send_datagram(sockets, &flow, sockets->datagram + sizeof(*head), bytes);
	return false;
}

void datagram_timer(struct socket *socket)
{
	socket_wake(socket, WAKE_OUTPUT);
}

void datagram_take(struct socket *socket)
{
	struct sockets *sockets = socket->sockets;
	int waiting = 0;
	bool took = false, copied = false;

	socket->carrier = sockets->hosts[socket->host]->netdev ? CARRIER_FRAMES : CARRIER_LINK;
	while (!socket->gone && network_has_room(socket)) {
		struct shim_datagram head;
		ssize_t got = read(socket->near, sockets->datagram, sizeof(sockets->datagram));

		if (got < (ssize_t)sizeof(head))
			break;
		memcpy(&head, sockets->datagram, sizeof(head));
		socket->record->bytes_sent += (uint64_t)got - sizeof(head);
		copied |= send_one(socket, &head, (uint32_t)got - (uint32_t)sizeof(head));
		took = true;
	}
	if (!took || ioctl(socket->near, FIONREAD, &waiting) != 0 || waiting > SHIM_SOCKET_ROOM / 2)
		return;
	if (!copied)
		socket_wake(socket, WAKE_OUTPUT);
	else if (!event_pending(&socket->timer)) /* Linux: after the receivers of the copies */
		sim_schedule(&socket->timer, 0);
}

/* ---- receiving ---- */

void datagram_refused(struct sockets *sockets, const struct flow *flow)
{
	struct socket *sender =
		ports_receiver(sockets, flow->from_host, &flow->source, &flow->destination);

	if (!sender || sender->record->state != SOCKET_CONNECTED)
		return;
	sender->record->error = ECONNREFUSED;
	socket_wake(sender, WAKE_STATE);
}

static void put(struct socket *socket, const struct flow *flow, const uint8_t *bytes,
		uint32_t count, uint32_t packets)
{
	struct shim_datagram head = {.address = flow->source, .truesize = truesize(count)};
	struct iovec parts[] = {{&head, sizeof(head)}, {(void *)(uintptr_t)bytes, count}};
	const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
	struct shim_socket *record = socket->record;
	uint32_t room = record->receive_buffer ? record->receive_buffer : BUFFER_DEFAULT;

	/* as Linux: the buffer may be exceeded by one datagram */
	if (socket->pushed - record->taken >= room ||
	    sendmsg(socket->near, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
		record->drops++;
		return;
	}
	socket->pushed += head.truesize;
	record->bytes_received += count;
	if (flow->from_host == flow->to_host) /* no core has processed it yet */
		shim_socket_owe(record, count, packets);
	socket_wake(socket, WAKE_INPUT);
}

/* A group, or a broadcast address, has any number of receivers, and no host refuses. */
static void arrived_for_many(struct sockets *sockets, const struct flow *flow, const uint8_t *bytes,
			     uint32_t count, uint32_t packets)
{
	if (!membership_of_host(sockets, flow->to_host, flow->destination.ip, flow->interface))
		return;
	for (uint32_t i = 0; i < sockets->highest; i++)
		if (ports_receives_group(&sockets->table[i], flow))
			put(&sockets->table[i], flow, bytes, count, packets);
}

void datagram_arrived(struct sockets *sockets, const struct flow *flow, const uint8_t *bytes,
		      uint32_t count, uint32_t packets)
{
	struct socket *socket;

	if (ports_has_many(sockets, flow->destination.ip)) {
		arrived_for_many(sockets, flow, bytes, count, packets);
		return;
	}
	socket = ports_receiver(sockets, flow->to_host, &flow->destination, &flow->source);
	if (socket)
		put(socket, flow, bytes, count, packets);
	else
		network_send_refusal(sockets, flow);
}
