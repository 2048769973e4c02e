/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rdmap: see rdmap.h.
 */
#include "fabric/wire/rdmap.h"

#include <assert.h>
#include <string.h>

#include "fabric/wire/bytes.h"

/* The control byte of RDMAP in the DDP header. */
enum { VERSION_MASK = 0xc0, VERSION = 0x40, OPCODE_MASK = 0x0f };

/* clang-format off */
#define ROW(name, number, tagged, queue, meaning) [RDMAP_##name] = {tagged, queue, meaning},
static const struct {
	bool tagged;
	uint8_t queue;
	const char *meaning;
} opcodes[RDMAP_OPCODE_COUNT] = { RDMAP_OPCODES(ROW) };
/* clang-format on */

const char *rdmap_opcode_meaning(enum rdmap_opcode opcode)
{
	return opcodes[opcode].meaning;
}

bool rdmap_is_tagged(enum rdmap_opcode opcode)
{
	return opcodes[opcode].tagged;
}

uint32_t rdmap_header_bytes(enum rdmap_opcode opcode)
{
	return ddp_header_bytes(opcodes[opcode].tagged);
}

static bool invalidates(enum rdmap_opcode opcode)
{
	return opcode == RDMAP_SEND_INVALIDATE || opcode == RDMAP_SEND_SE_INVALIDATE;
}

void rdmap_header_build(const struct rdmap_header *header, uint8_t *bytes)
{
	struct ddp_header ddp = {
		.tagged = opcodes[header->opcode].tagged,
		.last = header->last,
		.control = (uint8_t)(VERSION | header->opcode),
	};

	if (ddp.tagged) {
		ddp.stag = header->stag;
		ddp.tagged_offset = header->tagged_offset;
	} else {
		ddp.word = invalidates(header->opcode) ? header->invalidate : 0;
		ddp.queue = opcodes[header->opcode].queue;
		ddp.msn = header->msn;
		ddp.message_offset = header->message_offset;
	}
	ddp_header_build(&ddp, bytes);
}

enum parse_status rdmap_header_parse(const uint8_t *bytes, size_t length,
				     struct rdmap_header *header)
{
	struct ddp_header ddp;
	enum parse_status status = ddp_header_parse(bytes, length, &ddp);
	unsigned opcode = ddp.control & OPCODE_MASK;

	memset(header, 0, sizeof(*header));
	if (status != PARSE_OK)
		return status;
	if ((ddp.control & VERSION_MASK) != VERSION || opcode >= RDMAP_OPCODE_COUNT)
		return PARSE_RDMAP_OPCODE;
	if (ddp.tagged != opcodes[opcode].tagged ||
	    (!ddp.tagged && ddp.queue != opcodes[opcode].queue))
		return PARSE_RDMAP_QUEUE;
	header->opcode = (enum rdmap_opcode)opcode;
	header->last = ddp.last;
	if (ddp.tagged) {
		header->stag = ddp.stag;
		header->tagged_offset = ddp.tagged_offset;
		return PARSE_OK;
	}
	header->msn = ddp.msn;
	header->message_offset = ddp.message_offset;
	header->invalidate = invalidates(header->opcode) ? ddp.word : 0;
	return PARSE_OK;
}

void rdmap_read_request_build(const struct rdmap_read_request *request, uint8_t *bytes)
{
	be32_put(bytes, request->sink_stag);
	be64_put(bytes + 4, request->sink_offset);
	be32_put(bytes + 12, request->bytes);
	be32_put(bytes + 16, request->source_stag);
	be64_put(bytes + 20, request->source_offset);
}

enum parse_status rdmap_read_request_parse(const uint8_t *bytes, size_t length,
					   struct rdmap_read_request *request)
{
	memset(request, 0, sizeof(*request));
	if (length < RDMAP_READ_REQUEST_BYTES)
		return PARSE_TRUNCATED;
	request->sink_stag = be32_get(bytes);
	request->sink_offset = be64_get(bytes + 4);
	request->bytes = be32_get(bytes + 12);
	request->source_stag = be32_get(bytes + 16);
	request->source_offset = be64_get(bytes + 20);
	return PARSE_OK;
}

/* ---- Terminate ---- */

enum {
	CONTROL_BYTES = 4,
	LENGTH_BYTES = 2,
	HAS_LENGTH = 0x80, /* M, in the third byte */
	HAS_DDP = 0x40,    /* D */
	HAS_RDMAP = 0x20,  /* R */
};

/* The DDP segment length is present with M or D. */
static bool length_is_there(const struct rdmap_terminate *terminate)
{
	return terminate->has_length || terminate->has_ddp;
}

uint32_t rdmap_terminate_bytes(const struct rdmap_terminate *terminate)
{
	uint32_t bytes = CONTROL_BYTES;

	assert(!terminate->has_rdmap || terminate->has_ddp);
	if (length_is_there(terminate))
		bytes += LENGTH_BYTES;
	if (terminate->has_ddp)
		bytes += ddp_header_bytes(terminate->ddp.tagged);
	if (terminate->has_rdmap)
		bytes += RDMAP_READ_REQUEST_BYTES;
	return bytes;
}

void rdmap_terminate_build(const struct rdmap_terminate *terminate, uint8_t *bytes)
{
	assert(terminate->layer < 16 && terminate->type < 16);
	bytes[0] = (uint8_t)(terminate->layer << 4 | terminate->type);
	bytes[1] = terminate->code;
	bytes[2] = (uint8_t)((terminate->has_length ? HAS_LENGTH : 0) |
			     (terminate->has_ddp ? HAS_DDP : 0) |
			     (terminate->has_rdmap ? HAS_RDMAP : 0));
	bytes[3] = 0;
	bytes += CONTROL_BYTES;
	if (length_is_there(terminate)) {
		be16_put(bytes, terminate->segment_bytes);
		bytes += LENGTH_BYTES;
	}
	if (terminate->has_ddp) {
		ddp_header_build(&terminate->ddp, bytes);
		bytes += ddp_header_bytes(terminate->ddp.tagged);
	}
	if (terminate->has_rdmap)
		rdmap_read_request_build(&terminate->request, bytes);
}

enum parse_status rdmap_terminate_parse(const uint8_t *bytes, size_t length,
					struct rdmap_terminate *terminate)
{
	size_t at = CONTROL_BYTES;
	enum parse_status status;

	memset(terminate, 0, sizeof(*terminate));
	if (length < CONTROL_BYTES)
		return PARSE_TRUNCATED;
	terminate->layer = bytes[0] >> 4;
	terminate->type = bytes[0] & 0x0f;
	terminate->code = bytes[1];
	terminate->has_length = bytes[2] & HAS_LENGTH;
	terminate->has_ddp = bytes[2] & HAS_DDP;
	terminate->has_rdmap = bytes[2] & HAS_RDMAP;
	if (terminate->has_rdmap && !terminate->has_ddp)
		return PARSE_RDMAP_TERMINATE;
	if (length_is_there(terminate)) {
		if (length < at + LENGTH_BYTES)
			return PARSE_TRUNCATED;
		terminate->segment_bytes = be16_get(bytes + at);
		at += LENGTH_BYTES;
	}
	if (terminate->has_ddp) {
		status = ddp_header_parse(bytes + at, length - at, &terminate->ddp);
		if (status != PARSE_OK)
			return status;
		at += ddp_header_bytes(terminate->ddp.tagged);
	}
	if (terminate->has_rdmap)
		return rdmap_read_request_parse(bytes + at, length - at, &terminate->request);
	return PARSE_OK;
}
