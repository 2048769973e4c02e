/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iwarp_read: see iwarp_read.h.
 */
#include "hca/endpoint/iwarp_read.h"

#include "fabric/wire/iwarp_packet.h"
#include "fabric/wire/mpa.h"
#include "hca/endpoint/iwarp_end.h"
#include "hca/endpoint/tcp_end.h"

/* ---- requester ---- */

bool iwarp_read_may_write(const struct endpoint_qp *qp, const struct endpoint_message *message)
{
	const struct iwarp_reads *reads = &qp->tcp->iwarp->reads;

	return message->operation != ENDPOINT_READ ||
	       reads->requests - reads->received < reads->depth;
}

void iwarp_read_fill(struct endpoint_qp *qp, const struct endpoint_message *message, uint64_t from,
		     struct packet *packet)
{
	const struct rdmap_header header = {
		.opcode = RDMAP_READ_REQUEST, .last = true, .msn = message->msn};
	const struct rdmap_read_request request = {.sink_stag = iwarp_end_stag(qp->number),
						   .bytes = (uint32_t)message->bytes,
						   .source_stag = iwarp_end_stag(qp->peer_number)};
	uint8_t ulpdu[DDP_HEADER_MAX + RDMAP_READ_REQUEST_BYTES];
	uint8_t fpdu[sizeof(ulpdu) + MPA_LENGTH_BYTES + 3 + MPA_CRC_BYTES + MPA_MARKER_BYTES];
	uint32_t length = rdmap_header_bytes(header.opcode);

	rdmap_header_build(&header, ulpdu);
	rdmap_read_request_build(&request, ulpdu + length);
	mpa_fpdu_build(iwarp_end_place(qp->tcp->iwarp, message->first_psn), ulpdu,
		       length + RDMAP_READ_REQUEST_BYTES, fpdu);
	packet->payload = packet_payload_of(qp->ep->pool, fpdu + from, packet->payload_bytes);
	packet->tcp.rdmap_opcode = RDMAP_READ_REQUEST;
	packet->tcp.ddp_offset = request.bytes;
}

bool iwarp_read_has_response(const struct endpoint_qp *qp, const struct endpoint_message *message)
{
	return (int32_t)(qp->tcp->iwarp->reads.received - message->msn) >= 0;
}

/* ---- both ends ---- */

uint32_t iwarp_read_mark(const struct packet *packet)
{
	if (packet->tcp.rdmap_opcode == RDMAP_READ_REQUEST)
		return packet->tcp.ddp_offset;
	return packet->tcp.rdmap_opcode == RDMAP_READ_RESPONSE ? READ_RESPONSE : 0;
}

/* Fetches the data of a Read Response, which takes the adapter's read_latency. */
static void ask(struct endpoint_qp *qp, uint32_t tag, uint32_t bytes)
{
	struct endpoint_hca *ep = qp->ep;
	struct endpoint_message *response = pool_take_zeroed(&ep->iwarp->responses);

	response->qp = qp;
	response->operation = ENDPOINT_READ_RESPONSE;
	response->tag = tag;
	response->bytes = bytes;
	response->packets = iwarp_end_stream_bytes(qp, ENDPOINT_READ_RESPONSE, bytes);
	ep->count.rx_read_requests++;
	if (ep->user && ep->user->read_begins)
		ep->user->read_begins(ep->user, qp, tag, 0);
	delay_line_push(&ep->iwarp->reading, &response->item, ep->params->read_latency);
}

void iwarp_read_arrived(struct endpoint_qp *qp, const struct tcp_end_mark *mark)
{
	if (mark->read == READ_RESPONSE)
		qp->tcp->iwarp->reads.received++;
	else
		ask(qp, mark->tag, mark->read);
}

/* ---- responder ---- */

/* Adds a Read Response to the stream of its queue pair. */
static void fetched(struct delay_line *line, struct delay_item *item)
{
	struct endpoint_message *response = container_of(item, struct endpoint_message, item);
	struct endpoint_qp *qp = response->qp;
	struct iwarp_reads *reads = &qp->tcp->iwarp->reads;

	(void)line;
	if (qp->flags & QP_FAILED) {
		pool_give(&qp->ep->iwarp->responses, response);
		return;
	}
	if (reads->responses)
		reads->last->next = response;
	else
		reads->responses = response;
	reads->last = response;
	if (!reads->unwritten)
		reads->unwritten = response;
	tcp_end_continue(qp);
}

struct endpoint_message *iwarp_read_take_response(struct endpoint_qp *qp)
{
	struct iwarp_reads *reads = &qp->tcp->iwarp->reads;
	struct endpoint_message *response = reads->unwritten;

	if (response)
		reads->unwritten = response->next;
	return response;
}

struct endpoint_message *iwarp_read_response_at(const struct endpoint_qp *qp, uint64_t offset)
{
	const struct iwarp_reads *reads = &qp->tcp->iwarp->reads;
	struct endpoint_message *response = reads->responses;

	for (; response != reads->unwritten; response = response->next)
		if (offset >= response->first_psn &&
		    offset < response->first_psn + response->packets)
			return response;
	return NULL;
}

void iwarp_read_responded(struct endpoint_qp *qp, const struct endpoint_message *response)
{
	struct endpoint_user *user = qp->ep->user;

	if (user && user->read_ends)
		user->read_ends(user, qp, response->tag, 0);
}

bool iwarp_read_release(struct endpoint_qp *qp, uint64_t acknowledged,
			const struct endpoint_message *writing)
{
	struct iwarp_reads *reads = &qp->tcp->iwarp->reads;
	struct endpoint_message *response;
	bool found = false;

	if (acknowledged == UINT64_MAX)
		reads->unwritten = NULL;
	while ((response = reads->responses) != reads->unwritten &&
	       response->first_psn + response->packets <= acknowledged) {
		reads->responses = response->next;
		found |= response == writing;
		pool_give(&qp->ep->iwarp->responses, response);
	}
	return found;
}

/* ---- creation and destruction ---- */

void iwarp_read_init(struct endpoint_qp *qp)
{
	uint64_t ord = qp->ep->params->max_rd_atomic;
	uint64_t ird = peer_of(qp)->ep->params->max_rd_atomic;

	qp->tcp->iwarp->reads.depth = (uint32_t)(ord < ird ? ord : ird);
}

void iwarp_read_init_host(struct endpoint_iwarp *iwarp)
{
	pool_init(&iwarp->responses, sizeof(struct endpoint_message), 0);
	delay_line_init(&iwarp->reading, &iwarp->block, fetched);
}

void iwarp_read_destroy_host(struct endpoint_iwarp *iwarp)
{
	sim_cancel(&iwarp->reading.event);
	pool_fini(&iwarp->responses);
}
