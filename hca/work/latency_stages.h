/* SPDX-License-Identifier: Apache-2.0 */
/*
 * latency_stages: divides the latency of a work request into stages without gaps. A send starts
 * with the CPU's store that posted it. A receive starts with the first bit of its message at the
 * port. Both end with the CQE that the driver sees. Each block records the end of its stage in the
 * `struct latency_stages` of the WQE. When the CQE is visible, this block closes, counts and traces
 * the stages.
 *
 *     doorbell, wqe_fetch, scheduler, requester, completer --stages->at[]--> completion
 *     completion --latency_stages_close()--> counters, trace
 *
 * A stage that did not happen, or whose end is not later than an earlier stage's end, takes no
 * time. The sum of all stages is therefore always the latency.
 */
#ifndef HCA_WORK_LATENCY_STAGES_H
#define HCA_WORK_LATENCY_STAGES_H

#include "sim/block.h"

/* clang-format off */
/* X(NAME, field, event that ends the stage) */
#define LATENCY_STAGES(X)                                                                         \
	X(DOORBELL,    doorbell,    "the store has arrived and updated the send queue")           \
	X(WQE_FETCH,   wqe_fetch,   "the WQE is read, in order, and parsed")                      \
	X(SCHEDULING,  scheduling,  "the WQE gets a grant, or its context misses")                \
	X(QPC_MISS,    qpc_miss,    "the requester's context is read")                            \
	X(GRANT,       grant,       "the WQE gets a grant after the context miss")                \
	X(PAGE_FAULT,  page_fault,  "absent pages of the data are present")                       \
	X(RETRY,       retry,       "the last return to an earlier PSN, for a retransmission")    \
	X(PACING,      pacing,      "rate and congestion window allow the WQE to continue")       \
	X(MESSAGE,     message,     "the last segment of the message gets its grant")             \
	X(TRANSLATION, translation, "keys and pages of this segment are translated (MPT, MTT)")   \
	X(DMA,         dma,         "the bytes of the segment are gathered, in order")            \
	X(TRANSMIT,    transmit,    "the packet has passed the pipeline to the port's queue")     \
	X(CREDITS,     credits,     "the link is free, with credits and without a pause")         \
	X(WIRE,        wire,        "the last bit is at the other adapter; unreliable: has left") \
	X(REMOTE,      remote,      "the other adapter has passed its response to its port")      \
	X(ACK,         ack,         "the response has arrived and is checked")                    \
	X(DATA,        data,        "requested data is passed to PCIe")                           \
	X(ORDER,       order,       "all earlier work requests are complete")                     \
	X(CQE,         cqe,         "the CQE is visible")

/* Stages of a receive completion, from the first bit of the message's first packet at the port to
 * the CQE. If several packets pass a stage, the last packet of the message ends it. */
#define RECEIVE_STAGES(X)                                                                         \
	X(ARRIVAL,    arrival,    "the last bit of the message has arrived")                      \
	X(PIPELINE,   pipeline,   "the last packet has passed the receive pipeline")              \
	X(CONTEXT,    context,    "the responder's context is available")                         \
	X(WQE,        wqe,        "the receive WQE is fetched, if the message waits for it")      \
	X(QUEUE,      queue,      "earlier requests are accepted, and a buffer is free")          \
	X(TRANSLATED, translated, "keys and pages of the last segment are translated (MPT, MTT)") \
	X(WRITTEN,    written,    "the data is passed to PCIe")                                   \
	X(ORDERED,    ordered,    "earlier data of the queue pair is passed to PCIe, too")        \
	X(CQE,        visible,    "the CQE is visible")

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
	sim_time posted_at;       /* time at which the store left the core */
	sim_time at[STAGE_COUNT]; /* end of each stage; 0 if it did not happen */
};

struct receive_stages {
	sim_time begun_at;                /* arrival of the first bit */
	sim_time at[RECEIVE_STAGE_COUNT]; /* end of each stage; 0 if it did not happen */
};

/* Trace points: the send stages and STAGE_LATENCY, then the receive stages and STAGE_RECEIVED. */
enum {
	STAGE_POINT_RECEIVE = STAGE_COUNT + 1,
	STAGE_POINT_RECEIVED = STAGE_POINT_RECEIVE + RECEIVE_STAGE_COUNT
};

/* Names of the members of struct latency_counters. Names of receive stages have the prefix
 * "received_". */
extern const struct counter latency_stages_counter_list[];

struct latency_block;

struct latency_block *latency_stages_create(struct sim *sim, const char *name);
void latency_stages_destroy(struct latency_block *block);

/* Closes the stages of a send work request whose CQE is visible. Adds them to the counters, in ps,
 * and traces them under its tag. A stage with end 0 takes no time. */
void latency_stages_close(struct latency_block *block, const struct latency_stages *stages,
			  uint32_t tag, uint32_t qpn);

/* Closes the stages of a receive work request whose CQE is visible. */
void latency_stages_close_received(struct latency_block *block, const struct receive_stages *stages,
				   uint32_t tag, uint32_t qpn);

const struct latency_counters *latency_stages_counters(const struct latency_block *block);

#endif
