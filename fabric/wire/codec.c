/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec: combines the layers. Each layer is a file: lrh, grh, ethernet, ip, headers, icrc, vcrc,
 * pfc, credit, tcp_packet.
 */
#include "fabric/wire/codec.h"

#include <string.h>

#include "fabric/wire/bytes.h"
#include "fabric/wire/credit.h"
#include "fabric/wire/ethernet.h"
#include "fabric/wire/grh.h"
#include "fabric/wire/headers.h"
#include "fabric/wire/icrc.h"
#include "fabric/wire/ip.h"
#include "fabric/wire/lrh.h"
#include "fabric/wire/pfc.h"
#include "fabric/wire/vcrc.h"

/* Offsets of the parts of a packet with a BTH, from its first byte. */
struct extent {
	size_t network; /* start of the ICRC: LRH, GRH or IP */
	size_t bth;
	size_t icrc;
};

static size_t payload_build(const struct packet *packet, uint8_t *bytes)
{
	if (packet->payload)
		memcpy(bytes, packet->payload->bytes, packet->payload_bytes);
	else
		memset(bytes, 0, packet->payload_bytes);
	memset(bytes + packet->payload_bytes, 0, packet_pad_bytes(packet));
	return packet->payload_bytes + packet_pad_bytes(packet);
}

static uint16_t ip_ethertype(const struct path *path)
{
	return path->roce_version == ROCE_V2_IPV4 ? ETHERTYPE_IPV4 : ETHERTYPE_IPV6;
}

/* Writes the headers before the BTH. transport_bytes is the length from BTH to ICRC. */
static struct extent network_build(const struct packet *packet, size_t transport_bytes,
				   uint8_t *bytes)
{
	const struct path *path = packet->path;
	struct extent extent = {0};

	if (path->link_layer == LINK_INFINIBAND) {
		extent.bth = path_header_bytes(path);
		lrh_build(packet, extent.bth + transport_bytes, bytes);
		if (path->has_grh)
			grh_build(packet, transport_bytes, bytes + LRH_BYTES);
	} else if (path->roce_version == ROCE_V1) {
		extent.network = ethernet_build(path, ETHERTYPE_ROCE_V1, bytes);
		grh_build(packet, transport_bytes, bytes + extent.network);
		extent.bth = extent.network + GRH_BYTES;
	} else {
		extent.network = ethernet_build(path, ip_ethertype(path), bytes);
		extent.bth = extent.network + ip_build(packet, IP_UDP, UDP_BYTES + transport_bytes,
						       bytes + extent.network);
		extent.bth += ip_build_udp(path, transport_bytes, bytes + extent.bth);
	}
	assert(extent.bth == path_header_bytes(path));
	return extent;
}

static size_t data_build(const struct packet *packet, uint8_t *bytes, size_t size)
{
	size_t transport_bytes = opcode_info[packet->opcode].bytes + packet->payload_bytes +
				 packet_pad_bytes(packet) + ICRC_BYTES;
	struct extent extent;
	uint32_t icrc;
	uint16_t vcrc;
	size_t end;

	assert(opcode_known(packet->opcode) && packet->payload_bytes <= PAYLOAD_MAX);
	assert(packet->payload_bytes == 0 || opcode_has_payload(packet->opcode));
	assert(path_header_bytes(packet->path) + transport_bytes + VCRC_BYTES <= size);
	extent = network_build(packet, transport_bytes, bytes);
	end = extent.bth + headers_build(packet, bytes + extent.bth);
	end += payload_build(packet, bytes + end);
	icrc = icrc_compute(packet->path, bytes + extent.network, end - extent.network);
	le32_put(bytes + end, packet->damage & DAMAGE_ICRC ? ~icrc : icrc);
	end += ICRC_BYTES;
	if (packet->path->link_layer == LINK_INFINIBAND) {
		vcrc = vcrc_compute(bytes, end);
		le16_put(bytes + end, (uint16_t)(packet->damage & DAMAGE_VCRC ? ~vcrc : vcrc));
		end += VCRC_BYTES;
	}
	return end;
}

static size_t tcp_frame_build(const struct packet *packet, uint8_t *bytes, size_t size)
{
	const struct path *path = packet->path;
	uint32_t segment_bytes = tcp_packet_bytes(packet);
	size_t network, end;

	assert(path_header_bytes(path) + segment_bytes <= size);
	assert(packet->payload_bytes <= TCP_PAYLOAD_MAX);
	network = ethernet_build(path, ip_ethertype(path), bytes);
	end = network + ip_build(packet, IP_TCP, segment_bytes, bytes + network);
	return end + tcp_packet_build(packet, bytes + network, bytes + end);
}

size_t codec_build(const struct packet *packet, uint8_t *bytes, size_t size)
{
	switch ((enum packet_kind)packet->kind) {
	case PACKET_FLOW_CONTROL:
		assert(size >= CREDIT_BYTES);
		credit_build(packet, bytes);
		return CREDIT_BYTES;
	case PACKET_PFC:
		assert(size >= PFC_BYTES);
		pfc_build(packet, bytes);
		return PFC_BYTES;
	case PACKET_RAW:
		assert(size >= packet->payload_bytes);
		if (packet->payload)
			packet_payload_copy(packet->payload, bytes, packet->payload_bytes);
		else
			memset(bytes, 0, packet->payload_bytes);
		return packet->payload_bytes;
	case PACKET_TCP:
		return tcp_frame_build(packet, bytes, size);
	case PACKET_DATA:
		break;
	}
	return data_build(packet, bytes, size);
}

static enum parse_status infiniband_parse(const uint8_t *bytes, size_t length,
					  struct packet *packet, struct path *path,
					  struct extent *extent)
{
	size_t packet_bytes, payload_bytes;
	enum parse_status status = lrh_parse(bytes, length, packet, path, &packet_bytes);

	if (status != PARSE_OK)
		return status;
	extent->bth = path_header_bytes(path);
	if (packet_bytes < extent->bth + ICRC_BYTES)
		return PARSE_TRUNCATED;
	extent->icrc = packet_bytes - ICRC_BYTES;
	if (length > packet_bytes && length < packet_bytes + VCRC_BYTES)
		return PARSE_TRUNCATED;
	if (length >= packet_bytes + VCRC_BYTES &&
	    le16_get(bytes + packet_bytes) != vcrc_compute(bytes, packet_bytes))
		packet->damage |= DAMAGE_VCRC;
	if (!path->has_grh)
		return PARSE_OK;
	status = grh_parse(bytes + LRH_BYTES, packet_bytes - LRH_BYTES, packet, path,
			   &payload_bytes);
	if (status == PARSE_OK && payload_bytes != packet_bytes - extent->bth)
		status = PARSE_GRH_LENGTH;
	return status;
}

/* Parses a TCP segment completely, or a RoCEv2 packet up to the BTH. */
static enum parse_status ip_packet_parse(const uint8_t *bytes, size_t length, struct packet *packet,
					 struct path *path, size_t *network_bytes,
					 size_t *payload_bytes)
{
	uint8_t protocol = 0;
	size_t ip_bytes = 0, rest = 0;
	enum parse_status status =
		ip_parse(bytes, length, packet, path, &protocol, &ip_bytes, &rest);

	if (status != PARSE_OK)
		return status;
	if (protocol == IP_TCP)
		return tcp_packet_parse(bytes, bytes + ip_bytes, rest, packet, path);
	*network_bytes = ip_bytes + UDP_BYTES;
	return ip_parse_udp(bytes, bytes + ip_bytes, rest, path, payload_bytes);
}

static enum parse_status ethernet_frame_parse(const uint8_t *bytes, size_t length,
					      struct packet *packet, struct path *path,
					      struct extent *extent)
{
	enum parse_status status;
	size_t network_bytes = 0, payload_bytes = 0;
	uint16_t ethertype;

	status = ethernet_parse(bytes, length, packet, path, &extent->network, &ethertype);
	if (status != PARSE_OK)
		return status;
	bytes += extent->network;
	length -= extent->network;
	path->has_grh = true;
	switch (ethertype) {
	case ETHERTYPE_ROCE_V1:
		path->roce_version = ROCE_V1;
		network_bytes = GRH_BYTES;
		status = grh_parse(bytes, length, packet, path, &payload_bytes);
		break;
	case ETHERTYPE_IPV4:
	case ETHERTYPE_IPV6:
		path->roce_version = ethertype == ETHERTYPE_IPV4 ? ROCE_V2_IPV4 : ROCE_V2_IPV6;
		status = ip_packet_parse(bytes, length, packet, path, &network_bytes,
					 &payload_bytes);
		break;
	case ETHERTYPE_MAC_CONTROL:
		path->has_grh = false;
		if (path->vlan)
			return PARSE_NOT_RDMA; /* MAC control frames carry no tag */
		return pfc_parse(bytes - extent->network, length + extent->network, packet);
	default:
		path->has_grh = false;
		return PARSE_NOT_RDMA;
	}
	if (status != PARSE_OK || packet->kind == PACKET_TCP)
		return status;
	if (payload_bytes < ICRC_BYTES)
		return PARSE_TRUNCATED;
	extent->bth = extent->network + network_bytes;
	extent->icrc = extent->bth + payload_bytes - ICRC_BYTES;
	return PARSE_OK;
}

static enum parse_status transport_parse(const uint8_t *bytes, const struct extent *extent,
					 struct packet *packet)
{
	size_t transport_bytes = extent->icrc - extent->bth;
	enum parse_status status;
	size_t total = 0;

	if (transport_bytes < header_bytes[HDR_BTH])
		return PARSE_TRUNCATED;
	if (le32_get(bytes + extent->icrc) !=
	    icrc_compute(packet->path, bytes + extent->network, extent->icrc - extent->network))
		packet->damage |= DAMAGE_ICRC;
	status = headers_parse(bytes + extent->bth, transport_bytes, packet, &total);
	if (status != PARSE_OK)
		return status;
	if (packet->payload)
		memcpy(packet->payload->bytes, bytes + extent->bth + total, packet->payload_bytes);
	return PARSE_OK;
}

enum parse_status codec_parse(const uint8_t *bytes, size_t length, enum link_layer link_layer,
			      struct packet *packet, struct path *path)
{
	struct payload *payload = packet->payload;
	struct extent extent = {0};
	enum parse_status status;

	memset(packet, 0, sizeof(*packet));
	memset(path, 0, sizeof(*path));
	packet->payload = payload;
	packet->path = path;
	path->source = path->destination = NO_ENDPOINT;
	path->link_layer = (uint8_t)link_layer;
	if (link_layer == LINK_INFINIBAND && length == CREDIT_BYTES)
		status = credit_parse(bytes, length, packet);
	else if (link_layer == LINK_INFINIBAND)
		status = infiniband_parse(bytes, length, packet, path, &extent);
	else
		status = ethernet_frame_parse(bytes, length, packet, path, &extent);
	if (status == PARSE_OK && packet->kind == PACKET_DATA)
		status = transport_parse(bytes, &extent, packet);
	if (status == PARSE_OK)
		packet->wire_bytes = packet_wire_bytes(packet);
	return status;
}

/* Returns the bytes before the payload. */
static size_t headers_end(const struct packet *packet, size_t whole)
{
	if (packet->kind == PACKET_DATA)
		return path_header_bytes(packet->path) +
		       (opcode_known(packet->opcode) ? opcode_info[packet->opcode].bytes
						     : header_bytes[HDR_BTH]);
	return whole - packet->payload_bytes;
}

/* Missing fields are zeros. Fields come from bytes that are there. */
enum parse_status codec_parse_cut(const uint8_t *bytes, size_t length, size_t whole,
				  enum link_layer link_layer, struct packet *packet,
				  struct path *path)
{
	uint8_t padded[PACKET_BYTES_MAX];
	enum parse_status status = PARSE_TRUNCATED;

	assert(!packet->payload);
	packet->path = path; /* also of a packet that nothing parses */
	path->link_layer = (uint8_t)link_layer;
	if (length != CREDIT_BYTES || length >= whole) /* a cut packet may have 6 bytes */
		status = codec_parse(bytes, length, link_layer, packet, path);
	if (status != PARSE_TRUNCATED || length >= whole || whole > sizeof(padded))
		return status;
	memcpy(padded, bytes, length);
	memset(padded + length, 0, whole - length);
	status = codec_parse(padded, whole, link_layer, packet, path);
	if (status == PARSE_TCP_CHECKSUM) {
		packet->wire_bytes = packet_wire_bytes(packet);
		status = PARSE_OK;
	}
	packet->damage = 0;
	if (status != PARSE_OK && status != PARSE_BTH_OPCODE)
		return PARSE_TRUNCATED;
	return headers_end(packet, whole) <= length ? status : PARSE_TRUNCATED;
}
