/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wqe: the work queue entries that a driver of this family writes, as bytes and as what the
 * transports work with. Control segment first, then what the operation and the QP type need
 * (datagram, also of DC, XRC, remote address, atomic, UMR), then data segments or inline data.
 *
 * Layouts: <infiniband/mlx5dv.h>; the parts that only libmlx5 knows: its wqe.h and qp.c (facts).
 */
#ifndef HCA_FORMATS_WQE_H
#define HCA_FORMATS_WQE_H

#include "hca/formats/contexts.h"

#define WQE_BLOCK_BYTES      64 /* the send queue's basic block */
#define WQE_UNIT_BYTES       16 /* what sizes in control segments count */
#define WQE_UNITS_MAX        63
#define WQE_BYTES_MAX        (WQE_UNITS_MAX * WQE_UNIT_BYTES + WQE_UNIT_BYTES)
#define WQE_BLOCKS_MAX       (WQE_BYTES_MAX / WQE_BLOCK_BYTES)
#define WQE_LENGTH_MAX       (UINT32_C(1) << 30) /* of a message: log_msg_max of Linux' mlx5_ib */
#define RECEIVE_SEGMENTS_MAX 32
#define ADDRESS_VECTOR_BYTES 48

/* clang-format off */
/* X(code, NAME, what follows the control segment) */
#define WQE_OPCODES(X)                                                                             \
	X(0x00, NOP,             NOTHING)                                                          \
	X(0x01, SEND_INVALIDATE, DATA)                                                             \
	X(0x08, WRITE,           REMOTE_DATA)                                                      \
	X(0x09, WRITE_IMMEDIATE, REMOTE_DATA)                                                      \
	X(0x0a, SEND,            DATA)                                                             \
	X(0x0b, SEND_IMMEDIATE,  DATA)                                                             \
	X(0x10, READ,            REMOTE_DATA)                                                      \
	X(0x11, COMPARE_SWAP,    ATOMIC_DATA)                                                      \
	X(0x12, FETCH_ADD,       ATOMIC_DATA)                                                      \
	X(0x25, UMR,             REGION)

#define WQE_OPCODE_ENUM(code, name, follows) WQE_##name = code,
enum wqe_opcode { WQE_OPCODES(WQE_OPCODE_ENUM) };
/* clang-format on */

enum wqe_error {
	WQE_OK,
	WQE_BAD_OPCODE,  /* not one of this QP type */
	WQE_BAD_SIZE,    /* a segment runs over the end that the control segment gives */
	WQE_BAD_QPN,     /* not of the queue it was found in */
	WQE_BAD_LENGTH,  /* more than 2^31 bytes, or not 8 for an atomic */
	WQE_BAD_SEGMENT, /* inline data where it must not be, or behind a pointer */
	WQE_NOWHERE,     /* DC: its address vector leads to nobody; found when it is its turn */
};

/* A memory window bound, or a key invalidated, by a UMR work request. */
struct wqe_region {
	uint32_t key;     /* the key as it is now */
	uint8_t new_low;  /* its low 8 bits from now on */
	bool bind;        /* false: invalidate */
	bool of_one_qp;   /* type 2 */
	uint32_t access;  /* enum mr_access bits */
	uint64_t address; /* as remote work requests will name it */
	uint64_t length;
	uint32_t region_key; /* of the region that it opens a window to */
	uint64_t region_address;
};

struct data_segment { /* one scatter/gather element of a WQE */
	uint64_t address;
	uint32_t length;
	uint32_t key;
};

struct send_wqe {
	uint8_t opcode; /* enum wqe_opcode */
	uint8_t units;  /* of 16 bytes */
	uint16_t index; /* of its first block; runs on over the ring */
	uint32_t qpn;
	bool signaled, solicited, fence;
	uint32_t immediate; /* or the key that SEND_INVALIDATE names */
	uint32_t xrc_srqn;
	uint32_t rkey;
	uint64_t remote_address;
	uint64_t swap_or_add, compare;
	uint32_t dest_qp, qkey; /* UD; DC: the target */
	uint64_t dc_key;
	uint8_t address_vector[ADDRESS_VECTOR_BYTES];
	struct wqe_region region; /* UMR */
	uint32_t length;          /* bytes of data */
	uint16_t inline_bytes;    /* the first of them */
	uint16_t segment_count;   /* where the others are: wqe_segments() */
	union {
		struct data_segment listed[WQE_UNITS_MAX]; /* behind inline data */
		uint8_t inline_data[WQE_BYTES_MAX];
	};
};

struct receive_wqe {
	struct receive_wqe *next; /* receive_queue.h: kept behind this one */
	uint16_t index;
	uint32_t segment_count;
	uint32_t length;
	uint32_t users;    /* receive_queue.h: transfers that follow its list */
	uint32_t sequence; /* receive_queue.h: WQEs that were taken from its queue before it */
	uint32_t pd; /* receive_queue.h: of the memory in its list: the SRQ's, else the QP's */
	struct data_segment segments[RECEIVE_SEGMENTS_MAX];
};

/* 16-byte units and 64-byte blocks of a WQE, from its control segment; 0: not a size at all. */
uint32_t wqe_units(const uint8_t *control);
uint32_t wqe_blocks(const uint8_t *control);
uint16_t wqe_index(const uint8_t *control);
uint32_t wqe_qpn(const uint8_t *control);

/* The list of what is not inline. */
const struct data_segment *wqe_segments(const struct send_wqe *wqe);

/* bytes: all of the WQE, unrolled if it wraps in the ring. On an error, what the control segment
 * says is filled in all the same. */
enum wqe_error wqe_parse(const uint8_t *bytes, uint32_t qpn, enum qp_type type,
			 struct send_wqe *wqe);

/* A receive WQE's list, from `bytes` on (behind the next segment of an SRQ). It ends with the
 * stride, or before, at the key that means nothing. */
void wqe_parse_receive(const uint8_t *bytes, uint32_t length, struct receive_wqe *wqe);

/* SRQ: the index of the WQE behind this one. */
uint16_t wqe_next_index(const uint8_t *bytes);

#endif
