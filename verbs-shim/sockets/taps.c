/* SPDX-License-Identifier: Apache-2.0 */
/*
 * taps: see state.h. AF_PACKET sockets of a host get copies of the frames that its stack sends and
 * receives. RDMA bypasses the stack, and its packets have no copies. A promiscuous adapter also
 * passes frames for others to the stack: those that a switch flooded, and copies of a port mirror.
 *
 * Frames wait in `unread` as records of struct shim_datagram and bytes, until the pair has room.
 */
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <sys/socket.h>

#include "fabric/groups.h"
#include "fabric/wire/bytes.h"
#include "fabric/wire/codec.h"
#include "verbs-shim/sockets/state.h"

#define BUFFER_DEFAULT 212992 /* Linux: net.core.rmem_default */
#define TYPE_AT        12
#define SOURCE_MAC_AT  6
#define PS_PER_NS      1000

static bool is_tap(const struct socket *socket, uint32_t host)
{
	return socket->used && !socket->gone && socket->host == host &&
	       socket->record->family == AF_PACKET && socket->record->tap_protocol;
}

void taps_update(struct socket_host *host)
{
	const struct sockets *sockets = host->sockets;
	bool promiscuous = false;

	host->taps = 0;
	for (uint32_t i = 0; i < sockets->highest; i++) {
		const struct socket *socket = &sockets->table[i];

		if (!is_tap(socket, host->number))
			continue;
		host->taps++;
		promiscuous |= socket->record->tap_all;
	}
	netdev_set_promiscuous(host->netdev, promiscuous);
}

void taps_push(struct socket *socket)
{
	struct byte_ring *queue = &socket->unread;
	bool pushed = false;

	socket->record->stalled = 0;
	while (queue->first < queue->end) {
		struct shim_datagram head;
		uint8_t bytes[sizeof(head) + PACKET_BYTES_MAX];

		byte_ring_get(queue, queue->first, bytes, sizeof(head));
		memcpy(&head, bytes, sizeof(head));
		byte_ring_get(queue, queue->first, bytes, (uint32_t)sizeof(head) + head.truesize);
		if (send(socket->near, bytes, sizeof(head) + head.truesize,
			 MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
			socket->record->stalled = 1;
			break;
		}
		byte_ring_drop(queue, queue->first + sizeof(head) + head.truesize);
		pushed = true;
	}
	if (pushed)
		socket_wake(socket, WAKE_INPUT);
}

static void offer(struct socket *socket, const struct shim_datagram *head, const uint8_t *frame)
{
	struct shim_socket *record = socket->record;
	struct byte_ring *queue = &socket->unread;
	uint64_t room = record->receive_buffer ? record->receive_buffer : BUFFER_DEFAULT;

	if (record->tap_protocol != ETH_P_ALL && record->tap_protocol != head->address.port)
		return;
	if (queue->end - queue->first + sizeof(*head) + head->truesize > room) {
		record->drops++;
		return;
	}
	byte_ring_put(queue, queue->end, (const uint8_t *)head, sizeof(*head));
	byte_ring_put(queue, queue->end, frame, head->truesize);
	record->segments++;
	record->packets++;
	taps_push(socket);
}

/* Writes the frame as a program sees it: without FCS, and padded as on the wire. */
static uint32_t build(const struct packet *packet, uint8_t *frame)
{
	uint32_t bytes = (uint32_t)codec_build(packet, frame, PACKET_BYTES_MAX);

	if (bytes < ETH_ZLEN)
		memset(frame + bytes, 0, ETH_ZLEN - bytes);
	return bytes < ETH_ZLEN ? ETH_ZLEN : bytes;
}

void taps_see(struct socket_host *host, const struct packet *packet, bool sent)
{
	struct sockets *sockets = host->sockets;
	uint8_t frame[PACKET_BYTES_MAX];
	struct shim_datagram head = {.at_ns = (uint64_t)sim_now(sockets->sim) / PS_PER_NS};
	uint8_t *where = head.address.ip; /* interface, type, source: struct sockaddr_ll */

	if (!host->taps)
		return;
	head.truesize = build(packet, frame);
	head.address.port = be16_get(frame + TYPE_AT);
	where[0] = SHIM_INTERFACE_ETH0;
	where[1] = sent                                ? PACKET_OUTGOING
		   : packet->damage & WRONG_MAC        ? PACKET_OTHERHOST
		   : group_has_gid(packet->path->dgid) ? PACKET_MULTICAST
						       : PACKET_HOST;
	memcpy(where + 2, frame + SOURCE_MAC_AT, ETH_ALEN);
	for (uint32_t i = 0; i < sockets->highest; i++)
		if (is_tap(&sockets->table[i], host->number))
			offer(&sockets->table[i], &head, frame);
}
