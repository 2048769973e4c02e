/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fragments: see state.h. A UDP datagram is a frame, or several with IP fragments of it: RFC 768,
 * RFC 791. Packets of kind PACKET_RAW have the bytes of the frame as payload.
 */
#include "fabric/groups.h"
#include "fabric/wire/bytes.h"
#include "fabric/wire/ethernet.h"
#include "fabric/wire/ip.h"
#include "verbs-shim/sockets/state.h"

#define FRAME_MAX       9100
#define FRAME_MIN       60 /* without FCS */
#define ETHERNET_BYTES  14
#define TAG_BYTES       4
#define IP_BYTES        20
#define IPV6_BYTES      40
#define FCS_BYTES       4
#define MORE_FRAGMENTS  0x2000
#define DONT_FRAGMENT   0x4000
#define OFFSET_MASK     0x1fff
#define INCOMPLETE_MOST 16

/* Datagrams of which fragments are missing, newest first. */
struct incomplete {
	struct incomplete *next;
	const struct path *path;
	uint16_t identification;
	uint32_t have, whole; /* bytes; 0: the last fragment has not arrived */
	uint32_t packets;
	uint8_t bytes[UDP_BYTES + DATAGRAM_MAX];
};

struct fragments {
	struct incomplete *first;
	uint32_t count;
};

static const struct path *path_of(const struct sockets *sockets, const struct flow *flow)
{
	bool group = flow->to_host == NO_SOCKET;
	struct path path = endpoints_path(sockets->endpoints, flow->from_host,
					  group ? flow->from_host : flow->to_host,
					  (unsigned)sockets->params->priority, flow->hop_limit, 0);

	if (group) {
		memcpy(path.dgid, flow->destination.ip, sizeof(path.dgid));
		if (group_has_gid(path.dgid))
			group_mac(path.dgid, path.dmac);
		else
			memset(path.dmac, 0xff, sizeof(path.dmac)); /* broadcast */
		path.roce_version = flow->source.ip[0] ? ROCE_V2_IPV6 : ROCE_V2_IPV4;
		memcpy(path.sgid, flow->source.ip, sizeof(path.sgid));
		path.destination = groups_by_gid(endpoints_groups(sockets->endpoints), path.dgid);
	}
	path.tcp_source_port = flow->source.port;
	path.tcp_destination_port = flow->destination.port;
	return path_intern(endpoints_paths(sockets->endpoints), &path);
}

/* ---- sending ---- */

static bool is_six(const struct path *path)
{
	return path->roce_version == ROCE_V2_IPV6;
}

static void put_udp(const struct path *path, uint8_t *datagram, uint32_t bytes)
{
	uint32_t sum, address_bytes = is_six(path) ? 16 : 4;

	be16_put(datagram, path->tcp_source_port);
	be16_put(datagram + 2, path->tcp_destination_port);
	be16_put(datagram + 4, (uint16_t)bytes);
	be16_put(datagram + 6, 0);
	sum = ip_sum(path->sgid + 16 - address_bytes, address_bytes, IP_UDP + bytes);
	sum = ip_sum(path->dgid + 16 - address_bytes, address_bytes, sum);
	sum = ~ip_sum(datagram, bytes, sum) & 0xffff;
	be16_put(datagram + 6, (uint16_t)(sum ? sum : 0xffff));
}

static void send_fragment(struct socket_host *host, const struct path *path,
			  const uint8_t *datagram, uint32_t bytes, uint16_t fragment)
{
	struct packet_pool *pool = netdev_packets(host->netdev);
	struct packet *packet = packet_new(pool);
	uint8_t frame[FRAME_MAX];
	size_t ip = ethernet_build(path, ETHERTYPE_IPV4, frame), length;

	packet->path = path;
	packet->kind = PACKET_RAW;
	packet->hop_limit = path->hop_limit;
	packet->ip_identification = host->identification;
	length = ip + ip_build(packet, IP_UDP, bytes, frame + ip);
	if (!is_six(path)) {
		be16_put(frame + ip + 6, fragment);
		be16_put(frame + ip + 10, 0);
		be16_put(frame + ip + 10, (uint16_t)~ip_sum(frame + ip, IP_BYTES, 0));
	}
	memcpy(frame + length, datagram, bytes);
	length += bytes;
	if (length < FRAME_MIN) {
		memset(frame + length, 0, FRAME_MIN - length);
		length = FRAME_MIN;
	}
	packet->payload_bytes = (uint32_t)length;
	packet->payload = packet_payload_of(pool, frame, (uint32_t)length);
	packet->wire_bytes = (uint32_t)length + FCS_BYTES;
	taps_see(host, packet, true);
	netdev_send(host->netdev, packet);
}

void fragments_send(struct sockets *sockets, const struct flow *flow, const uint8_t *bytes,
		    uint32_t count)
{
	struct socket_host *host = sockets->hosts[flow->from_host];
	const struct path *path = path_of(sockets, flow);
	uint8_t *datagram = sockets->scratch;
	uint32_t whole = UDP_BYTES + count, most = (uint32_t)sockets->params->mtu - IP_BYTES;

	memcpy(datagram + UDP_BYTES, bytes, count);
	put_udp(path, datagram, whole);
	host->identification++;
	if (whole <= most || is_six(path)) {
		send_fragment(host, path, datagram, whole, DONT_FRAGMENT);
		return;
	}
	most -= most % 8;
	for (uint32_t at = 0; at < whole; at += most) {
		bool last = whole - at <= most;

		send_fragment(host, path, datagram + at, last ? whole - at : most,
			      (uint16_t)(at / 8 | (last ? 0 : MORE_FRAGMENTS)));
	}
}

/* ---- receiving ---- */

static void give_up(struct fragments *fragments, struct incomplete *incomplete)
{
	struct incomplete **place = &fragments->first;

	while (*place != incomplete)
		place = &(*place)->next;
	*place = incomplete->next;
	fragments->count--;
	free(incomplete);
}

static struct incomplete *find(struct socket_host *host, const struct path *path,
			       uint16_t identification)
{
	struct fragments *fragments = host->fragments;
	struct incomplete *found;

	if (!fragments) {
		fragments = host->fragments = calloc(1, sizeof(*fragments));
		assert(fragments);
	}
	for (found = fragments->first; found; found = found->next)
		if (found->path == path && found->identification == identification)
			return found;
	if (fragments->count == INCOMPLETE_MOST) { /* the oldest is given up */
		found = fragments->first;
		while (found->next)
			found = found->next;
		give_up(fragments, found);
	}
	found = malloc(sizeof(*found));
	assert(found);
	found->path = path;
	found->identification = identification;
	found->have = found->whole = found->packets = 0;
	found->next = fragments->first;
	fragments->first = found;
	fragments->count++;
	return found;
}

static void deliver(struct socket_host *host, const struct path *path, const uint8_t *datagram,
		    uint32_t bytes, uint32_t packets)
{
	struct flow flow = {.from_host = path->source,
			    .to_host = host->number,
			    .interface = SHIM_INTERFACE_ETH0,
			    .source.port = path->tcp_source_port,
			    .destination.port = path->tcp_destination_port};

	memcpy(flow.source.ip, path->sgid, sizeof(flow.source.ip));
	memcpy(flow.destination.ip, path->dgid, sizeof(flow.destination.ip));
	datagram_arrived(host->sockets, &flow, datagram + UDP_BYTES, bytes - UDP_BYTES, packets);
}

static void add(struct socket_host *host, const struct path *path, const uint8_t *ip,
		uint16_t fragment)
{
	struct incomplete *incomplete = find(host, path, be16_get(ip + 4));
	uint32_t bytes = be16_get(ip + 2) - IP_BYTES, at = (fragment & OFFSET_MASK) * 8u;

	memcpy(incomplete->bytes + at, ip + IP_BYTES, bytes);
	incomplete->have += bytes;
	incomplete->packets++;
	if (!(fragment & MORE_FRAGMENTS))
		incomplete->whole = at + bytes;
	if (!incomplete->whole || incomplete->have < incomplete->whole)
		return;
	deliver(host, path, incomplete->bytes, incomplete->whole, incomplete->packets);
	give_up(host->fragments, incomplete);
}

/* Returns false for other protocols: no program has a socket for mirrored frames (ERSPAN). */
static bool is_udp(const struct packet *packet, size_t ip)
{
	const uint8_t *header = packet->payload->bytes + ip;

	return header[is_six(packet->path) ? 6 : 9] == IP_UDP;
}

static size_t ip_of(const struct packet *packet)
{
	return path_vlan_tag(packet->path) ? ETHERNET_BYTES + TAG_BYTES : ETHERNET_BYTES;
}

bool fragments_are_wanted(const struct socket_host *host, const struct packet *packet)
{
	return is_udp(packet, ip_of(packet)) &&
	       (!group_has_gid(packet->path->dgid) || /* the adapter's filter */
		membership_of_host(host->sockets, host->number, packet->path->dgid,
				   SHIM_INTERFACE_ETH0));
}

bool fragments_are_last(const struct packet *packet)
{
	return is_six(packet->path) ||
	       !(be16_get(packet->payload->bytes + ip_of(packet) + 6) & MORE_FRAGMENTS);
}

void fragments_arrived(struct socket_host *host, struct packet *packet)
{
	const struct path *path = packet->path;
	uint8_t frame[FRAME_MAX];
	const uint8_t *ip = frame + ip_of(packet);
	uint16_t fragment;

	if (!fragments_are_wanted(host, packet)) { /* it has left the group meanwhile */
		packet_free(netdev_packets(host->netdev), packet);
		return;
	}
	packet_payload_copy(packet->payload, frame, packet->payload_bytes);
	packet_free(netdev_packets(host->netdev), packet);
	if (is_six(path)) {
		deliver(host, path, ip + IPV6_BYTES, be16_get(ip + 4), 1);
		return;
	}
	fragment = be16_get(ip + 6);
	if (fragment & (MORE_FRAGMENTS | OFFSET_MASK))
		add(host, path, ip, fragment);
	else
		deliver(host, path, ip + IP_BYTES, be16_get(ip + 2) - IP_BYTES, 1);
}

void fragments_fini_host(struct socket_host *host)
{
	while (host->fragments && host->fragments->first)
		give_up(host->fragments, host->fragments->first);
	free(host->fragments);
}
