/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contexts: what a driver says of the objects that it creates: completion queues, shared receive
 * queues and queue pairs. The adapter keeps these values in the contexts of its objects.
 */
#ifndef HCA_FORMATS_CONTEXTS_H
#define HCA_FORMATS_CONTEXTS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/sim.h"

struct memory;
struct path;

enum mr_access { /* as IB_ACCESS_* of the verbs ABI */
		 MR_LOCAL_WRITE = 1,
		 MR_REMOTE_WRITE = 2,
		 MR_REMOTE_READ = 4,
		 MR_REMOTE_ATOMIC = 8,
		 MR_WINDOW_BIND = 16,
		 MR_ZERO_BASED = 32,
};

/* QP_DCR, a responder context of DC, is the adapter's own: no driver makes one. */
enum qp_type { QP_RC, QP_UC, QP_UD, QP_XRC_INI, QP_XRC_TGT, QP_GSI, QP_DCI, QP_DCT, QP_DCR };
enum qp_state {
	STATE_RESET,
	STATE_INIT,
	STATE_RTR,
	STATE_RTS,
	STATE_SQD,
	STATE_SQE,
	STATE_ERR
}; /* verbs' order */

/* May CQEs that are alike be written as one with an array of mini-CQEs? What the first word of these is for receives: nothing (a hash
 * that there is not), or the stride of a multi-packet WQE. */
enum hca_cq_compress { CQ_PLAIN, CQ_MINI_HASH, CQ_MINI_STRIDE };

struct hca_cq_attr {
	struct memory *memory;
	uint64_t buffer;          /* address of the first CQE */
	uint64_t doorbell_record; /* address of two 32-bit words: consumer index, arm */
	/* A power of two; every CQE of a fresh buffer has owner bit 1, opcode 0xf. */
	uint32_t entries;
	uint32_t cqe_bytes; /* 64 or 128 */
	bool ignore_overrun;
	enum hca_cq_compress compress; /* CQEs of 64 bytes */
};

/* Fields of a CQ's context on ConnectX: 16 bits, and 12 bits of a microsecond each. */
#define HCA_MODERATION_COUNT_MAX  UINT16_MAX
#define HCA_MODERATION_PERIOD_MAX (4095 * US)

struct hca_srq_attr {
	struct memory *memory;
	uint64_t buffer;
	uint64_t doorbell_record;
	uint32_t entries; /* a power of two; linked by next_wqe_index in each WQE's first segment */
	uint32_t stride_bytes;
	uint32_t pd;
	uint32_t limit;
	bool xrc;
	uint32_t xrcd, cqn;  /* XRC */
	uint32_t user_index; /* XRC: goes into CQEs (CQE version 1) in the place of the QP's */
};

struct hca_qp_attr { /* fixed at creation */
	enum qp_type type;
	struct memory *memory;
	uint64_t rq_buffer, sq_buffer; /* addresses */
	uint64_t doorbell_record;      /* address of two 32-bit words: RQ counter, SQ counter */
	uint32_t rq_entries;           /* a power of two; 0: none, or SRQ */
	uint32_t rq_stride_bytes;
	/* UD: multi-packet receive WQEs: the memory of each is so many strides of so many bytes, and a packet takes as many as
	 * it needs; 0: a WQE a packet. */
	uint32_t packet_strides, packet_stride_bytes;
	uint32_t sq_blocks; /* a power of two, of 64 bytes; 0: none */
	uint32_t pd, send_cqn, recv_cqn;
	uint32_t srqn; /* 0: none */
	uint32_t xrcd;
	uint64_t dc_key;     /* DCT: what initiators must name to be let in */
	uint32_t user_index; /* goes into CQEs (CQE version 1) */
	bool signal_all;     /* every send WQE completes with a CQE */
	/* What is short enough goes into the CQE and not to memory: SENDs received (UD: needs CQEs of 128 bytes), and
	 * responses to READs and atomics that have a CQE. */
	bool receives_to_cqe, responses_to_cqe;
	uint32_t max_inline_bytes;
};

/* What modify_qp changes; one bit per field in `mask`, named like the field. */
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
	uint32_t mask; /* enum hca_qp_mask */
	enum qp_state state;
	const struct path *path;
	uint32_t dest_qp;
	uint32_t mtu_bytes;
	uint32_t rq_psn, sq_psn;
	uint32_t access; /* enum mr_access bits the responder grants */
	uint32_t qkey;
	uint16_t pkey;
	uint8_t timeout;   /* local ACK timeout = 4.096 us << timeout; 0: never */
	uint8_t retry;     /* 0..7 */
	uint8_t rnr_retry; /* 0..7; 7: for ever */
	uint8_t min_rnr_timer;
	uint8_t max_rd_atomic, max_dest_rd_atomic;
	uint64_t rate_limit_bps; /* 0: none */
};

#endif
