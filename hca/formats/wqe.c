/* SPDX-License-Identifier: Apache-2.0 */
/* wqe: see wqe.h. Offsets are from the start of each segment. */
#include "hca/formats/wqe.h"

#include <string.h>

#include "fabric/wire/bytes.h"

enum follows {
	FOLLOWS_NOTHING,
	FOLLOWS_DATA,
	FOLLOWS_REMOTE_DATA,
	FOLLOWS_ATOMIC_DATA,
	FOLLOWS_REGION
};

/* clang-format off */
#define WQE_OPCODE_ROW(code, name, follows) [code] = {true, FOLLOWS_##follows},
static const struct {
	bool known;
	uint8_t follows;
} opcode_table[256] = {WQE_OPCODES(WQE_OPCODE_ROW)};

#define BIT(opcode) (UINT64_C(1) << WQE_##opcode)
#define SENDS       (BIT(NOP) | BIT(SEND) | BIT(SEND_IMMEDIATE))
#define WRITES      (BIT(WRITE) | BIT(WRITE_IMMEDIATE))
#define READS       (BIT(READ) | BIT(COMPARE_SWAP) | BIT(FETCH_ADD))
#define RELIABLE    (SENDS | WRITES | READS | BIT(SEND_INVALIDATE) | BIT(UMR))
static const uint64_t opcodes_of_type[] = {
	[QP_RC]      = RELIABLE,
	[QP_UC]      = SENDS | WRITES | BIT(UMR),
	[QP_UD]      = SENDS,
	[QP_XRC_INI] = RELIABLE,
	[QP_XRC_TGT] = 0,
	[QP_GSI]     = SENDS,
	[QP_DCI]     = RELIABLE,
	[QP_DCT]     = 0,
	[QP_DCR]     = 0,
};

enum {
	CONTROL_INDEX = 1, CONTROL_OPCODE = 3, CONTROL_QPN = 4, CONTROL_UNITS = 7,
	CONTROL_FLAGS = 11, CONTROL_IMMEDIATE = 12, CONTROL_BYTES = 16,
	FLAG_SOLICITED = 1 << 1, FLAG_SIGNALED = 2 << 2, FENCE_SHIFT = 5, FENCE_LEAST = 2,
	XRC_SRQN = 0, XRC_BYTES = 16,
	REMOTE_ADDRESS = 0, REMOTE_KEY = 8, REMOTE_BYTES = 16,
	ATOMIC_SWAP_OR_ADD = 0, ATOMIC_COMPARE = 8, ATOMIC_SEGMENT_BYTES = 16,
	ATOMIC_DATA_BYTES = 8,
	VECTOR_QKEY = 0, VECTOR_DC_KEY = 0, VECTOR_DEST_QP = 8, VECTOR_SHORT_BYTES = 16,
	DATA_LENGTH = 0, DATA_KEY = 4, DATA_ADDRESS = 8,
	REGION_FLAGS = 0, REGION_MASK = 8, REGION_CONTROL_BYTES = 48,
	CONTEXT_FREE = 0, CONTEXT_ACCESS = 2, CONTEXT_QPN_KEY = 4, CONTEXT_ADDRESS = 16,
	CONTEXT_LENGTH = 24, CONTEXT_BYTES = 64, CONTEXT_FREE_BIT = 1 << 6,
	NEXT_INDEX = 2,
};

static const struct { uint8_t bit; uint32_t access; } context_access[] = {
	{1 << 3, MR_LOCAL_WRITE}, {1 << 4, MR_REMOTE_READ}, {1 << 5, MR_REMOTE_WRITE},
	{1 << 6, MR_REMOTE_ATOMIC},
};
/* clang-format on */

#define INLINE_FLAG     UINT32_C(0x80000000)
#define EXTENDED_VECTOR UINT32_C(0x80000000)
#define KEY_OF_NOTHING  UINT32_C(0x100)
#define REGION_MASK_QPN (UINT64_C(1) << 14)

struct cursor {
	const uint8_t *next, *end;
};

static const uint8_t *take(struct cursor *cursor, uint32_t bytes)
{
	const uint8_t *segment = cursor->next;

	if ((uint32_t)(cursor->end - cursor->next) < bytes)
		return NULL;
	cursor->next += bytes;
	return segment;
}

static enum wqe_error parse_datagram(struct cursor *cursor, struct send_wqe *wqe)
{
	const uint8_t *vector = take(cursor, VECTOR_SHORT_BYTES);

	if (!vector)
		return WQE_BAD_SIZE;
	memset(wqe->address_vector, 0, sizeof(wqe->address_vector));
	memcpy(wqe->address_vector, vector, VECTOR_SHORT_BYTES);
	wqe->qkey = be32_get(vector + VECTOR_QKEY);
	wqe->dc_key = be64_get(vector + VECTOR_DC_KEY);
	wqe->dest_qp = be32_get(vector + VECTOR_DEST_QP) & MASK_24;
	if (be32_get(vector + VECTOR_DEST_QP) & EXTENDED_VECTOR) {
		const uint8_t *rest = take(cursor, ADDRESS_VECTOR_BYTES - VECTOR_SHORT_BYTES);

		if (!rest)
			return WQE_BAD_SIZE;
		memcpy(wqe->address_vector + VECTOR_SHORT_BYTES, rest,
		       ADDRESS_VECTOR_BYTES - VECTOR_SHORT_BYTES);
	}
	return WQE_OK;
}

static enum wqe_error parse_remote(struct cursor *cursor, struct send_wqe *wqe)
{
	const uint8_t *remote = take(cursor, REMOTE_BYTES);

	if (!remote)
		return WQE_BAD_SIZE;
	wqe->remote_address = be64_get(remote + REMOTE_ADDRESS);
	wqe->rkey = be32_get(remote + REMOTE_KEY);
	return WQE_OK;
}

static enum wqe_error parse_atomic(struct cursor *cursor, struct send_wqe *wqe)
{
	const uint8_t *atomic = take(cursor, ATOMIC_SEGMENT_BYTES);

	if (!atomic)
		return WQE_BAD_SIZE;
	wqe->swap_or_add = be64_get(atomic + ATOMIC_SWAP_OR_ADD);
	wqe->compare = be64_get(atomic + ATOMIC_COMPARE);
	return WQE_OK;
}

static enum wqe_error parse_region(struct cursor *cursor, struct send_wqe *wqe)
{
	const uint8_t *control = take(cursor, REGION_CONTROL_BYTES);
	const uint8_t *context = control ? take(cursor, CONTEXT_BYTES) : NULL;
	struct wqe_region *region = &wqe->region;

	if (!context)
		return WQE_BAD_SIZE;
	*region = (struct wqe_region){
		.key = wqe->immediate,
		.new_low = (uint8_t)be32_get(context + CONTEXT_QPN_KEY),
		.bind = !(context[CONTEXT_FREE] & CONTEXT_FREE_BIT),
		.of_one_qp = be64_get(control + REGION_MASK) & REGION_MASK_QPN,
		.address = be64_get(context + CONTEXT_ADDRESS),
		.length = be64_get(context + CONTEXT_LENGTH),
	};
	for (size_t i = 0; i < ARRAY_SIZE(context_access); i++)
		if (context[CONTEXT_ACCESS] & context_access[i].bit)
			region->access |= context_access[i].access;
	if (region->bind) {
		const uint8_t *data = take(cursor, WQE_DS_BYTES);

		if (!data)
			return WQE_BAD_SIZE;
		region->region_key = be32_get(data + DATA_KEY);
		region->region_address = be64_get(data + DATA_ADDRESS);
	}
	return WQE_OK;
}

static enum wqe_error parse_inline(struct cursor *cursor, struct send_wqe *wqe)
{
	uint32_t length = be32_get(cursor->next) & ~INLINE_FLAG;

	if (length > (uint32_t)(cursor->end - cursor->next) - sizeof(uint32_t))
		return WQE_BAD_SIZE;
	if (wqe->opcode == WQE_READ || opcode_table[wqe->opcode].follows == FOLLOWS_ATOMIC_DATA)
		return WQE_BAD_SEGMENT;
	memcpy(wqe->inline_data + wqe->inline_bytes, cursor->next + sizeof(uint32_t), length);
	wqe->inline_bytes = (uint16_t)(wqe->inline_bytes + length);
	(void)take(cursor, wqe_ds_of((uint32_t)sizeof(uint32_t) + length) * WQE_DS_BYTES);
	return WQE_OK;
}

/* Parses inline data, a list, or inline data followed by a list. UCX posts the last form for a
 * header and data that it does not copy. */
static enum wqe_error parse_data(struct cursor *cursor, struct send_wqe *wqe)
{
	struct data_segment *segments;
	const uint8_t *segment;
	uint64_t length;

	while (cursor->next < cursor->end && be32_get(cursor->next) & INLINE_FLAG) {
		enum wqe_error error = parse_inline(cursor, wqe);

		if (error)
			return error;
	}
	length = wqe->inline_bytes;
	segments = &wqe->listed[wqe_ds_of(wqe->inline_bytes)];
	while ((segment = take(cursor, WQE_DS_BYTES))) {
		struct data_segment *data = &segments[wqe->segment_count];

		if (be32_get(segment + DATA_LENGTH) & INLINE_FLAG)
			return WQE_BAD_SEGMENT;
		data->length = be32_get(segment + DATA_LENGTH);
		data->key = be32_get(segment + DATA_KEY);
		data->address = be64_get(segment + DATA_ADDRESS);
		length += data->length;
		wqe->segment_count++;
	}
	wqe->length = (uint32_t)length;
	if (length > WQE_LENGTH_MAX)
		return WQE_BAD_LENGTH;
	if (opcode_table[wqe->opcode].follows == FOLLOWS_ATOMIC_DATA && length != ATOMIC_DATA_BYTES)
		return WQE_BAD_LENGTH;
	return WQE_OK;
}

enum wqe_error wqe_parse(const uint8_t *bytes, uint32_t qpn, enum qp_type type,
			 struct send_wqe *wqe)
{
	struct cursor cursor = {bytes + CONTROL_BYTES, bytes + wqe_ds_count(bytes) * WQE_DS_BYTES};
	uint8_t follows = opcode_table[bytes[CONTROL_OPCODE]].follows;
	uint8_t flags = bytes[CONTROL_FLAGS];
	enum wqe_error error = WQE_OK;

	wqe->opcode = bytes[CONTROL_OPCODE];
	wqe->units = (uint8_t)wqe_ds_count(bytes);
	wqe->index = wqe_index(bytes);
	wqe->qpn = wqe_qpn(bytes);
	wqe->signaled = flags & FLAG_SIGNALED;
	wqe->solicited = flags & FLAG_SOLICITED;
	wqe->fence = flags >> FENCE_SHIFT >= FENCE_LEAST;
	wqe->immediate = be32_get(bytes + CONTROL_IMMEDIATE);
	wqe->length = 0;
	wqe->inline_bytes = 0;
	wqe->segment_count = 0;
	if (!wqe->units)
		return WQE_BAD_SIZE;
	if (wqe->qpn != qpn)
		return WQE_BAD_QPN;
	if (!opcode_table[wqe->opcode].known || !(opcodes_of_type[type] >> wqe->opcode & 1))
		return WQE_BAD_OPCODE;
	if (follows == FOLLOWS_NOTHING)
		return WQE_OK;
	if (follows == FOLLOWS_REGION)
		return parse_region(&cursor, wqe);
	if (type == QP_UD || type == QP_GSI || type == QP_DCI)
		error = parse_datagram(&cursor, wqe);
	if (type == QP_XRC_INI) {
		const uint8_t *xrc = take(&cursor, XRC_BYTES);

		error = xrc ? WQE_OK : WQE_BAD_SIZE;
		wqe->xrc_srqn = xrc ? be32_get(xrc + XRC_SRQN) & MASK_24 : 0;
	}
	if (!error && follows != FOLLOWS_DATA)
		error = parse_remote(&cursor, wqe);
	if (!error && follows == FOLLOWS_ATOMIC_DATA)
		error = parse_atomic(&cursor, wqe);
	return error ? error : parse_data(&cursor, wqe);
}

void wqe_parse_receive(const uint8_t *bytes, uint32_t length, struct receive_wqe *wqe)
{
	uint32_t count = length / WQE_DS_BYTES;

	wqe->segment_count = 0;
	wqe->length = 0;
	for (uint32_t i = 0; i < count && i < RECEIVE_SEGMENTS_MAX; i++) {
		const uint8_t *segment = bytes + i * WQE_DS_BYTES;
		struct data_segment *data = &wqe->segments[i];

		data->length = be32_get(segment + DATA_LENGTH);
		data->key = be32_get(segment + DATA_KEY);
		data->address = be64_get(segment + DATA_ADDRESS);
		if (data->key == KEY_OF_NOTHING && !data->length)
			break;
		wqe->segment_count++;
		wqe->length += data->length;
	}
}

uint16_t wqe_next_index(const uint8_t *bytes)
{
	return be16_get(bytes + NEXT_INDEX);
}

uint32_t wqe_ds_count(const uint8_t *control)
{
	return control[CONTROL_UNITS] & WQE_DS_MAX;
}

uint32_t wqe_blocks(const uint8_t *control)
{
	return (wqe_ds_count(control) * WQE_DS_BYTES + WQE_BLOCK_BYTES - 1) / WQE_BLOCK_BYTES;
}

uint16_t wqe_index(const uint8_t *control)
{
	return be16_get(control + CONTROL_INDEX);
}

uint32_t wqe_qpn(const uint8_t *control)
{
	return be24_get(control + CONTROL_QPN);
}
