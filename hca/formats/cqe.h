/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cqe: the completion queue entries (CQEs) that a driver of this family reads. A CQE has 64 bytes,
 * at the end of a slot of 64 or 128 bytes. The owner bit of the last byte tells the driver whether
 * the CQE is new.
 *
 * Layouts and codes: <infiniband/mlx5dv.h>. Vendor codes: from public logs of ConnectX adapters
 * where a log shows one. hcasim chose the other vendor codes.
 */
#ifndef HCA_FORMATS_CQE_H
#define HCA_FORMATS_CQE_H

#include <stdbool.h>
#include <stdint.h>

#define CQE_BYTES     64
#define CQE_BYTES_MAX 128
/* message bytes: the first half of 128 bytes, or the first 32 of 64 bytes */
#define CQE_DATA_MAX 64

enum cqe_opcode {
	CQE_SENT = 0,
	CQE_RECEIVED_WRITE_IMMEDIATE = 1,
	CQE_RECEIVED_SEND = 2,
	CQE_RECEIVED_SEND_IMMEDIATE = 3,
	CQE_RECEIVED_SEND_INVALIDATE = 4,
	CQE_RESIZE = 5,
	CQE_SEND_ERROR = 13,
	CQE_RECEIVE_ERROR = 14,
};

/* clang-format off */
/* X(NAME, syndrome, vendor code, status of verbs and origin of the vendor code) */
#define WORK_STATUSES(X)                                                                           \
	X(OK,                     0x00, 0x00, "IBV_WC_SUCCESS")                                    \
	X(LOCAL_LENGTH,           0x01, 0x6a, "IBV_WC_LOC_LEN_ERR; own")                           \
	X(LOCAL_QP_OPERATION,     0x02, 0x68, "IBV_WC_LOC_QP_OP_ERR; own")                         \
	X(LOCAL_PROTECTION,       0x04, 0x51, "IBV_WC_LOC_PROT_ERR; own")                          \
	X(FLUSHED,                0x05, 0xf9, "IBV_WC_WR_FLUSH_ERR; public logs")                  \
	X(WINDOW_BIND,            0x06, 0x70, "IBV_WC_MW_BIND_ERR; own")                           \
	X(BAD_RESPONSE,           0x10, 0x8d, "IBV_WC_BAD_RESP_ERR; own")                          \
	X(REMOTE_INVALID_REQUEST, 0x12, 0x8a, "IBV_WC_REM_INV_REQ_ERR; public logs")               \
	X(REMOTE_ACCESS,          0x13, 0x88, "IBV_WC_REM_ACCESS_ERR; public logs")                \
	X(REMOTE_OPERATION,       0x14, 0x89, "IBV_WC_REM_OP_ERR; public logs")                    \
	X(RETRIES_EXCEEDED,       0x15, 0x81, "IBV_WC_RETRY_EXC_ERR; public logs")                 \
	X(RNR_RETRIES_EXCEEDED,   0x16, 0x97, "IBV_WC_RNR_RETRY_EXC_ERR; public logs")

#define WORK_STATUS_ENUM(name, syndrome, vendor, meaning) WORK_##name,
enum work_status { WORK_STATUSES(WORK_STATUS_ENUM) WORK_STATUS_COUNT };
/* clang-format on */

/* The contents of a CQE. */
struct completion {
	enum cqe_opcode opcode;
	enum work_status status; /* errors only */
	bool solicited;
	uint8_t wqe_opcode;   /* sends: opcode of the WQE */
	uint16_t wqe_counter; /* multi-packet receive WQEs: the first stride of the packet */
	uint16_t wqe_id;      /* multi-packet receive WQEs: the index of the WQE */
	bool multi_packet;
	uint32_t qpn;
	uint32_t user_index;
	uint32_t byte_count;
	/* immediate data or the invalidated key, otherwise the index of the P_Key */
	uint32_t immediate;
	uint64_t timestamp;
	/* UD only */
	uint32_t source_qp;
	uint16_t slid;
	uint8_t service_level;
	uint8_t path_bits;
	uint8_t network_header; /* 0: no GRH; 1: GRH or IPv6; 2: IPv4 */
	/* Length of message data that is in the CQE instead of memory. The CQE writer copies `data`
	 * when it accepts the completion. */
	uint8_t data_bytes;
	const uint8_t *data; /* NULL if only lengths are simulated */
};

/* Byte count of a multi-packet receive WQE: this bit marks unused strides at the end of the WQE. */
#define CQE_FILLER UINT32_C(0x80000000)
enum { CQE_STRIDES_SHIFT = 16, CQE_STRIDES_MASK = 0x3fff, CQE_STRIDE_BYTES_MASK = 0xffff };

static inline uint32_t cqe_stride_count(uint32_t strides, uint32_t bytes)
{
	return strides << CQE_STRIDES_SHIFT | bytes;
}

/* Mini-CQEs of a compressed group. A slot of 64 bytes holds up to eight mini-CQEs. The first array
 * is in the slot after the title, the next arrays are in every eighth slot. */
enum { CQE_MINIS = 8, CQE_MINI_BYTES = 8, CQE_MINIS_MAX = 64 };

/* Writes one mini-CQE. `word` is its first word; the byte count is its second. */
void cqe_build_mini(uint32_t word, uint32_t byte_count, uint8_t bytes[CQE_MINI_BYTES]);

/* Writes the title of a compressed group of `count` CQEs, of which `first` is the first. */
void cqe_build_title(const struct completion *first, uint32_t count, unsigned owner,
		     uint8_t bytes[CQE_BYTES]);

/* Returns the largest message that fits into a CQE of `cqe_bytes` (64 or 128). */
uint32_t cqe_data_room(uint32_t cqe_bytes);

/* Writes a whole CQE of `cqe_bytes` (64 or 128). `owner` is 0 or 1. `data` has CQE_DATA_MAX bytes
 * if the completion carries message data; otherwise it is not read. */
void cqe_build(const struct completion *completion, unsigned owner, const uint8_t *data,
	       uint32_t cqe_bytes, uint8_t *bytes);

/* Returns a name of WORK_STATUSES, such as "OK". */
const char *cqe_status_name(enum work_status status);

#endif
