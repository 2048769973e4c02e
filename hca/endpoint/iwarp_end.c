/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iwarp_end: see iwarp_end.h.
 */
#include "hca/endpoint/iwarp_end.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/wire/iwarp_packet.h"
#include "fabric/wire/mpa.h"
#include "hca/endpoint/connection_memory.h"
#include "hca/endpoint/iwarp_read.h"
#include "hca/endpoint/tcp_end.h"

#define STAG_SHIFT    8 /* an STag is an index and a key of eight bits; RFC 5040 2.1 */
#define STARTUP_BYTES (MPA_STARTUP_BYTES + MPA_DEPTHS_BYTES)

static const struct mpa_place no_markers;

static enum rdmap_opcode opcode_of(enum endpoint_operation operation)
{
	static const enum rdmap_opcode opcodes[] = {
		[ENDPOINT_WRITE] = RDMAP_WRITE,
		[ENDPOINT_SEND] = RDMAP_SEND,
		[ENDPOINT_READ] = RDMAP_READ_REQUEST,
		[ENDPOINT_READ_RESPONSE] = RDMAP_READ_RESPONSE,
	};

	return opcodes[operation];
}

uint32_t iwarp_end_stag(uint32_t number)
{
	return number << STAG_SHIFT;
}

/* Returns the length of an FPDU. */
static uint32_t fpdu_bytes(enum endpoint_operation operation, uint64_t payload)
{
	return mpa_fpdu_bytes(no_markers,
			      rdmap_header_bytes(opcode_of(operation)) + (uint32_t)payload);
}

/* Returns the payload of a full FPDU. */
static uint32_t full_payload(const struct iwarp_end *end, enum endpoint_operation operation)
{
	return mpa_ulpdu_max(end->fpdu_bytes, false) - rdmap_header_bytes(opcode_of(operation));
}

/* Returns the number of full FPDUs, besides the last one. */
static uint64_t full_fpdus(const struct iwarp_end *end, enum endpoint_operation operation,
			   uint64_t bytes)
{
	return operation == ENDPOINT_READ ? 0 : (bytes - 1) / full_payload(end, operation);
}

uint64_t iwarp_end_stream_bytes(const struct endpoint_qp *qp, enum endpoint_operation operation,
				uint64_t bytes)
{
	const struct iwarp_end *end = qp->tcp->iwarp;
	uint64_t full = full_fpdus(end, operation, bytes);

	if (operation == ENDPOINT_READ)
		return fpdu_bytes(operation, RDMAP_READ_REQUEST_BYTES);
	return full * end->fpdu_bytes +
	       fpdu_bytes(operation, bytes - full * full_payload(end, operation));
}

uint64_t iwarp_end_payload_before(const struct endpoint_qp *qp,
				  const struct endpoint_message *message, uint64_t bytes)
{
	const struct iwarp_end *end = qp->tcp->iwarp;
	uint32_t header = MPA_LENGTH_BYTES + rdmap_header_bytes(opcode_of(message->operation));
	uint32_t most = full_payload(end, message->operation);
	uint64_t rest = bytes % end->fpdu_bytes, payload = bytes / end->fpdu_bytes * most;

	if (message->operation == ENDPOINT_READ)
		return 0;
	rest = rest > header ? rest - header : 0;
	payload += rest < most ? rest : most;
	return payload < message->bytes ? payload : message->bytes;
}

bool iwarp_end_may_write(struct endpoint_qp *qp)
{
	struct tcp_end *tcp = qp->tcp;
	struct iwarp_end *end = tcp->iwarp;

	if (!end->startup_bytes)
		return true;
	if (!end->started && (end->initiator || tcp->received >= end->startup_bytes)) {
		end->started = true;
		qp->ep->iwarp->count.overhead_bytes += end->startup_bytes;
		tcp_write(tcp->connection, endpoint_now(qp->ep), end->startup_bytes);
	}
	/* RFC 5044 7.1: the responder sends when FPDUs of the initiator arrive */
	return end->started && tcp->received >= end->startup_bytes + !end->initiator;
}

/* A segment that is not exactly one FPDU carries its bytes. `from` is its offset in the message. */
static void fill_bytes(struct endpoint_qp *qp, const struct endpoint_message *message, uint32_t key,
		       uint64_t from, struct packet *packet)
{
	const struct iwarp_end *end = qp->tcp->iwarp;
	uint32_t most = full_payload(end, message->operation);
	uint64_t first = from / end->fpdu_bytes, after = from + packet->payload_bytes;
	uint64_t fpdus = (after + end->fpdu_bytes - 1) / end->fpdu_bytes - first;
	uint8_t *bytes = malloc(fpdus * end->fpdu_bytes);

	if (!bytes)
		abort();
	for (uint64_t i = 0; i < fpdus; i++) {
		uint64_t offset = (first + i) * most, left = message->bytes - offset;
		struct packet fpdu = {.kind = PACKET_TCP};

		fpdu.tcp.ends_message = left <= most;
		left = left < most ? left : most;
		fpdu.payload_bytes = fpdu_bytes(message->operation, left);
		iwarp_packet_set_fpdu(&fpdu, opcode_of(message->operation), key, (uint32_t)offset,
				      (uint32_t)left);
		iwarp_packet_build(&fpdu, bytes + i * end->fpdu_bytes);
	}
	packet->payload = packet_payload_of(qp->ep->pool, bytes + from % end->fpdu_bytes,
					    packet->payload_bytes);
	packet->tcp.ddp_bytes = (uint16_t)(iwarp_end_payload_before(qp, message, after) -
					   iwarp_end_payload_before(qp, message, from));
	qp->ep->iwarp->count.split_segments++;
	free(bytes);
}

void iwarp_end_fill(struct endpoint_qp *qp, const struct endpoint_message *message, uint64_t offset,
		    struct packet *packet)
{
	const struct iwarp_end *end = qp->tcp->iwarp;
	uint16_t depth = (uint16_t)qp->ep->params->max_rd_atomic;
	uint64_t from, payload, left;
	uint32_t key;

	if (!message) {
		iwarp_packet_set_startup(packet, !end->initiator, depth, depth);
		return;
	}
	from = offset - message->first_psn;
	if (message->operation == ENDPOINT_READ) {
		iwarp_read_fill(qp, message, from, packet);
		return;
	}
	packet->tcp.rdmap_opcode = (uint8_t)opcode_of(message->operation);
	payload = iwarp_end_payload_before(qp, message, from);
	left = message->bytes - payload;
	key = message->operation == ENDPOINT_SEND ? message->msn : iwarp_end_stag(qp->peer_number);
	if (left > full_payload(end, message->operation))
		left = full_payload(end, message->operation);
	if (from % end->fpdu_bytes || packet->payload_bytes != fpdu_bytes(message->operation, left))
		fill_bytes(qp, message, key, from, packet);
	else
		iwarp_packet_set_fpdu(packet, opcode_of(message->operation), key, (uint32_t)payload,
				      (uint32_t)left);
}

void iwarp_end_written(struct endpoint_qp *qp, struct endpoint_message *message)
{
	struct endpoint_iwarp_counters *count = &qp->ep->iwarp->count;
	struct iwarp_end *end = qp->tcp->iwarp;
	uint64_t payload = message->operation == ENDPOINT_READ ? 0 : message->bytes;

	message->first_psn = end->written;
	end->written += message->packets;
	if (message->operation == ENDPOINT_SEND)
		message->msn = ++end->sends;
	else if (message->operation == ENDPOINT_READ)
		message->msn = ++end->reads.requests;
	count->writes += message->operation == ENDPOINT_WRITE;
	count->sends += message->operation == ENDPOINT_SEND;
	count->reads += message->operation == ENDPOINT_READ;
	count->read_responses += message->operation == ENDPOINT_READ_RESPONSE;
	count->fpdus += full_fpdus(end, message->operation, message->bytes) + 1;
	count->payload_bytes += payload;
	count->overhead_bytes += message->packets - payload;
}

void iwarp_end_count_held(struct endpoint_qp *qp, uint64_t bytes)
{
	struct endpoint_iwarp_counters *count = &qp->ep->iwarp->count;

	if (bytes > count->connection_held_bytes)
		count->connection_held_bytes = bytes;
}

/* ---- creation and destruction ---- */

void iwarp_end_init(struct endpoint_qp *qp, uint32_t segment_bytes, bool open)
{
	struct iwarp_end *end = sim_arena(qp->ep->block.sim, sizeof(*end));

	assert(qp->ep->iwarp);
	qp->tcp->iwarp = end;
	end->fpdu_bytes = segment_bytes & ~3u;
	end->startup_bytes = open ? 0 : STARTUP_BYTES;
	qp->unacked_psn = end->written = end->startup_bytes;
	iwarp_read_init(qp);
	qp->ep->iwarp->count.connections++;
	qp->ep->iwarp->count.state_bytes += connection_memory_iwarp_state(qp->ep);
}

/* clang-format off */
static const struct block_type endpoint_iwarp_type = {
	.name     = "endpoint_iwarp",
	.counters = (const struct counter[]){ ENDPOINT_IWARP_COUNTERS(COUNTER_ENTRY) { 0 } },
};
/* clang-format on */

void iwarp_end_init_host(struct endpoint_hca *ep)
{
	struct endpoint_iwarp *iwarp = sim_arena(ep->block.sim, sizeof(*iwarp));
	char name[256];

	snprintf(name, sizeof(name), "%s.iwarp", ep->block.name);
	block_init(&iwarp->block, ep->block.sim, &endpoint_iwarp_type, name, NULL, &iwarp->count);
	iwarp_read_init_host(iwarp);
	ep->iwarp = iwarp;
}

void iwarp_end_destroy_host(struct endpoint_hca *ep)
{
	if (!ep->iwarp)
		return;
	iwarp_read_destroy_host(ep->iwarp);
	block_fini(&ep->iwarp->block);
}
