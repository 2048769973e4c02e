/* SPDX-License-Identifier: Apache-2.0 */
/* scatter_unit: see scatter_unit.h. */
#include "hca/transport/scatter_unit.h"

#include <assert.h>
#include <string.h>

#include "fabric/wire/bytes.h"
#include "hca/transport/notification.h"
#include "hca/transport/psn.h"
#include "hca/transport/responder.h"
#include "hca/transport/transport.h"
#include "hca/work/completion.h"
#include "hca/work/receive_queue.h"

static void commit(struct qp *qp);
static void finish(struct scatter_unit *unit);

bool scatter_unit_available(struct qp *qp)
{
	struct transport_block *transport = qp->transport;
	struct responder *responder = &qp->responder;

	if (transport->scatter_units.in_use < transport->params->scatter_units)
		return true;
	transport->count.scatter_stalls++;
	gauge_wait(&transport->gauge.scatter_units, sim_now(transport->block.sim), true);
	if (responder->waits_for_unit)
		return false;
	responder->waits_for_unit = true;
	responder->next_unit_waiter = NULL;
	qp_hold(qp);
	if (transport->unit_waiters_last)
		transport->unit_waiters_last->responder.next_unit_waiter = qp;
	else
		transport->unit_waiters_first = qp;
	transport->unit_waiters_last = qp;
	return false;
}

static void wake_waiter(struct transport_block *transport)
{
	struct qp *qp = transport->unit_waiters_first;

	if (!qp)
		return;
	transport->unit_waiters_first = qp->responder.next_unit_waiter;
	if (!transport->unit_waiters_first) {
		transport->unit_waiters_last = NULL;
		gauge_wait(&transport->gauge.scatter_units, sim_now(transport->block.sim), false);
	}
	responder_unit_came(qp);
	qp_drop(qp);
}

struct scatter_unit *scatter_unit_new(struct qp *qp, const struct packet *packet)
{
	struct responder *responder = &qp->responder;
	struct scatter_unit *unit = pool_take_zeroed(&qp->transport->scatter_units);

	gauge_enter(&qp->transport->gauge.scatter_units, sim_now(qp->transport->block.sim), 1);
	unit->qp = qp;
	unit->generation = responder->generation;
	unit->tag = packet->tag;
	unit->psn = packet->psn;
	unit->opcode = packet->opcode;
	unit->offset = responder->received;
	unit->over_loopback = packet->path && packet->path->source == packet->path->destination;
	qp_hold(qp);
	if (responder->last)
		responder->last->next = unit;
	else
		responder->first = unit;
	responder->last = unit;
	return unit;
}

void scatter_unit_add(struct scatter_unit *unit, struct packet *packet)
{
	struct packet_pool *pool = unit->qp->transport->blocks.packets;

	assert(!unit->closed && unit->length + packet->payload_bytes <= PAYLOAD_MAX);
	if (!packet->payload) {
		unit->lengths_only |= packet->payload_bytes != 0;
	} else if (!unit->payload && packet->payload->references == 1) {
		unit->payload = packet->payload;
		packet->payload = NULL;
	} else {
		if (!unit->payload)
			unit->payload = payload_new(pool);
		memcpy(unit->payload->bytes + unit->length, packet->payload->bytes,
		       packet->payload_bytes);
	}
	unit->length += packet->payload_bytes;
}

void scatter_unit_note(struct scatter_unit *unit, const struct packet *packet)
{
	const struct responder *responder = &unit->qp->responder;

	unit->why.begun_at = responder->begun_at;
	unit->why.at[RECEIVE_ARRIVAL] = packet->tail_at;
	unit->why.at[RECEIVE_PIPELINE] = packet->head_at;
	unit->why.at[RECEIVE_CONTEXT] = packet->sent_at;
	unit->why.at[RECEIVE_WQE] = responder->wqe_at;
	unit->why.at[RECEIVE_QUEUE] = sim_now(unit->qp->transport->block.sim);
}

/* GRH, or the IPv4 header behind 20 bytes that mean nothing. IBTA vol. 1, 8.3; annex A17.4.5. */
void scatter_unit_grh(struct scatter_unit *unit, const struct packet *packet)
{
	const struct path *path = packet->path;
	uint32_t bytes = packet->wire_bytes - path_header_bytes(path) - path_trailer_bytes(path);
	uint8_t *grh = unit->grh;
	enum { IPV4_AT = 20, IPV4_VERSION = 0x45, IPV6_VERSION = 6, UDP = 17, IBA = 0x1b };

	memset(unit->grh, 0, sizeof(unit->grh));
	if (path->roce_version == ROCE_V2_IPV4) {
		grh += IPV4_AT;
		grh[0] = IPV4_VERSION;
		grh[1] = path->traffic_class;
		be16_put(grh + 2, (uint16_t)(bytes + 20 + 8 + 4));
		grh[8] = packet->hop_limit;
		grh[9] = UDP;
		memcpy(grh + 12, path->sgid + 12, 4);
		memcpy(grh + 16, path->dgid + 12, 4);
		return;
	}
	be32_put(grh, (uint32_t)IPV6_VERSION << 28 | (uint32_t)path->traffic_class << 20 |
			      (path->flow_label & 0xfffff));
	be16_put(grh + 4, (uint16_t)(bytes + 4));
	grh[6] = path->roce_version == ROCE_V2_IPV6 ? UDP : IBA;
	grh[7] = packet->hop_limit;
	memcpy(grh + 8, path->sgid, 16);
	memcpy(grh + 24, path->dgid, 16);
}

/* All that comes later through PCIe becomes visible later: a CQE may follow, and an early ACK. */
static void transfer_posted(struct scatter_unit *unit, bool *posted)
{
	*posted = true;
	assert(unit->pending);
	unit->why.at[RECEIVE_WRITTEN] = sim_now(unit->qp->transport->block.sim);
	if (--unit->pending == 0)
		commit(unit->qp);
}

static void data_posted(struct dma *dma)
{
	struct scatter_unit *unit = container_of(dma, struct scatter_unit, dma);

	transfer_posted(unit, &unit->data_posted);
}

static void grh_posted(struct dma *dma)
{
	struct scatter_unit *unit = container_of(dma, struct scatter_unit, grh_dma);

	transfer_posted(unit, &unit->grh_posted);
}

static void transfer_done(struct scatter_unit *unit, enum dma_status status, bool posted)
{
	assert(unit->moving);
	unit->moving--;
	if (posted) {
		if (unit->committed && !unit->moving)
			finish(unit);
		return;
	}
	assert(unit->pending);
	if (status != DMA_OK && unit->fault == FAULT_NONE)
		unit->fault = unit->wqe ? FAULT_BAD_WQE : FAULT_BAD_RKEY;
	unit->why.at[RECEIVE_WRITTEN] = sim_now(unit->qp->transport->block.sim);
	if (--unit->pending == 0)
		commit(unit->qp);
}

static void data_done(struct dma *dma)
{
	struct scatter_unit *unit = container_of(dma, struct scatter_unit, dma);

	transfer_done(unit, dma->status, unit->data_posted);
}

static void grh_done(struct dma *dma)
{
	struct scatter_unit *unit = container_of(dma, struct scatter_unit, grh_dma);

	transfer_done(unit, dma->status, unit->grh_posted);
}

static void start(struct scatter_unit *unit, struct dma *dma, uint32_t offset, uint32_t length,
		  void *bytes, void (*posted)(struct dma *dma), void (*done)(struct dma *dma))
{
	struct qp *qp = unit->qp;

	*dma = (struct dma){
		.segments = unit->wqe ? unit->wqe->segments : &unit->segment,
		.segment_count = unit->wqe ? unit->wqe->segment_count : 1,
		.offset = offset,
		.length = length,
		.direction = DMA_SCATTER,
		.access = unit->wqe ? MR_LOCAL_WRITE : MR_REMOTE_WRITE,
		.pd = unit->wqe ? unit->wqe->pd : qp_remote_pd(qp, unit->segment.key),
		.qpn = qp->number,
		.tag = unit->tag,
		.bytes = bytes,
		.posted = qp->transport->params->ack_when == ACK_LATE ? NULL : posted,
		.done = done,
	};
	unit->pending++;
	unit->moving++;
	dma_start(qp->transport->blocks.dma, dma);
}

/* Of a message of one unit: what would be one write beside that of the CQE. */
static bool goes_into_cqe(const struct scatter_unit *unit)
{
	const struct hca_qp_attr *attr = &unit->qp->attr;

	return attr->receives_to_cqe && unit->wqe && unit->has_completion && unit->length &&
	       !unit->completion.network_header &&
	       unit->offset == (attr->type == QP_UD ? GRH_AREA_BYTES : 0) &&
	       unit->length <= completion_queue_data_room(unit->cq);
}

void scatter_unit_close(struct scatter_unit *unit)
{
	struct qp *qp = unit->qp;

	unit->closed = true;
	if (qp->responder.open == unit)
		qp->responder.open = NULL;
	if (unit->has_completion && unit->completion.network_header)
		start(unit, &unit->grh_dma, unit->offset - GRH_AREA_BYTES, GRH_AREA_BYTES,
		      unit->grh, grh_posted, grh_done);
	if (goes_into_cqe(unit)) {
		unit->completion.data_bytes = (uint8_t)unit->length;
		unit->completion.data = unit->payload ? unit->payload->bytes : NULL;
	} else if (unit->length)
		start(unit, &unit->dma, unit->wqe ? unit->offset : 0, unit->length,
		      unit->payload ? unit->payload->bytes : NULL, data_posted, data_done);
	if (!unit->pending)
		commit(qp);
}

static void tell_watcher(const struct scatter_unit *unit)
{
	const struct qp *qp = unit->qp;
	struct hca_watcher *watcher = qp->transport->watcher;

	if (unit->ends && unit->fault == FAULT_NONE && !qp->destroyed &&
	    unit->generation == qp->responder.generation)
		watcher->delivered(watcher, qp->number, unit->psn);
}

static void finish(struct scatter_unit *unit)
{
	struct qp *qp = unit->qp;
	struct transport_block *transport = qp->transport;

	if (__builtin_expect(transport->watcher != NULL, 0))
		tell_watcher(unit);
	if (unit->payload)
		payload_drop(transport->blocks.packets, unit->payload);
	if (unit->wqe)
		receive_queue_release(transport->blocks.receive_queues, unit->wqe);
	if (__builtin_expect(unit->telemetry != NULL, 0))
		telemetry_free(transport->blocks.packets, unit->telemetry);
	pool_give(&transport->scatter_units, unit);
	gauge_leave(&transport->gauge.scatter_units, sim_now(transport->block.sim), 1);
	wake_waiter(transport);
	qp_drop(qp);
}

/* A program that has both ends can look at the data as soon as the sender has its completion. */
static void count_early_ack(const struct scatter_unit *unit)
{
	const struct qp *qp = unit->qp, *sender = qp_find(qp->transport, qp->state.dest_qp);

	if (sender && qp_is_reliable(qp) && unit->length &&
	    psn_distance(unit->psn, sender->requester.unacked_psn) > 0)
		qp->transport->count.acked_before_data++;
}

/* The unit's effects beyond memory. */
static void take_effect(struct scatter_unit *unit)
{
	struct qp *qp = unit->qp;

	if (qp->destroyed || unit->generation != qp->responder.generation)
		return;
	if (unit->over_loopback && unit->ends)
		count_early_ack(unit);
	if (unit->fault != FAULT_NONE)
		responder_fatal(qp, unit->fault, unit->psn);
	if (unit->has_completion)
		responder_complete(qp, unit);
	if (qp->responder.failed)
		return;
	if (unit->acknowledge && unit->asked_at) {
		notification_asked(qp, unit->asked_at, unit->telemetry);
		unit->telemetry = NULL;
	}
	if (unit->acknowledge)
		responder_acknowledge(qp, unit->psn, unit->msn, unit->request_at);
	if (unit->is_read) {
		responder_owe(qp, &unit->read);
	} else if (unit->is_atomic) {
		responder_owe(qp, &unit->read);
		atomic_start(qp, unit->opcode, &unit->read, unit->swap_or_add, unit->compare);
	}
}

static void commit(struct qp *qp)
{
	struct responder *responder = &qp->responder;

	qp_hold(qp);
	while (responder->first && responder->first->closed && !responder->first->pending) {
		struct scatter_unit *unit = responder->first;

		responder->first = unit->next;
		if (!responder->first)
			responder->last = NULL;
		if (unit->counts && unit->generation == responder->generation)
			responder->uncommitted_reads--;
		take_effect(unit);
		unit->committed = true;
		if (!unit->moving)
			finish(unit);
	}
	if (qp->flushing && !responder->first)
		responder_flush(qp);
	qp_drop(qp);
}

void scatter_unit_abandon(struct qp *qp)
{
	struct scatter_unit *open = qp->responder.open;

	if (!open)
		return;
	qp->responder.open = NULL;
	open->length = 0;
	open->has_completion = open->acknowledge = false;
	open->closed = true;
	commit(qp);
}
