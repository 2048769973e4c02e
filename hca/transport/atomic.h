/*
 * atomic: the arithmetic unit: reads 8 bytes of host memory, computes, writes them back; one after
 * the other, so that no two of this adapter meet. IBTA vol. 1, 9.4.5.
 */
#ifndef HCA_TRANSPORT_ATOMIC_H
#define HCA_TRANSPORT_ATOMIC_H

#include "hca/work/dma.h"

#define ATOMIC_QUEUE 4096
#define ATOMIC_BYTES 8

struct qp;
struct response;
struct hca;

struct atomic_request {
	struct qp *qp;
	struct data_segment segment;
	uint8_t opcode;
	uint32_t psn, tag, generation;
	uint64_t swap_or_add, compare;
};

struct atomic_unit {
	struct hca *hca;
	struct atomic_request queue[ATOMIC_QUEUE];
	uint32_t first, count;
	struct dma dma;
	struct event compute;
	uint8_t bytes[ATOMIC_BYTES];
	uint64_t original;
};

void atomic_init(struct atomic_unit *unit, struct hca *hca, struct block *block);
void atomic_fini(struct atomic_unit *unit);

/* responder_atomic_done() is called with the original value once it is known. */
void atomic_start(struct qp *qp, uint8_t opcode, const struct response *response,
		  uint64_t swap_or_add, uint64_t compare);

#endif
