/* SPDX-License-Identifier: Apache-2.0 */
/*
 * why: where the time of a work request went: of a send from the CPU's store that posted it, of a receive from its
 * message's first bit at the port, to the CQE that the driver sees, as stages that follow each other without gap. Each block
 * notes when its stage ended in the WQE's `struct why`; here the stages are closed, counted and traced when the CQE is visible.
 *
 *     doorbell, wqe_fetch, scheduler, requester, completer --why->at[]--> completion --why_close()--> counters, trace
 *
 * A stage that did not happen, or that a later one has overtaken, lasts no time: the sum is the latency, always.
 */
#ifndef HCA_WORK_WHY_H
#define HCA_WORK_WHY_H

#include "sim/block.h"

/* clang-format off */
/* X(NAME, field, what ends it) */
#define WHY_STAGES(X)                                                                              \
	X(DOORBELL,    doorbell,    "the store came over PCIe and the queue knows")                \
	X(WQE_FETCH,   wqe_fetch,   "the WQE was read, in order, and parsed")                      \
	X(SCHEDULING,  scheduling,  "its turn came; or it came and the context was not there")     \
	X(QPC_MISS,    qpc_miss,    "the requester's context was read")                            \
	X(TURN,        turn,        "its turn came again, behind that miss")                       \
	X(PAGE_FAULT,  page_fault,  "pages that come on demand were there")                        \
	X(RETRY,       retry,       "the last time that it was to be sent again")                  \
	X(PACING,      pacing,      "its rate, or congestion control's window, let it go on")      \
	X(MESSAGE,     message,     "the turn for the last segment of its message")                \
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

#define WHY_STAGE_ENUM(name, field, end) WHY_##name,
enum why_stage { WHY_STAGES(WHY_STAGE_ENUM) WHY_STAGE_COUNT };

#define WHY_STAGE_COUNTER(name, field, end) uint64_t field;
struct why_counters {
	uint64_t completions;
	uint64_t latency;
	WHY_STAGES(WHY_STAGE_COUNTER)
	uint64_t received;
	uint64_t received_latency;
	RECEIVE_STAGES(WHY_STAGE_COUNTER)
};
/* clang-format on */

struct why {
	sim_time posted_at;           /* the store left the core */
	sim_time at[WHY_STAGE_COUNT]; /* end of each stage; 0: did not happen */
};

struct receive_why {
	sim_time begun_at;                /* its first bit was here */
	sim_time at[RECEIVE_STAGE_COUNT]; /* end of each stage; 0: did not happen */
};

/* Trace points: the stages and WHY_LATENCY, then those of receives and WHY_RECEIVED. */
enum {
	WHY_POINT_RECEIVE = WHY_STAGE_COUNT + 1,
	WHY_POINT_RECEIVED = WHY_POINT_RECEIVE + RECEIVE_STAGE_COUNT
};

/* The names of struct why_counters, those of receives with "received_" before them. */
extern const struct counter why_counter_list[];

struct why_block;

struct why_block *why_create(struct sim *sim, const char *name);
void why_destroy(struct why_block *block);

/* It is complete: its stages are added to the counters, in ps, and traced under its tag. A stage that did not happen (0) takes no time. */
void why_close(struct why_block *block, const struct why *why, uint32_t tag, uint32_t qpn);

/* The same of a receive work request, which ends with its CQE. */
void why_close_received(struct why_block *block, const struct receive_why *why, uint32_t tag,
			uint32_t qpn);

const struct why_counters *why_counters(const struct why_block *block);

#endif
