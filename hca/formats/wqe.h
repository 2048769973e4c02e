/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wqe: the work queue entries (WQEs) that a driver of this family writes, as bytes and as parsed
 * structs for the transport. A WQE starts with a control segment. Segments of the operation and of
 * the QP type follow (datagram or DC, XRC, remote address, atomic, UMR). Data segments or inline
 * data come last.
 *
 * Layouts: <infiniband/mlx5dv.h>. Parts that only libmlx5 knows: its wqe.h and qp.c (facts).
 */
#ifndef HCA_FORMATS_WQE_H
#define HCA_FORMATS_WQE_H

#include "hca/formats/contexts.h"

#define WQE_BLOCK_BYTES      64 /* basic block of the send queue */
#define WQE_DS_BYTES         16 /* unit of sizes in control segments */
#define WQE_DS_MAX           63
#define WQE_BYTES_MAX        (WQE_DS_MAX * WQE_DS_BYTES + WQE_DS_BYTES)
#define WQE_BLOCKS_MAX       (WQE_BYTES_MAX / WQE_BLOCK_BYTES)
#define WQE_LENGTH_MAX       (UINT32_C(1) << 30) /* of a message: log_msg_max of Linux mlx5_ib */
#define RECEIVE_SEGMENTS_MAX 32
#define ADDRESS_VECTOR_BYTES 48

/* clang-format off */
/* X(code, NAME, segments after the control segment) */
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
	WQE_BAD_OPCODE,  /* the QP type does not support the opcode */
	WQE_BAD_SIZE,    /* a segment exceeds the size in the control segment */
	WQE_BAD_QPN,     /* the WQE names another queue pair */
	WQE_BAD_LENGTH,  /* more than 2^30 bytes, or an atomic without 8 bytes */
	WQE_BAD_SEGMENT, /* inline data where none is allowed, or after a pointer */
	WQE_NOWHERE,     /* DC: the address vector is unreachable; found when the WQE is executed */
};

/* A UMR work request: binds a memory window or invalidates a key. */
struct wqe_region {
	uint32_t key;     /* the current key */
	uint8_t new_low;  /* the new low 8 bits of the key */
	bool bind;        /* false: invalidate the key */
	bool of_one_qp;   /* a window of type 2 */
	uint32_t access;  /* enum mr_access bits */
	uint64_t address; /* address that remote work requests use */
	uint64_t length;
	uint32_t region_key; /* key of the memory region that the window belongs to */
	uint64_t region_address;
};

struct data_segment { /* one scatter/gather element of a WQE */
	uint64_t address;
	uint32_t length;
	uint32_t key;
};

struct send_wqe {
	uint8_t opcode; /* enum wqe_opcode */
	uint8_t units;  /* size in units of 16 bytes */
	uint16_t index; /* number of the first block, which keeps counting when the ring wraps */
	uint32_t qpn;
	bool signaled, solicited, fence;
	uint32_t immediate; /* immediate data, or the key of SEND_INVALIDATE */
	uint32_t xrc_srqn;
	uint32_t rkey;
	uint64_t remote_address;
	uint64_t swap_or_add, compare;
	uint32_t dest_qp, qkey; /* UD; DC: of the target */
	uint64_t dc_key;
	uint8_t address_vector[ADDRESS_VECTOR_BYTES];
	struct wqe_region region; /* UMR only */
	uint32_t length;          /* total bytes of data */
	uint16_t inline_bytes;    /* bytes of data that are inline; they come first */
	uint16_t segment_count;   /* number of elements of wqe_segments() */
	union {
		struct data_segment listed[WQE_DS_MAX]; /* elements after the inline data */
		uint8_t inline_data[WQE_BYTES_MAX];
	};
};

struct receive_wqe {
	struct receive_wqe *next; /* receive_queue.h: the next WQE in the list of kept WQEs */
	uint16_t index;
	uint32_t segment_count;
	uint32_t length;
	uint32_t users;    /* receive_queue.h: transfers that use the scatter list */
	uint32_t sequence; /* receive_queue.h: number of WQEs taken from the queue earlier */
	/* receive_queue.h: protection domain of the scatter list, from the SRQ or else the QP */
	uint32_t pd;
	uint64_t kept_since; /* receive_queue.h: sim_time of its arrival */
	struct data_segment segments[RECEIVE_SEGMENTS_MAX];
};

/* Return the size of a WQE in 16-byte units and in 64-byte blocks, from its control segment. Both
 * return 0 if the size field is invalid. */
uint32_t wqe_ds_count(const uint8_t *control);
uint32_t wqe_blocks(const uint8_t *control);
uint16_t wqe_index(const uint8_t *control);
uint32_t wqe_qpn(const uint8_t *control);

/* Returns the number of 16-byte units that hold so many bytes. */
static inline uint32_t wqe_ds_of(uint32_t bytes)
{
	return (bytes + WQE_DS_BYTES - 1) / WQE_DS_BYTES;
}

/* Returns the scatter/gather elements that follow the inline data. */
static inline const struct data_segment *wqe_segments(const struct send_wqe *wqe)
{
	return &wqe->listed[wqe_ds_of(wqe->inline_bytes)];
}

/* Parses a send WQE. `bytes` holds the whole WQE, without the wrap of the ring. Returns WQE_OK or
 * the error. After an error, the fields of the control segment are valid all the same. */
enum wqe_error wqe_parse(const uint8_t *bytes, uint32_t qpn, enum qp_type type,
			 struct send_wqe *wqe);

/* Parses the scatter list of a receive WQE. `bytes` starts at the list, after the next segment of
 * an SRQ. The list ends after `length` bytes, or at an element with the null key. */
void wqe_parse_receive(const uint8_t *bytes, uint32_t length, struct receive_wqe *wqe);

/* SRQ: returns the index of the next WQE in the list. */
uint16_t wqe_next_index(const uint8_t *bytes);

#endif
