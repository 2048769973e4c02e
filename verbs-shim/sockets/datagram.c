/* SPDX-License-Identifier: Apache-2.0 */
/*
 * datagram: see state.h. UDP, RFC 768. Each message in a pair is a struct shim_datagram and the
 * bytes of one datagram. A datagram that finds no receiver, or a full receive buffer, is lost.
 */
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

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

	if (host == NO_SOCKET)
		return -ENETUNREACH;
	if (!network_reaches(sockets, socket->host, host))
		return -EHOSTUNREACH;
	if (!socket->bound) {
		struct shim_address any = record->local;

		return ports_bind(socket, &any, false);
	}
	return 0;
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
	if (!record->bound)
		ports_forget_address(socket);
}

static void send_one(struct socket *socket, const struct shim_datagram *head, uint32_t bytes)
{
	struct sockets *sockets = socket->sockets;
	uint32_t to = ports_host_of(sockets, socket->host, &head->address);
	struct flow flow = {.from_host = socket->host,
			    .to_host = to,
			    .source = socket->record->local,
			    .destination = head->address};

	if (to == NO_SOCKET)
		return;
	ports_choose_source(socket, &head->address, &flow.source);
	network_send_datagram(sockets, &flow, sockets->datagram + sizeof(*head), bytes);
}

void datagram_take(struct socket *socket)
{
	struct sockets *sockets = socket->sockets;
	int waiting = 0;
	bool took = false;

	socket->carrier = sockets->hosts[socket->host]->netdev ? CARRIER_FRAMES : CARRIER_LINK;
	while (!socket->gone && network_has_room(socket)) {
		struct shim_datagram head;
		ssize_t got = read(socket->near, sockets->datagram, sizeof(sockets->datagram));

		if (got < (ssize_t)sizeof(head))
			break;
		memcpy(&head, sockets->datagram, sizeof(head));
		socket->record->bytes_sent += (uint64_t)got - sizeof(head);
		send_one(socket, &head, (uint32_t)got - (uint32_t)sizeof(head));
		took = true;
	}
	if (took && ioctl(socket->near, FIONREAD, &waiting) == 0 && waiting <= SHIM_SOCKET_ROOM / 2)
		socket_ready(socket);
}

/* ---- receiving ---- */

void datagram_refused(struct sockets *sockets, const struct flow *flow)
{
	struct socket *sender =
		ports_receiver(sockets, flow->from_host, &flow->source, &flow->destination);

	if (!sender || sender->record->state != SOCKET_CONNECTED)
		return;
	sender->record->error = ECONNREFUSED;
	socket_ready(sender);
}

void datagram_arrived(struct sockets *sockets, const struct flow *flow, const uint8_t *bytes,
		      uint32_t count, uint32_t packets)
{
	struct socket *socket =
		ports_receiver(sockets, flow->to_host, &flow->destination, &flow->source);
	struct shim_datagram head = {.address = flow->source, .truesize = truesize(count)};
	struct iovec parts[] = {{&head, sizeof(head)}, {(void *)(uintptr_t)bytes, count}};
	const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
	struct shim_socket *record;
	uint32_t room;

	if (!socket) {
		network_send_refusal(sockets, flow);
		return;
	}
	record = socket->record;
	room = record->receive_buffer ? record->receive_buffer : BUFFER_DEFAULT;
	/* as Linux: the buffer may be exceeded by one datagram */
	if (socket->pushed - record->taken >= room ||
	    sendmsg(socket->near, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
		record->drops++;
		return;
	}
	socket->pushed += head.truesize;
	record->bytes_received += count;
	record->segments++;
	record->packets += packets;
	socket_ready(socket);
}
