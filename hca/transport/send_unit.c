/* SPDX-License-Identifier: Apache-2.0 */
/* send_unit: see send_unit.h. */
#include "hca/transport/send_unit.h"

#include <assert.h>
#include <string.h>

#include "hca/transport/psn.h"
#include "hca/transport/requester.h"
#include "hca/transport/responder.h"
#include "hca/transport/transport.h"

struct send_unit *send_unit_new(struct flow *flow, struct send_slot *slot)
{
	struct send_unit *unit = pool_take_zeroed(&flow->qp->transport->send_units);

	unit->flow = flow;
	unit->slot = slot;
	unit->epoch = slot ? flow->qp->requester.epoch : flow->qp->responder.generation;
	qp_hold(flow->qp);
	if (slot)
		slot->transfers++;
	if (flow->last)
		flow->last->next = unit;
	else
		flow->first = unit;
	flow->last = unit;
	return unit;
}

struct packet *send_unit_packet(struct send_unit *unit, uint8_t opcode, const struct path *path,
				uint32_t payload_bytes)
{
	struct qp *qp = unit->flow->qp;
	struct packet *packet = packet_new(qp->transport->blocks.packets);

	packet->path = path;
	packet->kind = PACKET_DATA;
	packet->opcode = opcode;
	packet->payload_bytes = payload_bytes;
	packet->dest_qp = qp->state.dest_qp;
	packet->pkey = qp->state.pkey;
	packet->hop_limit = path->hop_limit;
	packet->vl = (uint8_t)transport_vl(qp->transport, path);
	packet->migration = true;
	packet->tag = unit->slot ? unit->slot->tag : 0;
	packet->wire_bytes = packet_wire_bytes(packet);
	unit->length += payload_bytes;
	unit->wire_bytes += packet->wire_bytes;
	if (unit->last)
		unit->last->next = packet;
	else
		unit->first = packet;
	unit->last = packet;
	return packet;
}

/* Hands each packet its part; a lone packet takes the buffer itself. */
static void attach(struct send_unit *unit)
{
	struct packet_pool *pool = unit->flow->qp->transport->blocks.packets;
	uint32_t offset = 0;

	if (!unit->payload)
		return;
	if (unit->first == unit->last) {
		unit->first->payload = unit->payload;
		unit->payload = NULL;
		return;
	}
	for (struct packet *packet = unit->first; packet; packet = packet->next) {
		packet->payload = payload_new(pool);
		memcpy(packet->payload->bytes, unit->payload->bytes + offset,
		       packet->payload_bytes);
		offset += packet->payload_bytes;
	}
	payload_drop(pool, unit->payload);
	unit->payload = NULL;
}

static bool is_stale(const struct send_unit *unit)
{
	const struct qp *qp = unit->flow->qp;

	return qp->destroyed ||
	       unit->epoch != (unit->slot ? qp->requester.epoch : qp->responder.generation);
}

static void discard(struct send_unit *unit)
{
	struct transport_block *transport = unit->flow->qp->transport;

	while (unit->first) {
		struct packet *packet = unit->first;

		unit->first = packet->next;
		packet_free(transport->blocks.packets, packet);
	}
	if (unit->payload)
		payload_drop(transport->blocks.packets, unit->payload);
	scheduler_release(transport->blocks.scheduler, unit->wire_bytes);
}

/* A read's or an atomic's request is alone whatever PSNs it takes. */
static bool ends_slot(const struct send_slot *slot, const struct packet *packet)
{
	return requester_is_read_or_atomic(slot) ||
	       psn_add(packet->psn, 1) == psn_add(slot->first_psn, slot->psn_count);
}

static void send(struct send_unit *unit)
{
	struct transport_block *transport = unit->flow->qp->transport;

	if (unit->slot && !unit->slot->done) {
		unit->slot->why.at[WHY_TRANSLATION] = unit->dma.translated_at;
		unit->slot->why.at[WHY_DMA] = sim_now(transport->block.sim);
	}
	attach(unit);
	while (unit->first) {
		struct packet *packet = unit->first;

		unit->first = packet->next;
		packet->next = NULL;
		if (unit->slot)
			requester_packet_left(unit->flow->qp, unit->slot, packet);
		transport_push(transport, packet);
		if (unit->slot && ends_slot(unit->slot, packet))
			transport_watch(transport, unit->flow->qp, unit->slot, packet);
	}
}

void send_unit_drain(struct flow *flow)
{
	struct qp *qp = flow->qp;
	struct transport_block *transport = qp->transport;

	qp_hold(qp);
	while (flow->first && flow->first->ready &&
	       !(flow->reads_wait && flow->first == flow->last)) {
		struct send_unit *unit = flow->first;
		struct send_slot *slot = unit->slot;
		enum dma_status status = unit->status;
		bool stale = is_stale(unit);
		uint32_t psn = unit->first->psn;

		flow->first = unit->next;
		if (!flow->first)
			flow->last = NULL;
		if (stale || status != DMA_OK)
			discard(unit);
		else
			send(unit);
		pool_give(&transport->send_units, unit);
		if (slot)
			requester_unit_gone(qp, slot, stale ? DMA_OK : status);
		else if (!stale && status != DMA_OK)
			responder_gather_failed(qp, psn);
		qp_drop(qp);
	}
	qp_drop(qp);
}

static void gathered(struct dma *dma)
{
	struct send_unit *unit = container_of(dma, struct send_unit, dma);

	unit->ready = true;
	unit->status = dma->status;
	send_unit_drain(unit->flow);
}

/* The first `ahead` bytes are at hand. */
static uint32_t gather(struct send_unit *unit, const uint8_t *bytes, uint32_t ahead,
		       const struct data_segment *segments, uint32_t count, uint32_t offset,
		       uint32_t access)
{
	struct qp *qp = unit->flow->qp;
	uint32_t wire_bytes = unit->wire_bytes;

	assert(unit->length > ahead && count);
	if (qp_key_has_bytes(qp, segments[0].key)) {
		unit->payload = payload_new(qp->transport->blocks.packets);
		if (ahead)
			memcpy(unit->payload->bytes, bytes, ahead);
	}
	unit->dma = (struct dma){
		.segments = segments,
		.segment_count = count,
		.offset = offset,
		.length = unit->length - ahead,
		.direction = DMA_GATHER,
		.access = access,
		.pd = qp_remote_pd(qp, segments[0].key),
		.qpn = qp->number,
		.tag = unit->first->tag,
		.passes = unit->slot && !unit->slot->wqe.fence,
		.bytes = unit->payload ? unit->payload->bytes + ahead : NULL,
		.done = gathered,
	};
	dma_start(qp->transport->blocks.dma, &unit->dma);
	return wire_bytes;
}

uint32_t send_unit_gather(struct send_unit *unit, const struct data_segment *segments,
			  uint32_t count, uint32_t offset, uint32_t access)
{
	return gather(unit, NULL, 0, segments, count, offset, access);
}

uint32_t send_unit_of_wqe(struct send_unit *unit, const struct send_wqe *wqe, uint32_t offset)
{
	uint32_t ahead = offset < wqe->inline_bytes ? wqe->inline_bytes - offset : 0;
	uint32_t skip = offset > wqe->inline_bytes ? offset - wqe->inline_bytes : 0;

	if (ahead >= unit->length)
		return send_unit_copy(unit, wqe->inline_data + offset);
	return gather(unit, ahead ? wqe->inline_data + offset : NULL, ahead, wqe_segments(wqe),
		      wqe->segment_count, skip, 0);
}

uint32_t send_unit_copy(struct send_unit *unit, const uint8_t *bytes)
{
	struct qp *qp = unit->flow->qp;
	uint32_t wire_bytes = unit->wire_bytes;

	if (unit->length) {
		unit->payload = payload_new(qp->transport->blocks.packets);
		memcpy(unit->payload->bytes, bytes, unit->length);
	}
	unit->ready = true;
	return wire_bytes;
}
