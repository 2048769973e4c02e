/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atomic: the arithmetic unit: reads 8 bytes of host memory, computes, writes them back. Requests whose addresses share their
 * low bits share a lock and run one after the other, so that no two of this adapter meet; others run side by side. A lock is
 * free when the write is with PCIe: a read that is called later finds its bytes, unless it may pass it. IBTA vol. 1, 9.4.5.
 */
#ifndef HCA_TRANSPORT_ATOMIC_H
#define HCA_TRANSPORT_ATOMIC_H

#include "hca/work/dma.h"
#include "sim/pool.h"

#define ATOMIC_QUEUE 4096
#define ATOMIC_BYTES 8

struct qp;
struct response;
struct transport_block;
struct atomic_request;

struct atomic_lock { /* the first in line is under way */
	struct atomic_request *first, *last;
};

struct atomic_unit {
	struct transport_block *transport;
	struct block *block;
	struct atomic_lock *locks; /* [params.atomic_locks] */
	struct pool requests;
	uint32_t count;
	uint32_t waiting;    /* of them in line for a lock */
	sim_time start_next; /* earliest start of the next one, by the interval */
};

/* The block is the transport's: its counters and trace. */
void atomic_init(struct atomic_unit *unit, struct transport_block *transport, struct block *block);
void atomic_fini(struct atomic_unit *unit);

/* responder_atomic_done() is called with the original value once it is known. */
void atomic_start(struct qp *qp, uint8_t opcode, const struct response *response,
		  uint64_t swap_or_add, uint64_t compare);

#endif
