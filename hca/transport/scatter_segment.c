/* SPDX-License-Identifier: Apache-2.0 */
/* scatter_segment: see scatter_segment.h. */
#include "hca/transport/scatter_segment.h"

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
static void finish(struct scatter_segment *segment);

bool scatter_segment_available(struct qp *qp)
{
	struct transport_block *transport = qp->transport;
	struct responder *responder = &qp->responder;

	if (transport->scatter_segments.in_use < transport->params->scatter_buffers)
		return true;
	transport->count.scatter_stalls++;
	gauge_wait(&transport->gauge.scatter_buffers, sim_now(transport->block.sim), true);
	if (responder->waits_for_segment)
		return false;
	responder->waits_for_segment = true;
	responder->next_segment_waiter = NULL;
	qp_hold(qp);
	if (transport->segment_waiters_last)
		transport->segment_waiters_last->responder.next_segment_waiter = qp;
	else
		transport->segment_waiters_first = qp;
	transport->segment_waiters_last = qp;
	return false;
}

static void wake_waiter(struct transport_block *transport)
{
	struct qp *qp = transport->segment_waiters_first;

	if (!qp)
		return;
	transport->segment_waiters_first = qp->responder.next_segment_waiter;
	if (!transport->segment_waiters_first) {
		transport->segment_waiters_last = NULL;
		gauge_wait(&transport->gauge.scatter_buffers, sim_now(transport->block.sim), false);
	}
	responder_segment_came(qp);
	qp_drop(qp);
}

struct scatter_segment *scatter_segment_new(struct qp *qp, const struct packet *packet)
{
	struct responder *responder = &qp->responder;
	struct scatter_segment *segment = pool_take_zeroed(&qp->transport->scatter_segments);

	segment->since = sim_now(qp->transport->block.sim);
	gauge_enter(&qp->transport->gauge.scatter_buffers, segment->since, 1);
	segment->qp = qp;
	segment->generation = responder->generation;
	segment->tag = packet->tag;
	segment->psn = packet->psn;
	segment->opcode = packet->opcode;
	segment->offset = responder->received;
	segment->over_loopback = packet->path && packet->path->source == packet->path->destination;
	qp_hold(qp);
	if (responder->last)
		responder->last->next = segment;
	else
		responder->first = segment;
	responder->last = segment;
	return segment;
}

void scatter_segment_add(struct scatter_segment *segment, struct packet *packet)
{
	struct packet_pool *pool = segment->qp->transport->blocks.packets;

	assert(!segment->closed && segment->length + packet->payload_bytes <= PAYLOAD_MAX);
	if (!packet->payload) {
		segment->lengths_only |= packet->payload_bytes != 0;
	} else if (!segment->payload && packet->payload->references == 1) {
		segment->payload = packet->payload;
		packet->payload = NULL;
	} else {
		if (!segment->payload)
			segment->payload = packet_payload_new(pool);
		memcpy(segment->payload->bytes + segment->length, packet->payload->bytes,
		       packet->payload_bytes);
	}
	segment->length += packet->payload_bytes;
}

void scatter_segment_note(struct scatter_segment *segment, const struct packet *packet)
{
	const struct responder *responder = &segment->qp->responder;

	segment->stages.begun_at = responder->begun_at;
	segment->stages.at[RECEIVE_ARRIVAL] = packet->tail_at;
	segment->stages.at[RECEIVE_PIPELINE] = packet->head_at;
	segment->stages.at[RECEIVE_CONTEXT] = packet->sent_at;
	segment->stages.at[RECEIVE_WQE] = responder->wqe_at;
	segment->stages.at[RECEIVE_QUEUE] = sim_now(segment->qp->transport->block.sim);
}

/* Writes the GRH, or the IPv4 header after 20 undefined bytes. IBTA vol. 1, 8.3; annex A17.4.5. */
void scatter_segment_grh(struct scatter_segment *segment, const struct packet *packet)
{
	const struct path *path = packet->path;
	uint32_t bytes = packet->wire_bytes - path_header_bytes(path) - path_trailer_bytes(path);
	uint8_t *grh = segment->grh;
	enum { IPV4_AT = 20, IPV4_VERSION = 0x45, IPV6_VERSION = 6, UDP = 17, IBA = 0x1b };

	memset(segment->grh, 0, sizeof(segment->grh));
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

/* Records that a transfer was passed to PCIe. Later writes become visible after it, so a CQE or an
 * early ACK may follow. */
static void transfer_posted(struct scatter_segment *segment, bool *posted)
{
	*posted = true;
	assert(segment->pending);
	segment->stages.at[RECEIVE_WRITTEN] = sim_now(segment->qp->transport->block.sim);
	if (--segment->pending == 0)
		commit(segment->qp);
}

static void data_posted(struct dma *dma)
{
	struct scatter_segment *segment = container_of(dma, struct scatter_segment, dma);

	transfer_posted(segment, &segment->data_posted);
}

static void grh_posted(struct dma *dma)
{
	struct scatter_segment *segment = container_of(dma, struct scatter_segment, grh_dma);

	transfer_posted(segment, &segment->grh_posted);
}

static void transfer_done(struct scatter_segment *segment, enum dma_status status, bool posted)
{
	assert(segment->moving);
	segment->moving--;
	if (posted) {
		if (segment->committed && !segment->moving)
			finish(segment);
		return;
	}
	assert(segment->pending);
	if (status != DMA_OK && segment->error == ERROR_NONE)
		segment->error = segment->wqe ? ERROR_BAD_WQE : ERROR_BAD_RKEY;
	segment->stages.at[RECEIVE_WRITTEN] = sim_now(segment->qp->transport->block.sim);
	if (--segment->pending == 0)
		commit(segment->qp);
}

static void data_done(struct dma *dma)
{
	struct scatter_segment *segment = container_of(dma, struct scatter_segment, dma);

	transfer_done(segment, dma->status, segment->data_posted);
}

static void grh_done(struct dma *dma)
{
	struct scatter_segment *segment = container_of(dma, struct scatter_segment, grh_dma);

	transfer_done(segment, dma->status, segment->grh_posted);
}

static void start(struct scatter_segment *segment, struct dma *dma, uint32_t offset,
		  uint32_t length, void *bytes, void (*posted)(struct dma *dma),
		  void (*done)(struct dma *dma))
{
	struct qp *qp = segment->qp;

	dma->segments = segment->wqe ? segment->wqe->segments : &segment->element;
	dma->segment_count = segment->wqe ? segment->wqe->segment_count : 1;
	dma->offset = offset;
	dma->length = length;
	dma->direction = DMA_SCATTER;
	dma->access = segment->wqe ? MR_LOCAL_WRITE : MR_REMOTE_WRITE;
	dma->pd = segment->wqe ? segment->wqe->pd : qp_remote_pd(qp, segment->element.key);
	dma->qpn = qp->number;
	dma->tag = segment->tag;
	dma->bytes = bytes;
	dma->posted = qp->transport->params->ack_when == ACK_LATE ? NULL : posted;
	dma->done = done;
	segment->pending++;
	segment->moving++;
	dma_start(qp->transport->blocks.dma, dma);
}

/* Returns true if the data goes into the CQE: a message of one segment, whose data would need one
 * write in addition to the CQE. */
static bool goes_into_cqe(const struct scatter_segment *segment)
{
	const struct hca_qp_attr *attr = &segment->qp->attr;

	return attr->receives_to_cqe && segment->wqe && segment->has_completion &&
	       segment->length && !segment->completion.network_header &&
	       segment->offset == (attr->type == QP_UD ? GRH_AREA_BYTES : 0) &&
	       segment->length <= completion_queue_data_room(segment->cq);
}

void scatter_segment_close(struct scatter_segment *segment)
{
	struct qp *qp = segment->qp;

	segment->closed = true;
	if (qp->responder.open == segment)
		qp->responder.open = NULL;
	if (segment->has_completion && segment->completion.network_header)
		start(segment, &segment->grh_dma, segment->offset - GRH_AREA_BYTES, GRH_AREA_BYTES,
		      segment->grh, grh_posted, grh_done);
	if (goes_into_cqe(segment)) {
		segment->completion.data_bytes = (uint8_t)segment->length;
		segment->completion.data = segment->payload ? segment->payload->bytes : NULL;
	} else if (segment->length)
		start(segment, &segment->dma, segment->wqe ? segment->offset : 0, segment->length,
		      segment->payload ? segment->payload->bytes : NULL, data_posted, data_done);
	if (!segment->pending)
		commit(qp);
}

static void notify_watcher(const struct scatter_segment *segment)
{
	const struct qp *qp = segment->qp;
	struct hca_watcher *watcher = qp->transport->watcher;

	if (segment->ends && segment->error == ERROR_NONE && !qp->destroyed &&
	    segment->generation == qp->responder.generation)
		watcher->delivered(watcher, qp->number, segment->psn);
}

static void finish(struct scatter_segment *segment)
{
	struct qp *qp = segment->qp;
	struct transport_block *transport = qp->transport;

	if (__builtin_expect(!!transport->watcher, 0))
		notify_watcher(segment);
	if (segment->payload)
		packet_payload_drop(transport->blocks.packets, segment->payload);
	if (segment->wqe)
		receive_queue_release(transport->blocks.receive_queues, segment->wqe);
	if (__builtin_expect(!!segment->telemetry, 0))
		packet_telemetry_free(transport->blocks.packets, segment->telemetry);
	gauge_left(&transport->gauge.scatter_buffers, segment->since, sim_now(transport->block.sim),
		   1);
	pool_give(&transport->scatter_segments, segment);
	wake_waiter(transport);
	qp_drop(qp);
}

/* Counts an ACK that reached a sender on the same adapter before the data was passed to PCIe. A
 * program with both ends could notice it. */
static void count_early_ack(const struct scatter_segment *segment)
{
	const struct qp *qp = segment->qp, *sender = qp_find(qp->transport, qp->state.dest_qp);

	if (sender && qp_is_reliable(qp) && segment->length &&
	    psn_distance(segment->psn, sender->requester.unacked_psn) > 0)
		qp->transport->count.acked_before_data++;
}

/* Carries out the effects of a segment after its data is in memory. */
static void take_effect(struct scatter_segment *segment)
{
	struct qp *qp = segment->qp;

	if (qp->destroyed || segment->generation != qp->responder.generation)
		return;
	if (segment->over_loopback && segment->ends)
		count_early_ack(segment);
	if (segment->error != ERROR_NONE)
		responder_fatal(qp, segment->error, segment->psn);
	if (segment->has_completion)
		responder_complete(qp, segment);
	if (qp->responder.failed)
		return;
	if (segment->acknowledge && segment->asked_at) {
		notification_asked(qp, segment->asked_at, segment->telemetry);
		segment->telemetry = NULL;
	}
	if (segment->acknowledge)
		responder_acknowledge(qp, segment->psn, segment->msn, segment->request_at);
	if (segment->is_read) {
		responder_owe(qp, &segment->read);
	} else if (segment->is_atomic) {
		responder_owe(qp, &segment->read);
		atomic_start(qp, segment->opcode, &segment->read, segment->swap_or_add,
			     segment->compare);
	}
}

static void commit(struct qp *qp)
{
	struct responder *responder = &qp->responder;

	qp_hold(qp);
	while (responder->first && responder->first->closed && !responder->first->pending) {
		struct scatter_segment *segment = responder->first;

		responder->first = segment->next;
		if (!responder->first)
			responder->last = NULL;
		if (segment->counts && segment->generation == responder->generation)
			responder->uncommitted_reads--;
		take_effect(segment);
		segment->committed = true;
		if (!segment->moving)
			finish(segment);
	}
	if (qp->flushing && !responder->first)
		responder_flush(qp);
	qp_drop(qp);
}

void scatter_segment_abandon(struct qp *qp)
{
	struct scatter_segment *open = qp->responder.open;

	if (!open)
		return;
	qp->responder.open = NULL;
	open->length = 0;
	open->has_completion = open->acknowledge = false;
	open->closed = true;
	commit(qp);
}
