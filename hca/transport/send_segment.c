/* SPDX-License-Identifier: Apache-2.0 */
/* send_segment: see send_segment.h. */
#include "hca/transport/send_segment.h"

#include <assert.h>
#include <string.h>

#include "hca/transport/psn.h"
#include "hca/transport/requester.h"
#include "hca/transport/responder.h"
#include "hca/transport/transport.h"

struct send_segment *send_segment_new(struct sched_entity *entity, struct send_slot *slot)
{
	struct send_segment *segment = pool_take_zeroed(&entity->qp->transport->send_segments);

	segment->entity = entity;
	segment->slot = slot;
	segment->epoch = slot ? entity->qp->requester.epoch : entity->qp->responder.generation;
	qp_hold(entity->qp);
	if (slot)
		slot->transfers++;
	if (entity->last)
		entity->last->next = segment;
	else
		entity->first = segment;
	entity->last = segment;
	return segment;
}

struct packet *send_segment_packet(struct send_segment *segment, uint8_t opcode,
				   const struct path *path, uint32_t payload_bytes)
{
	struct qp *qp = segment->entity->qp;
	struct packet *packet = packet_new(qp->transport->blocks.packets);

	packet->since = sim_now(qp->transport->block.sim);
	packet->path = path;
	packet->kind = PACKET_DATA;
	packet->opcode = opcode;
	packet->payload_bytes = payload_bytes;
	packet->dest_qp = qp->state.dest_qp;
	packet->pkey = qp->state.pkey;
	packet->hop_limit = path->hop_limit;
	packet->vl = (uint8_t)transport_vl(qp->transport, path);
	packet->migration = true;
	packet->tag = segment->slot ? segment->slot->tag : 0;
	packet->wire_bytes = packet_wire_bytes(packet);
	segment->length += payload_bytes;
	segment->wire_bytes += packet->wire_bytes;
	if (segment->last)
		segment->last->next = packet;
	else
		segment->first = packet;
	segment->last = packet;
	return packet;
}

/* Gives each packet its part of the payload. A single packet takes the whole buffer. */
static void attach(struct send_segment *segment)
{
	struct packet_pool *pool = segment->entity->qp->transport->blocks.packets;
	uint32_t offset = 0;

	if (!segment->payload)
		return;
	if (segment->first == segment->last) {
		segment->first->payload = segment->payload;
		segment->payload = NULL;
		return;
	}
	for (struct packet *packet = segment->first; packet; packet = packet->next) {
		packet->payload = packet_payload_new(pool);
		memcpy(packet->payload->bytes, segment->payload->bytes + offset,
		       packet->payload_bytes);
		offset += packet->payload_bytes;
	}
	packet_payload_drop(pool, segment->payload);
	segment->payload = NULL;
}

static bool is_stale(const struct send_segment *segment)
{
	const struct qp *qp = segment->entity->qp;

	return qp->destroyed ||
	       segment->epoch != (segment->slot ? qp->requester.epoch : qp->responder.generation);
}

static void discard(struct send_segment *segment)
{
	struct transport_block *transport = segment->entity->qp->transport;
	sim_time granted_at = segment->first->since;

	while (segment->first) {
		struct packet *packet = segment->first;

		segment->first = packet->next;
		packet_free(transport->blocks.packets, packet);
	}
	if (segment->payload)
		packet_payload_drop(transport->blocks.packets, segment->payload);
	scheduler_release(transport->blocks.scheduler, granted_at, segment->wire_bytes);
}

/* Returns true if the packet is the last one of the slot. A READ or atomic request is a single
 * packet, for any number of PSNs. */
static bool ends_slot(const struct send_slot *slot, const struct packet *packet)
{
	return requester_is_read_or_atomic(slot) ||
	       psn_add(packet->psn, 1) == psn_add(slot->first_psn, slot->psn_count);
}

static void send_packets(struct send_segment *segment)
{
	struct transport_block *transport = segment->entity->qp->transport;

	if (segment->slot && !segment->slot->done) {
		segment->slot->stages.at[STAGE_TRANSLATION] = segment->dma.translated_at;
		segment->slot->stages.at[STAGE_DMA] = sim_now(transport->block.sim);
	}
	attach(segment);
	while (segment->first) {
		struct packet *packet = segment->first;

		segment->first = packet->next;
		packet->next = NULL;
		if (segment->slot)
			requester_packet_left(segment->entity->qp, segment->slot, packet);
		transport_push(transport, packet);
		if (segment->slot && ends_slot(segment->slot, packet))
			transport_watch(transport, segment->entity->qp, segment->slot, packet);
	}
}

void send_segment_drain(struct sched_entity *entity)
{
	struct qp *qp = entity->qp;
	struct transport_block *transport = qp->transport;

	qp_hold(qp);
	while (entity->first && entity->first->ready &&
	       !(entity->reads_wait && entity->first == entity->last)) {
		struct send_segment *segment = entity->first;
		struct send_slot *slot = segment->slot;
		enum dma_status status = segment->status;
		bool stale = is_stale(segment);
		uint32_t psn = segment->first->psn;

		entity->first = segment->next;
		if (!entity->first)
			entity->last = NULL;
		if (stale || status != DMA_OK)
			discard(segment);
		else
			send_packets(segment);
		pool_give(&transport->send_segments, segment);
		if (slot)
			requester_segment_gone(qp, slot, stale ? DMA_OK : status);
		else if (!stale && status != DMA_OK)
			responder_gather_failed(qp, psn);
		qp_drop(qp);
	}
	qp_drop(qp);
}

static void gathered(struct dma *dma)
{
	struct send_segment *segment = container_of(dma, struct send_segment, dma);

	segment->ready = true;
	segment->status = dma->status;
	send_segment_drain(segment->entity);
}

/* Gathers the bytes of the segment. The first `ahead` bytes are available in `bytes`. */
static uint32_t gather(struct send_segment *segment, const uint8_t *bytes, uint32_t ahead,
		       const struct data_segment *segments, uint32_t count, uint32_t offset,
		       uint32_t access)
{
	struct qp *qp = segment->entity->qp;
	uint32_t wire_bytes = segment->wire_bytes;
	struct dma *dma = &segment->dma;

	assert(segment->length > ahead && count);
	if (qp_key_has_bytes(qp, segments[0].key)) {
		segment->payload = packet_payload_new(qp->transport->blocks.packets);
		if (ahead)
			memcpy(segment->payload->bytes, bytes, ahead);
	}
	dma->segments = segments;
	dma->segment_count = count;
	dma->offset = offset;
	dma->length = segment->length - ahead;
	dma->direction = DMA_GATHER;
	dma->access = access;
	dma->pd = qp_remote_pd(qp, segments[0].key);
	dma->qpn = qp->number;
	dma->tag = segment->first->tag;
	dma->passes = segment->slot && !segment->slot->wqe.fence;
	dma->bytes = segment->payload ? segment->payload->bytes + ahead : NULL;
	dma->done = gathered;
	dma_start(qp->transport->blocks.dma, dma);
	return wire_bytes;
}

uint32_t send_segment_gather(struct send_segment *segment, const struct data_segment *segments,
			     uint32_t count, uint32_t offset, uint32_t access)
{
	return gather(segment, NULL, 0, segments, count, offset, access);
}

uint32_t send_segment_of_wqe(struct send_segment *segment, const struct send_wqe *wqe,
			     uint32_t offset)
{
	uint32_t ahead = offset < wqe->inline_bytes ? wqe->inline_bytes - offset : 0;
	uint32_t skip = offset > wqe->inline_bytes ? offset - wqe->inline_bytes : 0;

	if (ahead >= segment->length)
		return send_segment_copy(segment, wqe->inline_data + offset);
	return gather(segment, ahead ? wqe->inline_data + offset : NULL, ahead, wqe_segments(wqe),
		      wqe->segment_count, skip, 0);
}

uint32_t send_segment_copy(struct send_segment *segment, const uint8_t *bytes)
{
	struct qp *qp = segment->entity->qp;
	uint32_t wire_bytes = segment->wire_bytes;

	if (segment->length) {
		segment->payload = packet_payload_new(qp->transport->blocks.packets);
		memcpy(segment->payload->bytes, bytes, segment->length);
	}
	segment->ready = true;
	return wire_bytes;
}
