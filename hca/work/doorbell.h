/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doorbell: stores to the UAR pages: a send queue's doorbell (the first 8 bytes of the last WQE
 * posted), BlueFlame (64 bytes or more: the WQE itself), and the arming of a CQ.
 *
 *     pcie_mmio --> decoder and its queue --> wqe_fetch (send queues), completion (arming)
 *
 * The decoder is doorbell_decoder.c or a module (doorbell_module.h).
 *
 * If the queue is full, a store waits in front of it and keeps its credit. Later stores wait behind
 * it. Cores without credits wait.
 *
 * Offsets in a page: <infiniband/mlx5dv.h> and libmlx5 (facts).
 */
#ifndef HCA_WORK_DOORBELL_H
#define HCA_WORK_DOORBELL_H

#include "hca/host/pcie.h"
#include "hca/work/doorbell_params.h"
#include "hca/work/send_queue.h"
#include "sim/gauge.h"
#include "sim/number_table.h"

#define UAR_PAGE_BYTES 4096
#define UAR_CQ_ARM     0x20
#define UAR_BLUEFLAME  0x800
/* size of a BlueFlame buffer; the buffers start at UAR_BLUEFLAME */
#define UAR_BLUEFLAME_BUFFER 0x100
#define UAR_BLUEFLAME_END    0xc00

/* clang-format off */
#define DOORBELL_COUNTERS(X) \
	X(doorbells, "stores", "to send queues, without a WQE") \
	X(blueflame, "stores", "to send queues, with a WQE") \
	X(arms, "stores", "that arm a CQ") \
	X(unknown, "stores", \
	  "to an address without a register, or for a queue that does not exist") \
	X(stalls, "stores", "that waited because the doorbell queue was full") \
	X(implausible, "stores", "with an index that the ring cannot have")

#define DOORBELL_GAUGES(X) \
	X(decoder, BUSY, "doorbells", "decoder, which accepts one doorbell per interval") \
	X(queue, QUEUE, "doorbells", "stores that arrived and have not taken effect")

#define DOORBELL_TRACE(X) \
	X(DOORBELL, "qpn", "index", "the producer index of a send queue moves") \
	X(CQ_ARM, "cqn", "command", "a CQ is armed")
/* clang-format on */

struct doorbell_counters {
	DOORBELL_COUNTERS(COUNTER_FIELD)
};

struct doorbell_gauges {
	DOORBELL_GAUGES(GAUGE_FIELD)
};

struct doorbell;

/* Functions of the transport, which owns the queue pairs. */
struct doorbell_user {
	/* Returns the send queue of that queue pair, or NULL if there is none. */
	struct send_queue *(*find)(const struct doorbell_user *user, uint32_t qpn);
	/* Reports that a doorbell of that queue was executed. */
	void (*rung)(struct send_queue *sq);
};

/* Creates the block, which decodes the stores that arrive over `pcie`. The table of completion
 * queues, `cqs`, and `user` must outlive the block. */
struct doorbell *doorbell_create(struct sim *sim, const char *name,
				 const struct doorbell_params *params, struct pcie *pcie,
				 const struct number_table *cqs, const struct doorbell_user *user);
/* Reports that a store to the doorbell pages leaves a core now. Stores arrive in order. */
void doorbell_stored(struct doorbell *doorbell);
/* Returns false if there is no credit for a further store. Writes the time of the next check to
 * *ask_at. */
bool doorbell_has_room(struct doorbell *doorbell, sim_time *ask_at);
void doorbell_destroy(struct doorbell *doorbell);
const struct doorbell_counters *doorbell_counters(const struct doorbell *doorbell);

#endif
