/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iwarp_end: see iwarp_end.h.
 */
#include "hca/endpoint/iwarp_end.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/wire/iwarp_packet.h"
#include "fabric/wire/tcp_packet.h"
#include "hca/endpoint/connection_memory.h"
#include "hca/endpoint/iwarp_read.h"
#include "hca/endpoint/tcp_end.h"

#define STAG_SHIFT    8 /* an STag is an index and a key of eight bits; RFC 5040 2.1 */
#define STARTUP_BYTES (MPA_STARTUP_BYTES + MPA_DEPTHS_BYTES)

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

struct mpa_place iwarp_end_place(const struct iwarp_end *end, uint64_t offset)
{
	return (struct mpa_place){end->markers, offset - end->startup_bytes};
}

static uint64_t divide_up(uint64_t number, uint64_t unit)
{
	return (number + unit - 1) / unit;
}

/* Returns the bytes of the stream without markers before the start of an FPDU. */
static uint64_t without_markers(const struct iwarp_end *end, uint64_t offset)
{
	uint64_t bytes = offset - end->startup_bytes;

	return end->markers ? bytes - divide_up(bytes, MPA_MARKER_EVERY) * MPA_MARKER_BYTES : bytes;
}

/* Is the inverse. A marker between two FPDUs belongs to the second. */
static uint64_t with_markers(const struct iwarp_end *end, uint64_t bytes)
{
	const uint64_t every = MPA_MARKER_EVERY - MPA_MARKER_BYTES;

	if (end->markers)
		bytes += divide_up(bytes, every) * MPA_MARKER_BYTES;
	return end->startup_bytes + bytes;
}

/* Returns the payload of a full FPDU, which fits a segment at any place. */
static uint32_t full_payload(const struct iwarp_end *end, enum endpoint_operation operation)
{
	return mpa_ulpdu_max(end->fpdu_bytes, end->markers) -
	       rdmap_header_bytes(opcode_of(operation));
}

/* Returns the length of a full FPDU without markers. */
static uint32_t full_bytes(const struct iwarp_end *end)
{
	return mpa_fpdu_bytes((struct mpa_place){0}, mpa_ulpdu_max(end->fpdu_bytes, end->markers));
}

/* Returns the number of full FPDUs, besides the last one. */
static uint64_t full_fpdus(const struct iwarp_end *end, enum endpoint_operation operation,
			   uint64_t bytes)
{
	return operation == ENDPOINT_READ ? 0 : (bytes - 1) / full_payload(end, operation);
}

/* Returns the offset of an FPDU of a message that begins at `first`. */
static uint64_t fpdu_offset(const struct iwarp_end *end, uint64_t first, uint64_t fpdu)
{
	return with_markers(end, without_markers(end, first) + fpdu * full_bytes(end));
}

/* Returns the bytes that a message at an offset takes in the stream. */
static uint64_t stream_bytes(const struct iwarp_end *end, enum endpoint_operation operation,
			     uint64_t offset, uint64_t bytes)
{
	uint64_t full = full_fpdus(end, operation, bytes);
	uint64_t last = fpdu_offset(end, offset, full);
	uint64_t payload = operation == ENDPOINT_READ ? RDMAP_READ_REQUEST_BYTES
						      : bytes - full * full_payload(end, operation);

	return last - offset +
	       mpa_fpdu_bytes(iwarp_end_place(end, last),
			      rdmap_header_bytes(opcode_of(operation)) + (uint32_t)payload);
}

uint64_t iwarp_end_stream_bytes(const struct endpoint_qp *qp, enum endpoint_operation operation,
				uint64_t bytes)
{
	const struct iwarp_end *end = qp->tcp->iwarp;

	return stream_bytes(end, operation, end->startup_bytes, bytes);
}

/* Returns the FPDU of a message with the byte at an offset of the stream. */
static uint64_t fpdu_at(const struct iwarp_end *end, const struct endpoint_message *message,
			uint64_t offset)
{
	uint64_t fpdu = (offset - message->first_psn) / end->fpdu_bytes;

	while (fpdu_offset(end, message->first_psn, fpdu + 1) <= offset)
		fpdu++;
	return fpdu;
}

bool iwarp_end_write_rest(struct endpoint_qp *qp)
{
	struct iwarp_end *end = qp->tcp->iwarp;
	const struct endpoint_message *message = qp->tcp->writing;
	uint64_t from = end->handed, next;

	if (!message || from == end->written)
		return false;
	end->handed = end->written;
	if (end->markers) {
		next = fpdu_offset(end, message->first_psn, fpdu_at(end, message, from) + 1);
		end->handed = next < end->written ? next : end->written;
	}
	tcp_write(qp->tcp->connection, endpoint_now(qp->ep), end->handed - from);
	return true;
}

uint64_t iwarp_end_payload_before(const struct endpoint_qp *qp,
				  const struct endpoint_message *message, uint64_t bytes)
{
	const struct iwarp_end *end = qp->tcp->iwarp;
	uint32_t header = MPA_LENGTH_BYTES + rdmap_header_bytes(opcode_of(message->operation));
	uint64_t offset = message->first_psn + bytes, fpdu = fpdu_at(end, message, offset);
	uint64_t at = fpdu_offset(end, message->first_psn, fpdu), rest = offset - at, payload;
	uint32_t most = full_payload(end, message->operation);

	if (message->operation == ENDPOINT_READ)
		return 0;
	if (end->markers) { /* complete ones, and the part of the last */
		uint64_t from = at - end->startup_bytes, to = offset - end->startup_bytes;
		uint64_t markers =
			divide_up(to, MPA_MARKER_EVERY) - divide_up(from, MPA_MARKER_EVERY);
		uint64_t over = to % MPA_MARKER_EVERY;

		rest -= markers * MPA_MARKER_BYTES;
		if (markers && over && over < MPA_MARKER_BYTES)
			rest += MPA_MARKER_BYTES - over;
	}
	rest = rest > header ? rest - header : 0;
	payload = fpdu * most + (rest < most ? rest : most);
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

/* Builds an FPDU of a message. */
static void build_fpdu(const struct iwarp_end *end, const struct endpoint_message *message,
		       uint32_t key, uint64_t fpdu, uint8_t *bytes)
{
	enum rdmap_opcode opcode = opcode_of(message->operation);
	uint32_t most = full_payload(end, message->operation);
	uint64_t offset = fpdu * most, left = message->bytes - offset;
	struct rdmap_header header = {.opcode = opcode, .last = left <= most};
	uint8_t ulpdu[DDP_HEADER_MAX + TCP_PAYLOAD_MAX] = {0};

	if (rdmap_is_tagged(opcode)) {
		header.stag = key;
		header.tagged_offset = offset;
	} else {
		header.msn = key;
		header.message_offset = (uint32_t)offset;
	}
	rdmap_header_build(&header, ulpdu);
	left = left < most ? left : most;
	mpa_fpdu_build(iwarp_end_place(end, fpdu_offset(end, message->first_psn, fpdu)), ulpdu,
		       rdmap_header_bytes(opcode) + (uint32_t)left, bytes);
}

/* A segment that is not exactly one FPDU, or has markers, carries its bytes. `offset` is its offset
 * in the stream. */
static void fill_bytes(struct endpoint_qp *qp, const struct endpoint_message *message, uint32_t key,
		       uint64_t offset, struct packet *packet)
{
	const struct iwarp_end *end = qp->tcp->iwarp;
	uint64_t after = offset + packet->payload_bytes, first = fpdu_at(end, message, offset);
	uint64_t origin = fpdu_offset(end, message->first_psn, first), at = origin;
	uint64_t from = offset - message->first_psn;
	uint8_t *bytes = malloc(packet->payload_bytes + 2 * end->fpdu_bytes);

	if (!bytes)
		abort();
	for (uint64_t i = first; at < after; at = fpdu_offset(end, message->first_psn, ++i))
		build_fpdu(end, message, key, i, bytes + (at - origin));
	packet->payload =
		packet_payload_of(qp->ep->pool, bytes + (offset - origin), packet->payload_bytes);
	packet->tcp.ddp_bytes =
		(uint16_t)(iwarp_end_payload_before(qp, message, after - message->first_psn) -
			   iwarp_end_payload_before(qp, message, from));
	qp->ep->iwarp->count.split_segments +=
		offset != origin || (at != after && after != message->first_psn + message->packets);
	free(bytes);
}

static void fill_startup(struct endpoint_qp *qp, struct packet *packet)
{
	const struct iwarp_end *end = qp->tcp->iwarp;
	uint16_t depth = (uint16_t)qp->ep->params->max_rd_atomic;
	const struct mpa_startup startup = {
		.reply = !end->initiator,
		.markers = true,
		.crc = true,
		.enhanced = true,
		.revision = 2,
		.ird = depth,
		.ord = depth,
	};
	uint8_t bytes[STARTUP_BYTES];

	if (!qp->ep->tcp->params->markers) {
		iwarp_packet_set_startup(packet, !end->initiator, depth, depth);
		return;
	}
	mpa_startup_build(&startup, bytes);
	packet->payload = packet_payload_of(qp->ep->pool, bytes, sizeof(bytes));
}

void iwarp_end_fill(struct endpoint_qp *qp, const struct endpoint_message *message, uint64_t offset,
		    struct packet *packet)
{
	const struct iwarp_end *end = qp->tcp->iwarp;
	uint64_t from, payload, left;
	uint32_t key;

	if (!message) {
		fill_startup(qp, packet);
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
	if (end->markers || from % end->fpdu_bytes ||
	    packet->payload_bytes !=
		    mpa_fpdu_bytes((struct mpa_place){0},
				   rdmap_header_bytes(opcode_of(message->operation)) +
					   (uint32_t)left))
		fill_bytes(qp, message, key, offset, packet);
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
	message->packets = stream_bytes(end, message->operation, end->written, message->bytes);
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
	end->markers = peer_of(qp)->ep->tcp->params->markers;
	end->startup_bytes = open ? 0 : STARTUP_BYTES;
	qp->unacked_psn = end->written = end->handed = end->startup_bytes;
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
