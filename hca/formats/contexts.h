/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contexts: the values with which a driver creates completion queues, shared receive queues and
 * queue pairs. The adapter keeps these values in the contexts of the objects.
 */
#ifndef HCA_FORMATS_CONTEXTS_H
#define HCA_FORMATS_CONTEXTS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/sim.h"

struct memory;
struct path;

enum mr_access { /* values of IB_ACCESS_* in the verbs ABI */
		 MR_LOCAL_WRITE = 1,
		 MR_REMOTE_WRITE = 2,
		 MR_REMOTE_READ = 4,
		 MR_REMOTE_ATOMIC = 8,
		 MR_WINDOW_BIND = 16,
		 MR_ZERO_BASED = 32,
};

/* QP_DCR is a responder context of DC. The adapter creates it; a driver never does. */
enum qp_type { QP_RC, QP_UC, QP_UD, QP_XRC_INI, QP_XRC_TGT, QP_GSI, QP_DCI, QP_DCT, QP_DCR };
enum qp_state {
	STATE_RESET,
	STATE_INIT,
	STATE_RTR,
	STATE_RTS,
	STATE_SQD,
	STATE_SQE,
	STATE_ERR
}; /* in the order of the verbs ABI */

/* Compression of similar CQEs: CQ_PLAIN writes each CQE alone. The other modes write a title CQE
 * and an array of mini-CQEs. The first word of a receive's mini-CQE is 0 in CQ_MINI_HASH, because
 * no hash is computed. In CQ_MINI_STRIDE it holds the first stride of a multi-packet WQE. */
enum hca_cq_compress { CQ_PLAIN, CQ_MINI_HASH, CQ_MINI_STRIDE };

struct hca_cq_attr {
	struct memory *memory;
	uint64_t buffer;          /* address of the first CQE */
	uint64_t doorbell_record; /* address of two 32-bit words: consumer index, arm */
	/* Number of CQEs, a power of two. Every CQE of a new buffer has owner bit 1 and opcode
	 * 0xf. */
	uint32_t entries;
	uint32_t cqe_bytes; /* 64 or 128 */
	bool ignore_overrun;
	enum hca_cq_compress compress; /* compression needs CQEs of 64 bytes */
};

/* Limits of the moderation fields in a CQ's context on ConnectX: 16 bits of CQEs, 12 bits of
 * microseconds. */
#define HCA_MODERATION_COUNT_MAX  UINT16_MAX
#define HCA_MODERATION_PERIOD_MAX (4095 * US)

struct hca_srq_attr {
	struct memory *memory;
	uint64_t buffer;
	uint64_t doorbell_record;
	/* A power of two. next_wqe_index in each WQE's first segment links the WQEs. */
	uint32_t entries;
	uint32_t stride_bytes;
	uint32_t pd;
	uint32_t limit;
	bool xrc;
	uint32_t xrcd, cqn; /* XRC only */
	/* XRC: goes into CQEs (CQE version 1) instead of the QP's user index */
	uint32_t user_index;
};

struct hca_qp_attr { /* attributes that are fixed at creation */
	enum qp_type type;
	struct memory *memory;
	uint64_t rq_buffer, sq_buffer; /* addresses */
	uint64_t doorbell_record;      /* address of two 32-bit words: RQ counter, SQ counter */
	uint32_t rq_entries; /* a power of two; 0 if the QP has no receive queue or uses an SRQ */
	uint32_t rq_stride_bytes;
	/* UD: number and size of the strides of a multi-packet receive WQE. A packet takes as many
	 * strides as it needs. 0: each WQE receives one packet. */
	uint32_t packet_strides, packet_stride_bytes;
	/* send queue in blocks of 64 bytes, a power of two; 0 if there is no send queue */
	uint32_t sq_blocks;
	uint32_t pd, send_cqn, recv_cqn;
	uint32_t srqn; /* 0 if the QP uses no SRQ */
	uint32_t xrcd;
	uint64_t dc_key;     /* DCT: key that an initiator must present */
	uint32_t user_index; /* goes into CQEs (CQE version 1) */
	bool signal_all;     /* every send WQE completes with a CQE */
	/* Short data goes into the CQE instead of memory. receives_to_cqe: SENDs received (UD needs
	 * CQEs of 128 bytes). responses_to_cqe: responses to READs and atomics that have a CQE. */
	bool receives_to_cqe, responses_to_cqe;
	uint32_t max_inline_bytes;
};

/* Returns the local ACK timeout for a timeout field, which must not be 0. IBTA vol. 1,
 * 9.7.6.1.3. */
static inline sim_time hca_ack_timeout(unsigned timeout)
{
	return (4096 * NS) << timeout;
}

/* Fields that modify_qp changes: one bit of `mask` per field, with the name of the field. */
enum hca_qp_mask {
	QP_SET_STATE = 1 << 0,
	QP_SET_PATH = 1 << 1,
	QP_SET_DEST_QP = 1 << 2,
	QP_SET_MTU = 1 << 3,
	QP_SET_RQ_PSN = 1 << 4,
	QP_SET_SQ_PSN = 1 << 5,
	QP_SET_ACCESS = 1 << 6,
	QP_SET_QKEY = 1 << 7,
	QP_SET_PKEY = 1 << 8,
	QP_SET_TIMEOUT = 1 << 9,
	QP_SET_RETRY = 1 << 10,
	QP_SET_RNR_RETRY = 1 << 11,
	QP_SET_MIN_RNR_TIMER = 1 << 12,
	QP_SET_MAX_RD_ATOMIC = 1 << 13,
	QP_SET_MAX_DEST_RD_ATOMIC = 1 << 14,
	QP_SET_RATE_LIMIT = 1 << 15,
};

struct hca_qp_state {
	uint32_t mask; /* bits of enum hca_qp_mask */
	enum qp_state state;
	const struct path *path;
	uint32_t dest_qp;
	uint32_t mtu_bytes;
	uint32_t rq_psn, sq_psn;
	uint32_t access; /* enum mr_access bits that the responder grants */
	uint32_t qkey;
	uint16_t pkey;
	uint8_t timeout;   /* local ACK timeout, see hca_ack_timeout(); 0 disables the timer */
	uint8_t retry;     /* retries, 0 to 7 */
	uint8_t rnr_retry; /* RNR retries, 0 to 7; 7 means no limit */
	uint8_t min_rnr_timer;
	uint8_t max_rd_atomic, max_dest_rd_atomic;
	uint64_t rate_limit_bps; /* 0 if the rate is not limited */
};

#endif
