/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip: builds the headers of annex A17 (do not fragment, UDP checksum 0) and parses equivalent ones.
 * IPv4 addresses are the GIDs ::ffff:a.b.c.d of the path. codec.c calls these functions.
 */
#include "fabric/wire/ip.h"

#include <string.h>

#include "fabric/wire/bytes.h"

#define IPV4_BYTES         20
#define IPV6_BYTES         40
#define IPV4_VERSION_IHL   0x45
#define IPV4_DONT_FRAGMENT 0x4000
#define IPV4_FRAGMENT_MASK 0x3fff /* more fragments, offset */

static const uint8_t ipv4_prefix[12] = {[10] = 0xff, [11] = 0xff};

uint32_t ip_sum(const uint8_t *bytes, size_t length, uint32_t sum)
{
	for (size_t i = 0; i + 1 < length; i += 2)
		sum += be16_get(bytes + i);
	if (length % 2)
		sum += (uint32_t)bytes[length - 1] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

size_t ip_build_udp(const struct path *path, size_t payload_bytes, uint8_t *bytes)
{
	be16_put(bytes, path->udp_source_port);
	be16_put(bytes + 2, ROCE_V2_UDP_PORT);
	be16_put(bytes + 4, (uint16_t)(UDP_BYTES + payload_bytes));
	be16_put(bytes + 6, 0);
	return UDP_BYTES;
}

static void ipv4_build(const struct packet *packet, enum ip_protocol protocol, size_t total_bytes,
		       uint8_t *bytes)
{
	const struct path *path = packet->path;

	bytes[0] = IPV4_VERSION_IHL;
	bytes[1] = (uint8_t)((path->traffic_class & 0xfc) | packet->ecn);
	be16_put(bytes + 2, (uint16_t)total_bytes);
	be16_put(bytes + 4, packet->ip_identification);
	be16_put(bytes + 6, IPV4_DONT_FRAGMENT);
	bytes[8] = packet->hop_limit;
	bytes[9] = (uint8_t)protocol;
	be16_put(bytes + 10, 0);
	memcpy(bytes + 12, path->sgid + 12, 4);
	memcpy(bytes + 16, path->dgid + 12, 4);
	be16_put(bytes + 10, (uint16_t)~ip_sum(bytes, IPV4_BYTES, 0));
}

static void ipv6_build(const struct packet *packet, enum ip_protocol protocol, size_t payload_bytes,
		       uint8_t *bytes)
{
	const struct path *path = packet->path;
	uint32_t traffic_class = (path->traffic_class & 0xfcu) | packet->ecn;

	be32_put(bytes, UINT32_C(6) << 28 | traffic_class << 20 | (path->flow_label & 0xfffff));
	be16_put(bytes + 4, (uint16_t)payload_bytes);
	bytes[6] = (uint8_t)protocol;
	bytes[7] = packet->hop_limit;
	memcpy(bytes + 8, path->sgid, 16);
	memcpy(bytes + 24, path->dgid, 16);
}

size_t ip_build(const struct packet *packet, enum ip_protocol protocol, size_t payload_bytes,
		uint8_t *bytes)
{
	assert(IPV4_BYTES + payload_bytes <= UINT16_MAX);
	if (packet->path->roce_version == ROCE_V2_IPV4) {
		ipv4_build(packet, protocol, IPV4_BYTES + payload_bytes, bytes);
		return IPV4_BYTES;
	}
	ipv6_build(packet, protocol, payload_bytes, bytes);
	return IPV6_BYTES;
}

/* *rest is the length after the header, by the IP header. */
static enum parse_status ipv4_parse(const uint8_t *bytes, size_t length, struct packet *packet,
				    struct path *path, uint8_t *protocol, size_t *rest)
{
	size_t total_bytes;

	if (length < IPV4_BYTES)
		return PARSE_TRUNCATED;
	if (bytes[0] != IPV4_VERSION_IHL)
		return PARSE_IP_HEADER;
	if (bytes[9] != IP_UDP && bytes[9] != IP_TCP)
		return PARSE_NOT_RDMA;
	*protocol = bytes[9];
	path->traffic_class = bytes[1] & 0xfc;
	packet->ecn = bytes[1] & 3;
	packet->ip_identification = be16_get(bytes + 4);
	path->hop_limit = packet->hop_limit = bytes[8];
	memcpy(path->sgid, ipv4_prefix, 12);
	memcpy(path->sgid + 12, bytes + 12, 4);
	memcpy(path->dgid, ipv4_prefix, 12);
	memcpy(path->dgid + 12, bytes + 16, 4);
	if (be16_get(bytes + 6) & IPV4_FRAGMENT_MASK)
		return PARSE_IP_FRAGMENT;
	if (ip_sum(bytes, IPV4_BYTES, 0) != 0xffff)
		return PARSE_IP_CHECKSUM;
	total_bytes = be16_get(bytes + 2);
	if (total_bytes < IPV4_BYTES || total_bytes > length)
		return PARSE_TRUNCATED;
	*rest = total_bytes - IPV4_BYTES;
	return PARSE_OK;
}

static enum parse_status ipv6_parse(const uint8_t *bytes, size_t length, struct packet *packet,
				    struct path *path, uint8_t *protocol, size_t *rest)
{
	uint32_t first;

	if (length < IPV6_BYTES)
		return PARSE_TRUNCATED;
	first = be32_get(bytes);
	if (first >> 28 != 6)
		return PARSE_IP_HEADER;
	if (bytes[6] != IP_UDP && bytes[6] != IP_TCP)
		return PARSE_NOT_RDMA;
	*protocol = bytes[6];
	path->traffic_class = first >> 20 & 0xfc;
	packet->ecn = first >> 20 & 3;
	path->flow_label = first & 0xfffff;
	path->hop_limit = packet->hop_limit = bytes[7];
	memcpy(path->sgid, bytes + 8, 16);
	memcpy(path->dgid, bytes + 24, 16);
	*rest = be16_get(bytes + 4);
	return *rest > length - IPV6_BYTES ? PARSE_TRUNCATED : PARSE_OK;
}

/* Checks the UDP checksum of RFC 768: over addresses, protocol, length, header and data. 0 on the
 * wire means that there is no checksum. */
static bool udp_checksum_right(const uint8_t *addresses, size_t address_bytes, const uint8_t *udp,
			       size_t length)
{
	uint32_t sum = IP_UDP + (uint32_t)length;

	if (be16_get(udp + 6) == 0)
		return true;
	sum = ip_sum(addresses, address_bytes, sum);
	return ip_sum(udp, length, sum) == 0xffff;
}

enum parse_status ip_parse(const uint8_t *bytes, size_t length, struct packet *packet,
			   struct path *path, uint8_t *protocol, size_t *header_bytes,
			   size_t *payload_bytes)
{
	if (path->roce_version == ROCE_V2_IPV4) {
		*header_bytes = IPV4_BYTES;
		return ipv4_parse(bytes, length, packet, path, protocol, payload_bytes);
	}
	*header_bytes = IPV6_BYTES;
	return ipv6_parse(bytes, length, packet, path, protocol, payload_bytes);
}

const uint8_t *ip_addresses(const struct path *path, const uint8_t *bytes, size_t *address_bytes)
{
	bool four = path->roce_version == ROCE_V2_IPV4;

	*address_bytes = four ? 4 : 16;
	return bytes + (four ? 12 : 8);
}

enum parse_status ip_parse_udp(const uint8_t *ip, const uint8_t *udp, size_t length,
			       struct path *path, size_t *payload_bytes)
{
	size_t address_bytes;
	const uint8_t *addresses = ip_addresses(path, ip, &address_bytes);

	if (length < UDP_BYTES)
		return PARSE_TRUNCATED;
	path->udp_source_port = be16_get(udp);
	if (be16_get(udp + 2) != ROCE_V2_UDP_PORT)
		return PARSE_NOT_RDMA;
	if (be16_get(udp + 4) != length)
		return PARSE_UDP_LENGTH;
	if (!udp_checksum_right(addresses, 2 * address_bytes, udp, length))
		return PARSE_UDP_CHECKSUM;
	*payload_bytes = length - UDP_BYTES;
	return PARSE_OK;
}
