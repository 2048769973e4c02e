/* SPDX-License-Identifier: Apache-2.0 */
/* cqe: see cqe.h. */
#include "hca/formats/cqe.h"

#include <assert.h>
#include <string.h>

#include "fabric/wire/bytes.h"

/* clang-format off */
enum {
	WQE_ID = 2, PATH_BITS = 17, SLID = 22, FLAGS_SOURCE_QP = 24, USER_INDEX = 32,
	IMMEDIATE = 36, BYTE_COUNT = 44, TIMESTAMP = 48, VENDOR_SYNDROME = 54, SYNDROME = 55,
	OPCODE_QPN = 56, WQE_COUNTER = 60, OPCODE_OWNER = 63,
	SERVICE_LEVEL_SHIFT = 24, NETWORK_HEADER_SHIFT = 28, WQE_OPCODE_SHIFT = 24,
	OPCODE_SHIFT = 4,
	SOLICITED_BIT = 1 << 1, DATA_32_BIT = 1 << 2, DATA_64_BIT = 1 << 3,
	COMPRESSED_BITS = 3 << 2,
};

#define WORK_STATUS_ROW(name, syndrome, vendor, meaning) [WORK_##name] = {#name, syndrome, vendor},
static const struct {
	const char *name;
	uint8_t syndrome, vendor;
} status_table[WORK_STATUS_COUNT] = {WORK_STATUSES(WORK_STATUS_ROW)};
/* clang-format on */

uint32_t cqe_data_room(uint32_t cqe_bytes)
{
	return cqe_bytes == CQE_BYTES_MAX ? CQE_DATA_MAX : CQE_DATA_MAX / 2;
}

static void build(const struct completion *completion, unsigned owner, uint8_t bytes[CQE_BYTES])
{
	memset(bytes, 0, CQE_BYTES);
	be32_put(bytes + USER_INDEX, completion->user_index);
	be32_put(bytes + OPCODE_QPN,
		 (uint32_t)completion->wqe_opcode << WQE_OPCODE_SHIFT | completion->qpn);
	be16_put(bytes + WQE_COUNTER, completion->wqe_counter);
	bytes[OPCODE_OWNER] = (uint8_t)((unsigned)completion->opcode << OPCODE_SHIFT |
					(completion->solicited ? SOLICITED_BIT : 0) | owner);
	if (completion->opcode == CQE_SEND_ERROR || completion->opcode == CQE_RECEIVE_ERROR) {
		assert(completion->status != WORK_OK);
		bytes[SYNDROME] = status_table[completion->status].syndrome;
		bytes[VENDOR_SYNDROME] = status_table[completion->status].vendor;
		return;
	}
	assert(completion->status == WORK_OK);
	be16_put(bytes + WQE_ID, completion->wqe_id);
	bytes[PATH_BITS] = completion->path_bits;
	be16_put(bytes + SLID, completion->slid);
	be32_put(bytes + FLAGS_SOURCE_QP,
		 (uint32_t)completion->network_header << NETWORK_HEADER_SHIFT |
			 (uint32_t)completion->service_level << SERVICE_LEVEL_SHIFT |
			 completion->source_qp);
	be32_put(bytes + IMMEDIATE, completion->immediate);
	be32_put(bytes + BYTE_COUNT, completion->byte_count);
	be64_put(bytes + TIMESTAMP, completion->timestamp);
}

void cqe_build(const struct completion *completion, unsigned owner, const uint8_t *data,
	       uint32_t cqe_bytes, uint8_t *bytes)
{
	uint8_t *last = bytes + cqe_bytes - CQE_BYTES;

	memset(bytes, 0, cqe_bytes - CQE_BYTES);
	build(completion, owner, last);
	if (!completion->data_bytes)
		return;
	last[OPCODE_OWNER] |= cqe_bytes == CQE_BYTES_MAX ? DATA_64_BIT : DATA_32_BIT;
	memcpy(bytes, data, cqe_data_room(cqe_bytes));
}

void cqe_build_mini(uint32_t word, uint32_t byte_count, uint8_t bytes[CQE_MINI_BYTES])
{
	be32_put(bytes, word);
	be32_put(bytes + 4, byte_count);
}

void cqe_build_title(const struct completion *first, uint32_t count, unsigned owner,
		     uint8_t bytes[CQE_BYTES])
{
	build(first, owner, bytes);
	be32_put(bytes + BYTE_COUNT, count);
	bytes[OPCODE_OWNER] |= COMPRESSED_BITS;
}

const char *cqe_status_name(enum work_status status)
{
	return status_table[status].name;
}
