/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atomic: the arithmetic unit for atomics. It reads 8 bytes of host memory, computes, and writes
 * the result. Requests whose addresses share their low bits share a lock and run one after another.
 * Two atomics of this adapter on one address therefore never overlap. Other requests run
 * concurrently. A lock is released when the write has been passed to PCIe. A later read sees the
 * bytes of that write, unless it may pass the write. IBTA vol. 1, 9.4.5.
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

struct atomic_lock { /* the first request is in progress, the others wait */
	struct atomic_request *first, *last;
};

struct atomic_unit {
	struct transport_block *transport;
	struct block *block;
	struct atomic_lock *locks; /* [params.atomic_locks] */
	struct pool requests;
	uint32_t count;
	uint32_t waiting;    /* requests that wait for a lock */
	sim_time start_next; /* earliest start of the next atomic, by the interval */
};

/* Initialises the unit. `block` is the transport's block, with its counters and trace. */
void atomic_init(struct atomic_unit *unit, struct transport_block *transport, struct block *block);
void atomic_fini(struct atomic_unit *unit);

/* Starts an atomic. When the original value is known, the unit calls responder_atomic_done(). */
void atomic_start(struct qp *qp, uint8_t opcode, const struct response *response,
		  uint64_t swap_or_add, uint64_t compare);

#endif
