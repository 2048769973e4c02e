/* SPDX-License-Identifier: Apache-2.0 */
/*
 * latency_stages: where the time of a work request went: of a send from the CPU's store that posted it, of a receive from its
 * message's first bit at the port, to the CQE that the driver sees, as stages that follow each other without gap. Each block
 * notes when its stage ended in the WQE's `struct latency_stages`; here the stages are closed, counted and traced when the CQE is visible.
 *
 *     doorbell, wqe_fetch, scheduler, requester, completer --stages->at[]--> completion --latency_stages_close()--> counters, trace
 *
 * A stage that did not happen, or that a later one has overtaken, lasts no time: the sum is the latency, always.
 */
#ifndef HCA_WORK_LATENCY_STAGES_H
#define HCA_WORK_LATENCY_STAGES_H

#include "sim/block.h"

/* clang-format off */
/* X(NAME, field, what ends it) */
#define LATENCY_STAGES(X)                                                                          \
	X(DOORBELL,    doorbell,    "the store came over PCIe and the queue knows")                \
	X(WQE_FETCH,   wqe_fetch,   "the WQE was read, in order, and parsed")                      \
	X(SCHEDULING,  scheduling,  "it was granted; or its turn came and the context was not there") \
	X(QPC_MISS,    qpc_miss,    "the requester's context was read")                            \
	X(GRANT,       grant,        "it was granted, behind that miss")                           \
	X(PAGE_FAULT,  page_fault,  "pages that come on demand were there")                        \
	X(RETRY,       retry,       "the last time that it was to be retransmitted")               \
	X(PACING,      pacing,      "its rate, or congestion control's window, let it go on")      \
	X(MESSAGE,     message,     "the grant for the last segment of its message")               \
	X(TRANSLATION, translation, "keys and pages of that segment were known (MPT, MTT)")        \
	X(DMA,         dma,         "its bytes were gathered, in order")                           \
	X(TRANSMIT,    transmit,    "headers and pipeline, and room in the port's queue")          \
	X(CREDITS,     credits,     "the link was free, with credits and no pause")                \
	X(WIRE,        wire,        "its last bit was at the other adapter; unreliable: was out")  \
	X(REMOTE,      remote,      "the other adapter handed its response to its port")           \
	X(ACK,         ack,         "the response was here and checked")                           \
	X(DATA,        data,        "data that was asked for is with PCIe")                        \
	X(ORDER,       order,       "the work requests before it were complete")                   \
	X(CQE,         cqe,         "its CQE was visible")

/* Of a receive completion: from the first bit of the message's first packet at the port to the CQE. What several packets
 * make up is accounted for by the last of them. */
#define RECEIVE_STAGES(X)                                                                          \
	X(ARRIVAL,    arrival,    "its last bit was here")                                         \
	X(PIPELINE,   pipeline,   "its last packet was through the receive pipeline")              \
	X(CONTEXT,    context,    "the responder's context was there")                             \
	X(WQE,        wqe,        "its receive WQE was fetched, if that was waited for")           \
	X(QUEUE,      queue,      "the requests before it were taken, and a buffer was free")      \
	X(TRANSLATED, translated, "keys and pages of its last segment were known (MPT, MTT)")      \
	X(WRITTEN,    written,    "its data was with PCIe")                                        \
	X(ORDERED,    ordered,    "what came before it on its queue pair was too")                 \
	X(CQE,        visible,    "its CQE was visible")

#define RECEIVE_STAGE_ENUM(name, field, end) RECEIVE_##name,
enum receive_stage { RECEIVE_STAGES(RECEIVE_STAGE_ENUM) RECEIVE_STAGE_COUNT };

#define LATENCY_STAGE_ENUM(name, field, end) STAGE_##name,
enum latency_stage { LATENCY_STAGES(LATENCY_STAGE_ENUM) STAGE_COUNT };

#define LATENCY_STAGE_COUNTER(name, field, end) uint64_t field;
struct latency_counters {
	uint64_t completions;
	uint64_t latency;
	LATENCY_STAGES(LATENCY_STAGE_COUNTER)
	uint64_t received;
	uint64_t received_latency;
	RECEIVE_STAGES(LATENCY_STAGE_COUNTER)
};
/* clang-format on */

struct latency_stages {
	sim_time posted_at;       /* the store left the core */
	sim_time at[STAGE_COUNT]; /* end of each stage; 0: did not happen */
};

struct receive_stages {
	sim_time begun_at;                /* its first bit was here */
	sim_time at[RECEIVE_STAGE_COUNT]; /* end of each stage; 0: did not happen */
};

/* Trace points: the stages and STAGE_LATENCY, then those of receives and STAGE_RECEIVED. */
enum {
	STAGE_POINT_RECEIVE = STAGE_COUNT + 1,
	STAGE_POINT_RECEIVED = STAGE_POINT_RECEIVE + RECEIVE_STAGE_COUNT
};

/* The names of struct latency_counters, those of receives with "received_" before them. */
extern const struct counter latency_stages_counter_list[];

struct latency_block;

struct latency_block *latency_stages_create(struct sim *sim, const char *name);
void latency_stages_destroy(struct latency_block *block);

/* It is complete: its stages are added to the counters, in ps, and traced under its tag. A stage that did not happen (0) takes no time. */
void latency_stages_close(struct latency_block *block, const struct latency_stages *stages,
			  uint32_t tag, uint32_t qpn);

/* The same of a receive work request, which ends with its CQE. */
void latency_stages_close_received(struct latency_block *block, const struct receive_stages *stages,
				   uint32_t tag, uint32_t qpn);

const struct latency_counters *latency_stages_counters(const struct latency_block *block);

#endif
