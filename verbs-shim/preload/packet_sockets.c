/* SPDX-License-Identifier: Apache-2.0 */
/* packet_sockets: see packet_sockets.h. Linux: net/packet/af_packet.c. */
#include "verbs-shim/preload/packet_sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if_arp.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "verbs-shim/preload/shim.h"
#include "verbs-shim/preload/sockets.h"

#define RINGS        8 /* of a process */
#define FRAME_MOST   9500
#define RESERVE_MOST 1024
#define RING_MOST    (UINT32_C(1) << 30)
/* Linux: TPACKET2_HDRLEN, and the least room of tpacket_rcv() for the link header. */
#define HEADER_BYTES (32 + sizeof(struct sockaddr_ll) + 16)

static struct ring {
	struct shim_socket *record;
	struct tpacket_req request;
	uint32_t reserve, head; /* next frame to fill */
	uint8_t *memory;
} rings[RINGS];

static int fail(int error)
{
	errno = error;
	return -1;
}

static struct ring *ring_of(const struct shim_socket *record)
{
	for (unsigned i = 0; i < RINGS; i++)
		if (rings[i].record == record)
			return &rings[i];
	return NULL;
}

static struct ring *make_ring(struct shim_socket *record)
{
	struct ring *ring = ring_of(record);

	if (!ring)
		ring = ring_of(NULL);
	if (ring && !ring->record)
		*ring = (struct ring){.record = record};
	return ring;
}

/* ---- calls ---- */

static int listen_for(struct shim_socket *record, uint32_t protocol)
{
	record->tap_protocol = protocol;
	(void)sockets_call_number(SOCKET_TAP, record);
	return 0;
}

int packet_sockets_open(int type, int protocol)
{
	int fd = sockets_open(AF_PACKET, SOCK_DGRAM | (type & (SOCK_CLOEXEC | SOCK_NONBLOCK)));
	struct shim_socket *record = fd < 0 ? NULL : sockets_of(fd);
	struct ring *ring = record ? ring_of(record) : NULL;

	if (ring) /* of an earlier socket with this record, which is closed */
		ring->record = NULL;
	if (record)
		listen_for(record, ntohs((uint16_t)protocol));
	return fd;
}

int packet_sockets_bind(struct shim_socket *record, const struct sockaddr *address,
			socklen_t length)
{
	struct sockaddr_ll link;

	gate_charge(CPU_system_call, shim.memory->cost_system_call);
	if (length < sizeof(link))
		return fail(EINVAL);
	memcpy(&link, address, sizeof(link));
	if (link.sll_family != AF_PACKET)
		return fail(EINVAL);
	if (link.sll_ifindex != 0 && link.sll_ifindex != SHIM_INTERFACE_LO &&
	    link.sll_ifindex != SHIM_INTERFACE_ETH0)
		return fail(ENODEV);
	/* lo has no frames */
	return listen_for(record, link.sll_ifindex == SHIM_INTERFACE_LO ? 0
				  : link.sll_protocol                   ? ntohs(link.sll_protocol)
									: record->tap_protocol);
}

void packet_sockets_address(const struct shim_address *from, struct sockaddr *address,
			    socklen_t *length)
{
	struct sockaddr_ll link = {.sll_family = AF_PACKET,
				   .sll_protocol = htons(from->port),
				   .sll_ifindex = from->ip[0],
				   .sll_hatype = ARPHRD_ETHER,
				   .sll_pkttype = from->ip[1],
				   .sll_halen = ETH_ALEN};

	memcpy(link.sll_addr, from->ip + 2, ETH_ALEN);
	memcpy(address, &link, *length < sizeof(link) ? *length : sizeof(link));
	*length = sizeof(link);
}

/* ---- options ---- */

/* TPACKET_ALIGN() */
static uint32_t aligned(size_t bytes)
{
	return (uint32_t)((bytes + TPACKET_ALIGNMENT - 1) / TPACKET_ALIGNMENT * TPACKET_ALIGNMENT);
}

static int request_ring(struct shim_socket *record, const void *value, socklen_t length)
{
	struct ring *ring = make_ring(record);
	struct tpacket_req request;
	uint32_t per_block;

	if (!ring || length < sizeof(request))
		return fail(ring ? EINVAL : ENOMEM);
	memcpy(&request, value, sizeof(request));
	if (request.tp_block_nr == 0) { /* the end of the ring */
		ring->record = NULL;
		return 0;
	}
	per_block = request.tp_frame_size ? request.tp_block_size / request.tp_frame_size : 0;
	if (!per_block || request.tp_frame_size % TPACKET_ALIGNMENT ||
	    request.tp_frame_size < aligned(HEADER_BYTES) + ring->reserve ||
	    request.tp_frame_nr != per_block * request.tp_block_nr)
		return fail(EINVAL);
	if ((uint64_t)request.tp_block_size * request.tp_block_nr > RING_MOST)
		return fail(ENOMEM);
	ring->request = request;
	record->receive_buffer = request.tp_block_size * request.tp_block_nr;
	return 0;
}

static int join(struct shim_socket *record, bool joins, const void *value, socklen_t length)
{
	struct packet_mreq request;

	if (length < sizeof(request))
		return fail(EINVAL);
	memcpy(&request, value, sizeof(request));
	if (request.mr_ifindex != SHIM_INTERFACE_ETH0 && request.mr_ifindex != SHIM_INTERFACE_LO)
		return fail(ENODEV);
	if (request.mr_type == PACKET_MR_PROMISC)
		record->tap_all = joins;
	return listen_for(record, record->tap_protocol);
}

int packet_sockets_set_option(struct shim_socket *record, int level, int option, const void *value,
			      socklen_t length)
{
	int number = 0;

	if (level == SOL_SOCKET && option == SO_DETACH_FILTER)
		return fail(ENOENT);
	if (level == SOL_SOCKET && (option == SO_TIMESTAMPNS || option == SO_TIMESTAMP))
		return 0;        /* frames of the ring have times in ns */
	if (level != SOL_PACKET) /* without filters in the kernel, libpcap filters itself */
		return fail(ENOPROTOOPT);
	if (length >= sizeof(number))
		memcpy(&number, value, sizeof(number));
	switch (option) {
	case PACKET_ADD_MEMBERSHIP:
	case PACKET_DROP_MEMBERSHIP:
		return join(record, option == PACKET_ADD_MEMBERSHIP, value, length);
	case PACKET_VERSION:
		return number == TPACKET_V2 ? 0 : fail(EINVAL);
	case PACKET_RESERVE:
		if (number < 0 || number > RESERVE_MOST || !make_ring(record))
			return fail(number < 0 || number > RESERVE_MOST ? EINVAL : ENOMEM);
		make_ring(record)->reserve = (uint32_t)number;
		return 0;
	case PACKET_RX_RING:
		return request_ring(record, value, length);
	case PACKET_AUXDATA:
	case PACKET_IGNORE_OUTGOING:
	case PACKET_TIMESTAMP:
		return 0;
	default:
		return fail(ENOPROTOOPT);
	}
}

static int return_bytes(const void *from, socklen_t bytes, void *value, socklen_t *length)
{
	if (*length > bytes)
		*length = bytes;
	memcpy(value, from, *length);
	return 0;
}

int packet_sockets_get_option(int fd, struct shim_socket *record, int level, int option,
			      void *value, socklen_t *length)
{
	struct tpacket_stats stats = {.tp_packets = (uint32_t)(record->taps_seen + record->drops),
				      .tp_drops = (uint32_t)record->drops};
	int number = 0;

	if (level == SOL_SOCKET)
		switch (option) {
		case SO_TYPE:
			number = SOCK_RAW;
			return return_bytes(&number, sizeof(number), value, length);
		case SO_ERROR:
			return return_bytes(&number, sizeof(number), value, length);
		default:
			return (int)system_call(SYS_getsockopt, fd, level, option, value, length);
		}
	if (level != SOL_PACKET)
		return fail(ENOPROTOOPT);
	switch (option) {
	case PACKET_HDRLEN:
		memcpy(&number, value, *length < sizeof(number) ? *length : sizeof(number));
		if (number != TPACKET_V2)
			return fail(EINVAL);
		number = sizeof(struct tpacket2_hdr);
		return return_bytes(&number, sizeof(number), value, length);
	case PACKET_STATISTICS: /* reading them sets them to 0 */
		record->taps_seen = record->drops = 0;
		return return_bytes(&stats, sizeof(stats), value, length);
	default:
		return fail(ENOPROTOOPT);
	}
}

/* ---- the ring ---- */

void *packet_sockets_map(int fd, size_t length)
{
	struct shim_socket *record = sockets_of(fd);
	struct ring *ring = record && record->family == AF_PACKET ? ring_of(record) : NULL;

	if (!ring || (uint64_t)ring->request.tp_block_size * ring->request.tp_block_nr != length)
		return NULL;
	ring->memory =
		mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ring->head = 0;
	return ring->memory;
}

static struct tpacket2_hdr *frame_at(const struct ring *ring, uint32_t number)
{
	const struct tpacket_req *request = &ring->request;
	uint32_t per_block = request->tp_block_size / request->tp_frame_size;

	return (struct tpacket2_hdr *)(void *)(ring->memory +
					       (size_t)(number / per_block) *
						       request->tp_block_size +
					       (size_t)(number % per_block) *
						       request->tp_frame_size);
}

static void fill(struct ring *ring, const struct shim_datagram *head, const uint8_t *bytes)
{
	struct tpacket2_hdr *header = frame_at(ring, ring->head);
	uint32_t net = aligned(HEADER_BYTES) + ring->reserve;
	uint32_t mac = net - ETH_HLEN, kept = head->truesize;
	uint64_t at = shim.memory->realtime_base_ns + head->at_ns;
	socklen_t length = sizeof(struct sockaddr_ll);

	if (mac + kept > ring->request.tp_frame_size)
		kept = ring->request.tp_frame_size - mac;
	*header = (struct tpacket2_hdr){.tp_len = head->truesize,
					.tp_snaplen = kept,
					.tp_mac = (uint16_t)mac,
					.tp_net = (uint16_t)net,
					.tp_sec = (uint32_t)(at / 1000000000),
					.tp_nsec = (uint32_t)(at % 1000000000)};
	packet_sockets_address(
		&head->address,
		(struct sockaddr *)(void *)((uint8_t *)header + aligned(sizeof(*header))), &length);
	memcpy((uint8_t *)header + mac, bytes, kept);
	header->tp_status = TP_STATUS_USER;
	ring->head = (ring->head + 1) % ring->request.tp_frame_nr;
}

static bool has_room(const struct ring *ring)
{
	return frame_at(ring, ring->head)->tp_status == TP_STATUS_KERNEL;
}

/* Moves frames from the pair into the ring. */
static void drain(int fd, struct shim_socket *record, struct ring *ring)
{
	uint8_t bytes[sizeof(struct shim_datagram) + FRAME_MOST];
	struct shim_datagram head;
	uint64_t moved = 0;

	do {
		while (has_room(ring)) {
			ssize_t got = system_call(SYS_recvfrom, fd, bytes, sizeof(bytes),
						  MSG_DONTWAIT, NULL, NULL);

			if (got < (ssize_t)sizeof(head))
				break;
			memcpy(&head, bytes, sizeof(head));
			fill(ring, &head, bytes + sizeof(head));
			moved += head.truesize;
			record->taps_seen++;
		}
		if (moved)
			sockets_pay_received(record, moved);
		moved = 0;
		if (!record->stalled || !has_room(ring))
			break;
		(void)sockets_call_number(SOCKET_MOVED, record);
	} while (true);
}

bool packet_sockets_poll(int fd, struct shim_socket *record, short *events)
{
	struct ring *ring = ring_of(record);
	uint32_t last;

	if (!ring || !ring->memory)
		return false;
	drain(fd, record, ring);
	last = (ring->head + ring->request.tp_frame_nr - 1) % ring->request.tp_frame_nr;
	*events = frame_at(ring, last)->tp_status == TP_STATUS_KERNEL ? 0 : POLLIN | POLLRDNORM;
	return true;
}
