/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample: see sample.h.
 */
#include "tests/wire/support/sample.h"

#include <string.h>

#include "fabric/wire/opcode.h"

/* clang-format off */
#define ENCAPSULATION_ROW(name, link_layer, roce_version, grh, tagged) \
	{link_layer, roce_version, grh, tagged},
static const struct {
	uint8_t link_layer, roce_version;
	bool has_grh, tagged;
} encapsulations[] = { ENCAPSULATIONS(ENCAPSULATION_ROW) };
/* clang-format on */

/* splitmix64 */
uint64_t sampler_next(struct sampler *sampler)
{
	uint64_t value = sampler->state += UINT64_C(0x9e3779b97f4a7c15);

	value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
	return value ^ value >> 31;
}

static uint32_t next24(struct sampler *sampler)
{
	return (uint32_t)sampler_next(sampler) & 0xffffff;
}

static bool next_flag(struct sampler *sampler)
{
	return sampler_next(sampler) & 1;
}

static void next_bytes(struct sampler *sampler, uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		bytes[i] = (uint8_t)sampler_next(sampler);
}

static void path_fill(struct path *path, struct sampler *sampler,
		      enum sample_encapsulation encapsulation)
{
	memset(path, 0, sizeof(*path));
	path->source = path->destination = NO_ENDPOINT;
	path->link_layer = encapsulations[encapsulation].link_layer;
	path->roce_version = encapsulations[encapsulation].roce_version;
	path->has_grh = encapsulations[encapsulation].has_grh;
	if (path->link_layer == LINK_INFINIBAND) {
		path->service_level = sampler_next(sampler) & 15;
		path->slid = (uint16_t)sampler_next(sampler);
		path->dlid = (uint16_t)sampler_next(sampler);
	} else {
		next_bytes(sampler, path->smac, 6);
		next_bytes(sampler, path->dmac, 6);
		path->smac[0] &= 0xfe; /* no group address */
	}
	if (encapsulations[encapsulation].tagged) {
		path->vlan = (uint16_t)(sampler_next(sampler) | 1);
		path->service_level = (uint8_t)(path->vlan >> 13);
	}
	if (!path->has_grh)
		return;
	next_bytes(sampler, path->sgid, 16);
	next_bytes(sampler, path->dgid, 16);
	path->sgid[0] = path->dgid[0] = 0xfd; /* unicast */
	path->hop_limit = (uint8_t)sampler_next(sampler);
	path->traffic_class = (uint8_t)sampler_next(sampler);
	if (path->roce_version >= ROCE_V2_IPV4) {
		path->traffic_class &= 0xfc;
		path->udp_source_port = (uint16_t)(0xc000 | sampler_next(sampler));
	}
	if (path->roce_version == ROCE_V2_IPV4) {
		static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

		memcpy(path->sgid, prefix, 12);
		memcpy(path->dgid, prefix, 12);
	} else {
		path->flow_label = (uint32_t)sampler_next(sampler) & 0xfffff;
	}
}

static void extended_headers_fill(struct packet *packet, struct sampler *sampler)
{
	uint8_t opcode = packet->opcode;

	if (opcode_has(opcode, HDR_XRCETH))
		packet->xrc_srqn = next24(sampler);
	if (opcode_has(opcode, HDR_DETH)) {
		packet->qkey = (uint32_t)sampler_next(sampler);
		packet->source_qp = next24(sampler);
	}
	if (opcode_has(opcode, HDR_DCETH))
		packet->source_qp = next24(sampler);
	if (opcode_has(opcode, HDR_DC_CONNECT_ETH)) {
		packet->dc_key = sampler_next(sampler);
		packet->dc_session = (uint32_t)sampler_next(sampler);
	}
	if (opcode_has(opcode, HDR_RETH) || opcode_has(opcode, HDR_ATOMIC_ETH)) {
		packet->remote_address = sampler_next(sampler);
		packet->rkey = (uint32_t)sampler_next(sampler);
	}
	if (opcode_has(opcode, HDR_RETH))
		packet->dma_length = (uint32_t)sampler_next(sampler);
	if (opcode_has(opcode, HDR_ATOMIC_ETH))
		packet->swap_or_add = sampler_next(sampler);
	if (opcode_has(opcode, HDR_ATOMIC_ETH) || opcode_has(opcode, HDR_ATOMIC_ACK_ETH))
		packet->compare = sampler_next(sampler);
	if (opcode_has(opcode, HDR_AETH)) {
		packet->syndrome = (uint8_t)sampler_next(sampler);
		packet->msn = next24(sampler);
	}
	if (opcode_has(opcode, HDR_IMM) || opcode_has(opcode, HDR_IETH))
		packet->immediate = (uint32_t)sampler_next(sampler);
}

void sample_fill(struct sample *sample, struct sampler *sampler,
		 enum sample_encapsulation encapsulation, uint8_t opcode, uint32_t payload_bytes)
{
	struct packet *packet = &sample->packet;
	struct path *path = &sample->path;

	memset(sample, 0, offsetof(struct sample, payload));
	path_fill(path, sampler, encapsulation);
	packet->path = path;
	packet->payload = &sample->payload;
	packet->hop_limit = path->hop_limit;
	packet->vl = path->link_layer == LINK_INFINIBAND ? sampler_next(sampler) & 15
							 : path->service_level;
	packet->ecn = path->roce_version >= ROCE_V2_IPV4 ? sampler_next(sampler) & 3
		      : next_flag(sampler)               ? ECN_CE
							 : ECN_NOT_ECT;
	packet->opcode = opcode;
	packet->pkey = (uint16_t)sampler_next(sampler);
	packet->psn = next24(sampler);
	packet->dest_qp = next24(sampler);
	packet->solicited = next_flag(sampler);
	packet->ack_request = next_flag(sampler);
	packet->migration = next_flag(sampler);
	packet->becn = next_flag(sampler);
	if (path->roce_version == ROCE_V2_IPV4)
		packet->ip_identification = (uint16_t)sampler_next(sampler);
	extended_headers_fill(packet, sampler);
	if (opcode_has_payload(opcode)) {
		packet->payload_bytes = payload_bytes;
		next_bytes(sampler, sample->payload.bytes, payload_bytes);
	}
	packet->wire_bytes = packet_wire_bytes(packet);
}
